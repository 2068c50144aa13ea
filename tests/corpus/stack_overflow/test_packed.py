"""The dump inside 7z archives, whole and damaged: real archives, made by the library that reads them and by 7z's methods."""

from __future__ import annotations

from pathlib import Path

import py7zr
import pytest

from pipeline.core.rules.load import RULES
from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.stack_overflow.mentions import stack_overflow_rules
from pipeline.corpus.stack_overflow.packed import is_packed, names_in, stream
from pipeline.corpus.stack_overflow.source import StackOverflow
from pipeline.index.http import Fetcher
from pipeline.index.release_selection import Period
from pipeline.lake.stage import Reject
from tests.corpus.stack_overflow.builders import PANDAS, POSTS
from tests.corpus.stack_overflow.site import write_dump
from tests.errors import raises

RULE = stack_overflow_rules(RULES)
METHODS = {"lzma2": [{"id": py7zr.FILTER_LZMA2, "preset": 1}], "bzip2": [{"id": py7zr.FILTER_BZIP2}]}


def source(dump: Path, cache: Path) -> StackOverflow:
    fetcher = Fetcher(timeout_s=5, retries=0)
    return StackOverflow(fetcher, RULE, cache, libraries=["pandas"], api_url="http://127.0.0.1:9/2.3", dump=dump)


def rows(dump: Path, cache: Path) -> list[CodeSample | Reject]:
    return list(source(dump, cache).find("pandas", PANDAS, Period()))


def pack(archive: Path, *files: Path, method: str = "lzma2") -> Path:
    with py7zr.SevenZipFile(archive, "w", filters=METHODS[method]) as packed:
        for file in files:
            packed.write(file, file.name)
    return archive


@pytest.mark.parametrize("method", METHODS)
def test_an_archive_gives_the_rows_of_its_files(tmp_path: Path, method: str) -> None:
    dump = write_dump(tmp_path, POSTS)
    both = pack(tmp_path / "site.7z", dump, dump.with_name("Users.xml"), method=method)
    expected = rows(dump, tmp_path / "a")
    assert source(both, tmp_path).unavailable() is None
    assert rows(both, tmp_path / "b") == expected


def test_archives_of_posts_and_users_lie_beside_each_other(tmp_path: Path) -> None:
    dump = write_dump(tmp_path, POSTS)
    packed = pack(tmp_path / "stackoverflow.com-Posts.7z", dump)
    pack(tmp_path / "stackoverflow.com-Users.7z", dump.with_name("Users.xml"))
    assert rows(packed, tmp_path / "b") == rows(dump, tmp_path / "a")


def test_an_archive_without_posts_is_unavailable(tmp_path: Path) -> None:
    dump = write_dump(tmp_path, POSTS)
    packed = pack(tmp_path / "Posts.7z", dump.with_name("Users.xml"))
    assert "no Posts.xml in it, but Users.xml" in str(source(packed, tmp_path).unavailable())


def test_a_truncated_archive_is_unavailable(tmp_path: Path) -> None:
    packed = pack(tmp_path / "Posts.7z", write_dump(tmp_path, POSTS))
    packed.write_bytes(packed.read_bytes()[:-40])
    assert "damaged 7z archive" in str(source(packed, tmp_path).unavailable())


def test_an_archive_that_is_damaged_inside_warns_of_missing_posts(tmp_path: Path) -> None:
    packed = pack(tmp_path / "Posts.7z", write_dump(tmp_path, POSTS))
    content = bytearray(packed.read_bytes())
    content[200:300] = bytes(100)
    packed.write_bytes(content)
    details = [row.detail for row in rows(packed, tmp_path) if isinstance(row, Reject)]
    assert any("may not be all: Posts.7z" in detail for detail in details)


def test_reading_may_stop_anywhere(tmp_path: Path) -> None:
    large = tmp_path / "Posts.xml"
    large.write_bytes(b"line\n" * 3_000_000)
    packed = pack(tmp_path / "Posts.7z", large)
    with stream(packed, "Posts.xml") as opened:
        assert opened.file.readline() == b"line\n"
    assert opened.problem is None
    with stream(packed, "Posts.xml") as opened:
        assert sum(1 for _ in opened.file) == 3_000_000


def test_other_files_are_no_archives(tmp_path: Path) -> None:
    dump = write_dump(tmp_path, POSTS)
    assert not is_packed(dump)
    with raises(ValueError, "Bad7zFile"):
        names_in(dump)
    with stream(dump, "anything") as opened:
        assert opened.file.read() == dump.read_bytes()
