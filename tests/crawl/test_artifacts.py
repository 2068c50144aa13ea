from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.crawl.archives import ArchiveLimits, BadArchive, UnsafeArchive, read_members
from pipeline.crawl.artifacts import ArtifactStore, CrawlRules, choose_artifact
from pipeline.crawl.http import Fetcher
from pipeline.crawl.index import IndexFile
from pipeline.crawl.licences import LicenceRules, spdx
from pipeline.rules import RULES, load
from pipeline.terms import ArtifactKind
from tests.index_server import sdist, wheel, zip_bytes

RULE = load(RULES / "crawl.yaml", CrawlRules)
LICENCES = load(RULES / "licences.yaml", LicenceRules)


def file(filename: str) -> IndexFile:
    kind = ArtifactKind.WHEEL if filename.endswith(".whl") else ArtifactKind.SDIST
    return IndexFile(filename, "", kind, "", 1, None, False, datetime(2021, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["d-1.tar.gz", "d-1-py3-none-any.whl"], "d-1-py3-none-any.whl"),
        (["d-1.tar.gz", "d-1-cp39-cp39-win_amd64.whl"], "d-1-cp39-cp39-win_amd64.whl"),
        (["d-1-cp39-cp39-win_amd64.whl", "d-1-cp39-cp39-manylinux1_x86_64.whl"], "d-1-cp39-cp39-manylinux1_x86_64.whl"),
        # PyYAML's wheel for Python 2 holds other sources than that for Python 3.
        (
            ["d-1-cp27-cp27mu-manylinux1_x86_64.whl", "d-1-cp310-cp310-manylinux1_x86_64.whl"],
            "d-1-cp310-cp310-manylinux1_x86_64.whl",
        ),
        (["d-1.zip"], "d-1.zip"),
    ],
)
def test_the_file_that_stands_for_a_release(names: list[str], chosen: str) -> None:
    for order in (names, names[::-1]):
        found = choose_artifact([file(name) for name in order])
        assert found is not None
        assert found.filename == chosen


def test_no_file_stands_for_a_release_without_files() -> None:
    assert choose_artifact([]) is None


@pytest.mark.parametrize(
    ("archive", "root", "names", "paths"),
    [
        (
            wheel(
                "demo", "1.0", {"demo/__init__.py": "", "demo/a.pyi": "", "demo_extra.py": "", "tests/__init__.py": ""}
            ),
            "",
            ("demo", "demo_extra"),
            ["demo/__init__.py", "demo/a.pyi", "demo_extra.py"],
        ),
        (
            sdist("demo", "1.0", {"src/demo/__init__.py": "", "setup.py": "", "docs/conf.py": ""}),
            "demo-1.0/src/",
            ("demo",),
            ["demo/__init__.py"],
        ),
        (sdist("demo", "1.0", {"demo.py": "", "setup.py": ""}), "demo-1.0/", ("demo",), ["demo.py"]),
        (
            sdist("demo", "1.0", {"lib/yaml/__init__.py": "", "lib/demo.egg-info/top_level.txt": "yaml\n_yaml\n"}),
            "demo-1.0/lib/",
            ("yaml",),
            ["yaml/__init__.py"],
        ),
        (
            wheel("demo", "1.0", {"_private/__init__.py": "", "demo/__init__.py": ""}),
            "",
            ("demo",),
            ["demo/__init__.py"],
        ),
    ],
    ids=["wheel", "src", "module", "lib", "private"],
)
def test_sources_are_found_in_every_layout(
    tmp_path: Path, archive: tuple[str, bytes], root: str, names: tuple[str, ...], paths: list[str]
) -> None:
    path = tmp_path / archive[0]
    path.write_bytes(archive[1])
    tree, _ = ArtifactStore(tmp_path, Fetcher(timeout_s=1), RULE).read(path, "demo")
    assert (tree.root, tree.import_names, list(tree.files)) == (root, names, paths)


@pytest.mark.parametrize(
    ("expression", "text", "classifiers", "expected"),
    [
        ("MIT", None, (), "MIT"),
        ("mit or apache-2.0", None, (), "MIT OR Apache-2.0"),
        ("no licence of mine", "MIT", (), "MIT"),
        (None, None, ("License :: OSI Approved :: MIT License",), "MIT"),
        (
            None,
            "BSD",
            ("License :: OSI Approved :: BSD License", "License :: OSI Approved :: Apache Software License"),
            "Apache-2.0 OR BSD-3-Clause",
        ),
        (None, "Apache License, Version 2.0", (), "Apache-2.0"),
        (None, "see the file", (), None),
        (None, "x" * 5000, (), None),
        (None, None, ("Topic :: Software Development",), None),
    ],
)
def test_licences(expression: str | None, text: str | None, classifiers: tuple[str, ...], expected: str | None) -> None:
    assert spdx(expression, text, classifiers, LICENCES)[0] == expected


@given(
    st.dictionaries(st.from_regex(r"[a-z]{1,8}/[a-z]{1,8}\.py", fullmatch=True), st.binary(max_size=200), max_size=8)
)
def test_members_come_back_as_they_went_in(tmp_path_factory: pytest.TempPathFactory, members: dict[str, bytes]) -> None:
    path = tmp_path_factory.mktemp("archive") / "a.zip"
    path.write_bytes(zip_bytes(members))
    assert {m.name: m.content for m in read_members(path, lambda _: True, ArchiveLimits())} == members


@given(st.binary(max_size=300))
def test_garbage_is_a_bad_archive_and_nothing_else(tmp_path_factory: pytest.TempPathFactory, garbage: bytes) -> None:
    path = tmp_path_factory.mktemp("garbage") / "a.tar.gz"
    path.write_bytes(garbage)
    try:
        members = list(read_members(path, lambda _: True, ArchiveLimits()))
    except (BadArchive, UnsafeArchive):
        return
    assert members == []
