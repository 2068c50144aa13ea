"""The borders of clearing: of bytes that have to go, of the time of the last use, and of the size of a database."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.execution.caches.files import Used, files_below, remove_empty, remove_oldest
from pipeline.execution.caches.rows import shrink_rows


def used(folder: Path, *times: float) -> list[Used]:
    """Files of ten bytes, used at these times."""
    paths = [folder / str(number) for number, _ in enumerate(times)]
    for path in paths:
        path.write_text("x" * 10)
    return [Used(path, 10, time) for path, time in zip(paths, times, strict=True)]


@pytest.mark.parametrize(("excess", "removed"), [(0, 0), (1, 1), (10, 1), (11, 2), (20, 2), (21, 3), (99, 3)])
def test_no_file_more_goes_than_has_to(tmp_path: Path, excess: int, removed: int) -> None:
    files = used(tmp_path, 1, 2, 3)
    assert remove_oldest(files, excess, used_before=4) == (removed, 10 * removed)
    assert sorted(tmp_path.iterdir()) == [file.path for file in files[removed:]]


@pytest.mark.parametrize(("before", "removed"), [(1, 0), (1.5, 1), (2, 1), (2.5, 2), (3, 2), (3.5, 3)])
def test_a_file_used_at_the_time_itself_stays(tmp_path: Path, before: float, removed: int) -> None:
    assert remove_oldest(used(tmp_path, 1, 2, 3), 99, used_before=before)[0] == removed


def test_the_later_of_reading_and_writing_is_the_last_use(tmp_path: Path) -> None:
    for name, times in (("a", (30, 10)), ("b", (10, 20)), ("c", (5, 5))):
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, times)
    assert [(file.path.name, file.time) for file in files_below(tmp_path)] == [("c", 5), ("b", 20), ("a", 30)]


def test_a_file_has_the_bytes_of_its_blocks_on_disk(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(os.urandom(100_000))
    assert [file.bytes for file in files_below(tmp_path)] == [(tmp_path / "a").stat().st_blocks * 512]


def test_of_a_cache_its_folder_stays_and_those_below_go_where_they_are_empty(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (cache / "a" / "b").mkdir(parents=True)
    (cache / "c").mkdir()
    (cache / "c" / "file").write_text("x")
    remove_empty(cache)
    assert [path.name for path in cache.iterdir()] == ["c"]
    (cache / "c" / "file").unlink()
    remove_empty(cache)
    assert cache.is_dir()


def database(path: Path, rows: int) -> int:
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("CREATE TABLE runs (id INTEGER PRIMARY KEY, result BLOB)")
        opened.executemany("INSERT INTO runs VALUES (?, ?)", ((number, b"x" * 4000) for number in range(rows)))
    return path.stat().st_blocks * 512


def test_a_database_at_its_limit_keeps_all_rows_and_one_above_loses_some(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    size = database(path, 50)
    assert shrink_rows(path, size) == 0
    assert 0 < shrink_rows(path, size - 1) < 50
    with closing(sqlite3.connect(path)) as opened:
        numbers = [number for (number,) in opened.execute("SELECT id FROM runs ORDER BY id")]
    assert numbers == list(range(50 - len(numbers), 50))
