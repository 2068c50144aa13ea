"""Wheels read by ranges hold what they hold when read whole, and less of them is fetched."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.index.archives import ArchiveLimits, BadArchive, UnsafeArchive
from pipeline.index.artifacts import ArtifactStore
from pipeline.index.http import BadAnswer, Fetcher, Unreachable, WrongHash
from pipeline.index.manifest import Artifact, Manifest, read_archive, sha256_of
from pipeline.index.rules import CrawlRules, RangeRules
from pipeline.index.sources import SourcesError
from pipeline.index.wheels import read_wheel
from tests.errors import raises
from tests.index_server import File, Index, Reply, record, serve, without_tests, zip_bytes

RULE = load(RULES / "crawl.yaml", CrawlRules).model_copy(
    update={"ranges": RangeRules(over_bytes=0, tail_bytes=2000, gap_bytes=50, at_once=2)}
)
INFO = "demo-1.0.dist-info"
NAME = "demo-1.0-py3-none-any.whl"
PATH = f"/files/{NAME}"
NOISE = random.Random(7).randbytes(20_000)
SOURCES = {
    "demo/__init__.py": b"x = 1\n",
    "demo/library.cpython-311-x86_64-linux-gnu.so": NOISE,
    "demo/empty.py": b"",
    "demo/a.pyi": b"a: int\n" * 40,
    "demo/data.bin": NOISE,
    "demo/tests/__init__.py": b"",
    "demo/tests/data.bin": NOISE,
    "demo/tests/test_a.py": b"assert True\n",
    "demo/more.bin": NOISE,
    "demo/b.py": NOISE[:3000].hex().encode(),
    f"{INFO}/METADATA": b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\nLicense: MIT\n",
    f"{INFO}/top_level.txt": b"demo\n",
}


def wheel_of(members: dict[str, bytes], stated: bytes | None = None) -> bytes:
    return zip_bytes(members | {f"{INFO}/RECORD": record(members, INFO) if stated is None else stated})


def publish(index: Index, content: bytes, name: str = NAME) -> Artifact:
    file = index.add("demo", "1.0", (name, content), "2021-01-01T00:00:00Z")
    assert file is not None
    return Artifact(f"{index.url}/files/{name}", file.sha256, len(content), ArtifactKind.WHEEL)


def store_in(tmp_path: Path, rules: CrawlRules = RULE) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts", Fetcher(timeout_s=5, retries=2, backoff_s=0.01), rules)


def fetched_whole(index: Index) -> bool:
    return (PATH, "") in index.asked


def test_only_the_sources_are_fetched(index: Index, tmp_path: Path) -> None:
    store = store_in(tmp_path)
    artifact = publish(index, wheel_of(SOURCES))
    tree, manifest = store.read(artifact, "demo")
    expected = {path: content for path, content in SOURCES.items() if path.endswith((".py", ".pyi"))}
    contents = store.contents(tree.files.values())
    assert {path: contents[sha256] for path, sha256 in tree.files.items()} == expected
    assert tree.compiled == ("demo/library.cpython-311-x86_64-linux-gnu.so",)
    assert (manifest.metadata.encode(), manifest.top_level) == (SOURCES[f"{INFO}/METADATA"], "demo\n")
    assert not fetched_whole(index)
    assert store.fetcher.received_bytes < artifact.size / 5


def test_what_is_not_wanted_is_not_fetched_until_it_is(index: Index, tmp_path: Path) -> None:
    store = store_in(tmp_path)
    artifact = publish(index, wheel_of(SOURCES))
    tree, _ = store.read(artifact, "demo", without_tests)
    assert not [path for path in tree.files if "/tests/" in path]
    assert store.sources.missing([sha256_of(SOURCES["demo/tests/test_a.py"])])
    asked = len(index.asked)
    whole, _ = store.read(artifact, "demo")
    assert {"demo/tests/__init__.py", "demo/tests/test_a.py"} == whole.files.keys() - tree.files.keys()
    assert len(store.contents(whole.files.values())) == len(set(whole.files.values()))
    assert len(index.asked) > asked


def test_a_tree_that_is_here_asks_for_nothing(index: Index, tmp_path: Path) -> None:
    artifact = publish(index, wheel_of(SOURCES))
    tree, _ = store_in(tmp_path).read(artifact, "demo")
    index.asked.clear()
    row: Any = {"url": artifact.url, "sha256": artifact.sha256, "size": artifact.size, "artifact_kind": "wheel"}
    assert store_in(tmp_path).tree(row | {"library": "demo"}) == tree
    assert index.asked == []


def test_of_the_next_release_only_what_changed_is_fetched(index: Index, tmp_path: Path) -> None:
    store = store_in(tmp_path)
    changed = SOURCES | {"demo/a.pyi": b"a: str\n" * 40}
    first, second = publish(index, wheel_of(SOURCES)), publish(index, wheel_of(changed), "demo-1.1-py3-none-any.whl")
    store.read(first, "demo")
    index.asked.clear()
    before = store.fetcher.received_bytes
    tree, _ = store.read(second, "demo")
    assert store.contents([tree.files["demo/a.pyi"]]).popitem()[1] == changed["demo/a.pyi"]
    # The end of the file, and the one member that is not there yet.
    assert len(index.asked) == 2
    assert store.fetcher.received_bytes - before < RULE.ranges.tail_bytes + 200


WRONG = record(SOURCES | {"demo/b.py": b"another"}, INFO)
UNHASHED = record(SOURCES, INFO).replace(b"demo/b.py,sha256=", b"demo/b.py,md5=")
MISSING = record({path: content for path, content in SOURCES.items() if path != "demo/b.py"}, INFO)


@pytest.mark.parametrize(
    "content",
    [
        wheel_of(SOURCES, WRONG),
        wheel_of(SOURCES, UNHASHED),
        wheel_of(SOURCES, MISSING),
        wheel_of(SOURCES, b""),
        wheel_of(SOURCES, b"\xff\xfe"),
        wheel_of(SOURCES, b'"demo/b.py'),
        wheel_of(SOURCES, b"demo/b.py,sha256=\xc3\xa4,1\n"),
        wheel_of(SOURCES, b"demo/b.py,sha256=a,1\n"),
        wheel_of(SOURCES, record(SOURCES | {f"{INFO}/METADATA": b""}, INFO)),
        wheel_of(SOURCES | {"other-1.0.dist-info/RECORD": b""}),
        zip_bytes(SOURCES),
    ],
    ids=["wrong", "unhashed", "missing", "empty", "encoding", "csv", "ascii", "base64", "metadata", "two", "none"],
)
def test_a_wheel_that_record_does_not_vouch_for_is_fetched_whole(index: Index, tmp_path: Path, content: bytes) -> None:
    store = store_in(tmp_path)
    tree, _ = store.read(publish(index, content), "demo")
    assert fetched_whole(index)
    assert tree.files["demo/b.py"] == sha256_of(SOURCES["demo/b.py"])
    assert store.contents(tree.files.values())[tree.files["demo/b.py"]] == SOURCES["demo/b.py"]
    assert sorted(path.name for path in store.root.iterdir()) == ["sources.lock", "sources.sqlite"]


def another_span(reply: Reply) -> Reply:
    return Reply(206, reply.headers | {"Content-Range": "bytes 0-9/99999"}, reply.body[:10])


def damaged(content: bytes) -> bytes:
    """Damage a byte of the stored b.py, which its CRC and RECORD tell."""
    place = content.index(b"demo/b.py") + 500
    return content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :]


SOUND = wheel_of(SOURCES)


@pytest.mark.parametrize(
    ("fault", "whole"),
    [
        ({"ranges": False}, True),
        ({"truncate": {PATH: [100]}}, False),
        ({"truncate": {PATH: [100, 10]}}, False),
        ({"faults": {PATH: [503, 502]}}, False),
        ({"etags": False}, False),
        ({"twists": {PATH: [lambda reply: Reply(200, {}, SOUND)]}}, True),
        ({"twists": {PATH: [lambda reply: reply, lambda reply: Reply(416, {}, b"")]}}, True),
        ({"twists": {PATH: [lambda reply: reply, lambda reply: Reply(200, {}, SOUND)]}}, True),
    ],
    ids=["ignored", "broken", "broken_twice", "busy", "no_tags", "once_ignored", "shorter", "later_ignored"],
)
def test_a_server_with_faults_that_can_be_helped(
    index: Index, tmp_path: Path, fault: dict[str, object], whole: bool
) -> None:
    artifact = publish(index, SOUND)
    for name, value in fault.items():
        setattr(index, name, value)
    store = store_in(tmp_path)
    tree, _ = store.read(artifact, "demo")
    assert store.contents(tree.files.values()).keys() == set(tree.files.values())
    assert fetched_whole(index) == whole


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"truncate": {PATH: [10] * 9}}, Unreachable),
        ({"faults": {PATH: [503] * 9}}, Unreachable),
        ({"twists": {PATH: [another_span]}}, BadAnswer),
        ({"twists": {PATH: [lambda reply: reply, another_span]}}, BadAnswer),
        ({"twists": {PATH: [lambda reply: Reply(206, {}, b"x")]}}, BadAnswer),
    ],
    ids=["broken", "busy", "another", "later_another", "unnamed"],
)
def test_a_server_with_faults_that_cannot_be_helped(
    index: Index, tmp_path: Path, fault: dict[str, object], error: type[Exception]
) -> None:
    artifact = publish(index, SOUND)
    for name, value in fault.items():
        setattr(index, name, value)
    store = store_in(tmp_path)
    with raises(error, artifact.url):
        store.read(artifact, "demo")
    assert list(store.sources.manifests()) == []


@pytest.mark.parametrize("etags", [True, False])
def test_a_file_that_is_replaced_while_it_is_read_is_not_what_the_index_announced(
    index: Index, tmp_path: Path, etags: bool
) -> None:
    artifact = publish(index, SOUND)
    index.etags = etags

    def replace_it(reply: Reply) -> Reply:
        index.projects["demo"]["1.0"] = [File(NAME, wheel_of(SOURCES | {"demo/c.py": NOISE}), "")]
        return reply

    index.twists = {PATH: [replace_it]}
    with pytest.raises(WrongHash):
        store_in(tmp_path).read(artifact, "demo")


BOMB = wheel_of(SOURCES | {"demo/zeros.bin": b"\0" * 50_000_000})
CLIMBING = wheel_of(SOURCES | {"../../evil.py": b"x"})


@pytest.mark.parametrize(
    ("content", "error", "whole"),
    [
        (BOMB, UnsafeArchive, False),
        (CLIMBING, UnsafeArchive, False),
        (damaged(SOUND), BadArchive, True),
        (SOUND[:-30], BadArchive, True),
        (b"<html>" + NOISE, BadArchive, True),
    ],
    ids=["bomb", "climbing", "damaged", "truncated", "html"],
)
def test_the_guards_of_archives_hold_on_a_wheel_read_by_ranges(
    index: Index, tmp_path: Path, content: bytes, error: type[Exception], whole: bool
) -> None:
    store = store_in(tmp_path)
    with pytest.raises(error):
        store.read(publish(index, content), "demo")
    assert fetched_whole(index) == whole
    assert list(store.sources.manifests()) == []


@pytest.mark.parametrize(("content", "readable"), [(SOUND, True), (wheel_of(SOURCES, WRONG), False)])
def test_a_wheel_over_the_limit_is_read_by_ranges_or_not_at_all(
    index: Index, tmp_path: Path, content: bytes, readable: bool
) -> None:
    store = store_in(tmp_path, RULE.model_copy(update={"max_download_bytes": len(content) // 2}))
    if readable:
        assert store.read(publish(index, content), "demo")[0].files
    else:
        with raises(BadArchive, "RECORD", code="bad_archive"):
            store.read(publish(index, content), "demo")
    assert not fetched_whole(index)


def test_a_damaged_source_is_fetched_again_from_where_it_came(index: Index, tmp_path: Path) -> None:
    store = store_in(tmp_path)
    tree, _ = store.read(publish(index, SOUND), "demo")
    with store.sources._connected() as database:
        database.execute("UPDATE contents SET zstd = x'00'")
    contents = store.contents(tree.files.values())
    assert {path: contents[sha256] for path, sha256 in tree.files.items()} == {
        path: SOURCES[path] for path in tree.files
    }


def test_a_source_that_nothing_has_is_named(index: Index, tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.read(publish(index, SOUND), "demo")
    with raises(SourcesError, "sha256", code="sources_missing"):
        store.contents(["0" * 64])


METHODS = st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
MEMBERS = st.lists(
    st.tuples(
        st.from_regex(r"[a-zé]{1,3}/[a-z ,\"]{1,6}\.(py|pyi|so|bin)", fullmatch=True), st.binary(max_size=300), METHODS
    ),
    max_size=8,
    unique_by=lambda member: member[0],
)


class Unseekable(io.BytesIO):
    """A file that zipfile cannot go back in, so that it writes sizes after the members."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        raise OSError


