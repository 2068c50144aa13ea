"""Source distributions: what is kept of them, and what those do that nobody should open."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.corpus.dependents.rules import DependentRules
from pipeline.corpus.dependents.sdists import SdistStore, TooLarge, read_sdist
from pipeline.index.archives import BadArchive, UnsafeArchive
from pipeline.index.http import Fetcher, WrongHash
from pipeline.index.index import IndexFile, project
from pipeline.index.manifest import Artifact, sha256_of
from tests.errors import raises
from tests.index_server import Index, sdist, zip_bytes

RULE = load(RULES / "dependents.yaml", DependentRules)
FILES = {
    "src/user/main.py": "import demo\n",
    "src/user/data.json": "{}",
    "requirements.txt": "demo==1.0\n",
    "poetry.lock": "",
    "README.md": "import demo",
}
EXPECTED = {"src/user/main.py", "requirements.txt", "poetry.lock", "PKG-INFO"}


def store(tmp_path: Path, **rules: int) -> SdistStore:
    fetcher = Fetcher(timeout_s=5, retries=2, backoff_s=0.01)
    return SdistStore(tmp_path / "downstream", fetcher, RULE.model_copy(update=rules))


def offered(index: Index, file: tuple[str, bytes], **more: object) -> IndexFile:
    """Put a source distribution on the index, and return what the index says of it."""
    index.add("user", "1.0", file, "2021-01-01T00:00:00Z", **more)
    return project(Fetcher(timeout_s=5), index.simple, "user").releases["1.0"][0]


def tar(members: Mapping[str, bytes], *links: tuple[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for name, target in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return buffer.getvalue()


def test_python_and_requirements_are_stored_by_their_path_inside(index: Index, tmp_path: Path) -> None:
    read = store(tmp_path).read(offered(index, sdist("user", "1.0", FILES)))
    assert set(read.files) == EXPECTED
    assert read.files["src/user/main.py"] == b"import demo\n"
    assert "License: MIT" in read.metadata


def test_it_is_fetched_once(index: Index, tmp_path: Path) -> None:
    file = offered(index, sdist("user", "1.0", FILES))
    assert store(tmp_path).read(file) == store(tmp_path).read(file)
    assert len(index.asked) == 1


def test_contents_lost_by_the_cache_are_fetched_again(index: Index, tmp_path: Path) -> None:
    file = offered(index, sdist("user", "1.0", FILES))
    first = store(tmp_path).read(file)
    [database] = (tmp_path / "downstream").glob("*.sqlite")
    database.unlink()
    assert store(tmp_path).read(file) == first
    assert len(index.asked) == 2


def test_zips_are_read_with_and_without_a_folder(index: Index, tmp_path: Path) -> None:
    loose = {"user.py": b"import demo\n", "setup.py": b"", "pkg/__init__.py": b""}
    read = store(tmp_path).read(offered(index, ("user-1.0.zip", zip_bytes(loose))))
    assert set(read.files) == {"user.py", "setup.py", "pkg/__init__.py"}
    assert read.metadata == ""


def test_a_file_announced_as_too_large_is_not_fetched(index: Index, tmp_path: Path) -> None:
    file = offered(index, sdist("user", "1.0", FILES))
    huge = IndexFile(file.filename, file.url, file.kind, file.sha256, 2 << 30, None, False, None)
    with raises(TooLarge, "2147483648", code="sdist_too_large"):
        store(tmp_path).read(huge)
    assert index.asked == []


BIG = b"import demo\n" + b"#" * (8 << 20)
BROKEN = [
    pytest.param(tar({"u/a.py": b"x = 1\n" * 9999})[:-200], BadArchive, id="truncated"),
    pytest.param(b"<html>504 Gateway</html>" * 99, BadArchive, id="HTML"),
    pytest.param(b"", BadArchive, id="nothing"),
    pytest.param(zip_bytes({"u/a.py": b"x"})[:-30], BadArchive, id="a zip without its end"),
    pytest.param(tar({"u/a.py": BIG}), UnsafeArchive, id="a bomb in a tar"),
    pytest.param(zip_bytes({"u/a.txt": BIG}), UnsafeArchive, id="a bomb in a zip, in a file that nobody wants"),
    pytest.param(tar({"u/../../etc/cron.d/a.py": b""}), UnsafeArchive, id="a name that climbs out"),
    pytest.param(tar({"u/a.py": b""}, ("u/b.py", "../../../etc/passwd")), UnsafeArchive, id="a link that leads out"),
]


@pytest.mark.parametrize(("content", "error"), BROKEN)
def test_a_broken_archive_is_refused_and_leaves_nothing(
    index: Index, tmp_path: Path, content: bytes, error: type[Exception]
) -> None:
    file = offered(index, ("user-1.0.tar.gz", content))
    with pytest.raises(error):
        store(tmp_path).read(file)
    suffixes = {path.suffix for path in (tmp_path / "downstream").iterdir()}
    assert suffixes <= {".sqlite", ".sqlite-wal", ".sqlite-shm", ".lock"}


def test_another_content_than_announced_is_refused(index: Index, tmp_path: Path) -> None:
    file = offered(index, sdist("user", "1.0", FILES), sha256=hashlib.sha256(b"x").hexdigest())
    with pytest.raises(WrongHash):
        store(tmp_path).read(file)


WHOLE = [sdist("user", "1.0", FILES)[1], zip_bytes({f"user-1.0/{name}": text.encode() for name, text in FILES.items()})]


@given(
    st.sampled_from(WHOLE),
    st.lists(st.tuples(st.integers(0, 1 << 12), st.binary(max_size=3)), max_size=4),
    st.integers(0, 400),
)
def test_whatever_comes_is_read_or_refused(whole: bytes, changes: list[tuple[int, bytes]], cut: int) -> None:
    """Bytes that were changed or lost on the way must never end a refresh."""
    content = bytearray(whole)
    for place, new in changes:
        content[place : place + len(new)] = new
    damaged = bytes(content[: len(content) - cut])
    artifact = Artifact("", sha256_of(damaged), len(damaged), ArtifactKind.SDIST)
    try:
        manifest, contents = read_sdist(io.BytesIO(damaged), artifact, RULE.archive_limits)
    except (BadArchive, UnsafeArchive):
        return
    assert set(manifest.files.values()) == contents.keys()
    assert all(sha256_of(content) == sha256 for sha256, content in contents.items())
