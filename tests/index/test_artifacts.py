from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.index.archives import ArchiveLimits, BadArchive, Member, UnsafeArchive, read_members
from pipeline.index.artifacts import choose_artifact
from pipeline.index.index import IndexFile
from pipeline.index.layout import Choose, source_tree
from pipeline.index.licences import LicenceRules, spdx
from pipeline.index.manifest import Artifact, read_archive
from pipeline.index.rules import CrawlRules
from pipeline.index.tree import SourceTree
from tests.index_server import sdist, wheel, without_tests, zip_bytes

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
            ["_private/__init__.py", "demo/__init__.py"],
        ),
        (
            wheel("demo", "1.0", {"space/part/demo/__init__.py": "", "space/part/demo/_a.py": ""}),
            "",
            ("space",),
            ["space/part/demo/__init__.py", "space/part/demo/_a.py"],
        ),
        # tracked in the archive, and no namespace of the library's
        (
            wheel("demo", "1.0", {"demo/__init__.py": "", "recipes/a.py": ""}),
            "",
            ("demo",),
            ["demo/__init__.py"],
        ),
        (
            wheel("demo", "1.0", {"demo/__init__.py": "", "demo_tools/part/__init__.py": "", "recipes/a/b.py": ""}),
            "",
            ("demo", "demo_tools"),
            ["demo/__init__.py", "demo_tools/part/__init__.py"],
        ),
        (
            sdist(
                "demo",
                "1.0",
                {"space/demo.py": "", "helper.py": "", "tools/a.py": "", "demo.egg-info/top_level.txt": "space\n"},
            ),
            "demo-1.0/",
            ("space",),
            ["space/demo.py"],
        ),
        (
            sdist("demo", "1.0", {"src/demo/part/__init__.py": "", "setup.py": "", "tools/a.py": ""}),
            "demo-1.0/src/",
            ("demo",),
            ["demo/part/__init__.py"],
        ),
        (
            sdist("demo", "1.0", {"lib/helpers/a.py": "", "demo/__init__.py": ""}),
            "demo-1.0/",
            ("demo",),
            ["demo/__init__.py"],
        ),
    ],
    ids=[
        "wheel",
        "src",
        "module",
        "lib",
        "private",
        "namespace",
        "no namespace",
        "namespace beside a package",
        "announced namespace",
        "namespace in src",
        "scripts in lib",
    ],
)
def test_sources_are_found_in_every_layout(
    archive: tuple[str, bytes], root: str, names: tuple[str, ...], paths: list[str]
) -> None:
    tree = tree_of(*archive)
    assert (tree.root, tree.import_names, list(tree.files)) == (root, names, paths)


@pytest.mark.parametrize(
    ("compiled", "expected"),
    [
        ("demo/_speed.cpython-311-x86_64-linux-gnu.so", True),
        ("demo/_speed.abi3.so", True),
        ("demo/part/_speed.cp311-win_amd64.pyd", True),
        ("demo.cpython-311-x86_64-linux-gnu.so", True),
        ("demo/lib/libdemo.so", False),
        ("demo/libdemo-1f2e.so", False),
        ("demo.libs/libgomp.so", False),
        ("_other.cpython-311-x86_64-linux-gnu.so", False),
        ("demo/_speed.pyx", False),
    ],
)
def test_extension_modules_are_told_from_shared_libraries(compiled: str, expected: bool) -> None:
    members = dict.fromkeys(["demo/__init__.py", "demo/part/__init__.pyi", compiled], b"")
    tree = tree_of("demo-1.0-py3-none-any.whl", zip_bytes(members))
    assert tree.compiled == ((compiled,) if expected else ())


def test_only_what_is_wanted_is_in_the_tree() -> None:
    archive = wheel("demo", "1.0", {"demo/__init__.py": "", "demo/tests/__init__.py": "", "demo/a.py": ""})
    tree = tree_of(*archive, wanted=without_tests)
    assert list(tree.files) == ["demo/__init__.py", "demo/a.py"]


def tree_of(filename: str, content: bytes, wanted: Choose | None = None) -> SourceTree:
    kind = ArtifactKind.WHEEL if filename.endswith(".whl") else ArtifactKind.SDIST
    artifact = Artifact("", "", len(content), kind)
    manifest, _ = read_archive(io.BytesIO(content), artifact, ArchiveLimits(), lambda _: set())
    return source_tree(manifest, "demo", RULE, wanted)


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
def test_members_come_back_as_they_went_in(members: dict[str, bytes]) -> None:
    file = io.BytesIO(zip_bytes(members))
    assert {m.name: m.content for m in read_members(file, lambda _: True, ArchiveLimits())} == members


@given(st.binary(max_size=300))
def test_garbage_is_a_bad_archive_and_nothing_else(garbage: bytes) -> None:
    assert read_or_refused(garbage) in ([], None)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("demo/a.py", True),
        ("./demo/a.py", True),
        ("demo/..a.py", True),
        ("demo//a.py", True),
        ("../a.py", False),
        ("demo/../../a.py", False),
        ("demo\\..\\a.py", False),
        ("/demo/a.py", False),
        ("\\demo\\a.py", False),
        ("c:/demo/a.py", False),
        ("c:a.py", False),
    ],
)
def test_names_that_climb_out_of_the_archive(name: str, safe: bool) -> None:
    members = read_or_refused(zip_bytes({name: b"x = 1\n"}))
    assert (members is not None) == safe


SOUND = zip_bytes({"demo/__init__.py": b"x = 1\n" * 99, "demo/a.py": b"", "demo/b.py": bytes(range(256))})


@given(st.dictionaries(st.integers(0, len(SOUND) - 1), st.integers(0, 255), min_size=1, max_size=6))
@example({SOUND.rindex(b"demo/__init__.py"): 0})  # its name is empty
def test_a_damaged_archive_is_read_or_refused_and_nothing_else(damage: dict[int, int]) -> None:
    content = bytearray(SOUND)
    for place, byte in damage.items():
        content[place] = byte
    read_or_refused(bytes(content))


def read_or_refused(content: bytes) -> list[Member] | None:
    """Return the members, None for an archive that is refused as it should be; other errors are not caught."""
    try:
        return list(read_members(io.BytesIO(content), lambda _: True, ArchiveLimits()))
    except (BadArchive, UnsafeArchive):
        return None