@st.composite
def wheels(draw: st.DrawFn) -> bytes:
    """Wheels in odd forms: bytes before the archive, a comment after it, sizes that come after the member."""
    members = draw(MEMBERS)
    info = {f"{INFO}/METADATA": b"Name: demo\n", f"{INFO}/top_level.txt": b"a\n"}
    stated = record({name: content for name, content, _ in members} | info, INFO)
    buffer = Unseekable() if draw(st.booleans()) else io.BytesIO()
    buffer.write(draw(st.binary(max_size=40)))
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content, method in members:
            head = zipfile.ZipInfo(name)
            head.compress_type = method
            with archive.open(head, "w", force_zip64=draw(st.booleans())) as file:
                file.write(content)
        for name, content in (info | {f"{INFO}/RECORD": stated}).items():
            archive.writestr(name, content)
        archive.comment = draw(st.binary(max_size=40))
    return draw(st.binary(max_size=40)) + buffer.getvalue()


@pytest.fixture(scope="module")
def server() -> Iterator[Index]:
    with serve(Index()) as index:
        yield index


@settings(deadline=None, max_examples=60)
@given(wheels(), st.integers(1, 2000), st.integers(0, 300), st.integers(0, 3))
def test_any_wheel_gives_by_ranges_what_it_gives_whole(
    server: Index, content: bytes, tail: int, gap: int, chosen: int
) -> None:
    server.projects.clear()
    artifact = publish(server, content)
    rules = RULE.model_copy(update={"ranges": RangeRules(over_bytes=0, tail_bytes=tail, gap_bytes=gap, at_once=2)})

    def needed(manifest: Manifest) -> set[str]:
        return {sha256 for sha256 in manifest.files.values() if int(sha256[0], 16) % 4 >= chosen}

    by_ranges = read_wheel(Fetcher(timeout_s=5, retries=0), artifact, rules, needed)
    assert by_ranges == read_archive(io.BytesIO(content), artifact, ArchiveLimits(), needed)
