"""What is kept on disk: damaged it is made again, and two processes may use it at once."""

from __future__ import annotations

import gc
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline.corpus.github.archive import files_of
from pipeline.index.archives import ArchiveLimits
from pipeline.lake.rows import ReleaseRow
from tests.corpus.github.conftest import MakeGitHub
from tests.corpus.github.hub import Hub
from tests.corpus.github.test_source import PINNED, collect, user
from tests.errors import raises


def cached_file(folder: Path, pattern: str) -> Path:
    (path,) = (folder / "cache" / "github").rglob(pattern)
    return path


def test_only_needed_files_of_an_archive_are_stored(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow], tmp_path: Path
) -> None:
    commit = user(hub, files={"data.bin": b"\0" * 1000, "poetry.lock": "", "pkg/a.py": "import demo\n"})
    collect(github(), releases)
    path = cached_file(tmp_path, "*.zip")
    assert path.parts[-3:] == ("ada", "app", f"{commit.sha}.zip")
    assert sorted(files_of(path, ArchiveLimits())) == sorted(
        (set(PINNED) | {"poetry.lock", "pkg/a.py"}) - {"README.md"}
    )


@pytest.mark.parametrize("pattern", ["*.zip", "answers.sqlite"])
@pytest.mark.parametrize("content", [b"", b"this is neither a database nor an archive" * 100])
def test_damaged_caches_are_built_again(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow], tmp_path: Path, pattern: str, content: bytes
) -> None:
    user(hub)
    first = collect(github(), releases)
    path = cached_file(tmp_path, pattern)
    # As the next process finds it: nobody has it open.
    gc.collect()
    for log in path.parent.glob(f"{path.name}-*"):
        log.unlink()
    path.write_bytes(content)
    assert collect(github(), releases) == first
    assert len(first[0]) == 1


def test_a_cache_of_another_kind_is_an_error_in_words(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow], tmp_path: Path
) -> None:
    user(hub)
    source = github()
    collect(source, releases)
    with sqlite3.connect(cached_file(tmp_path, "answers.sqlite")) as database:
        database.execute("DROP TABLE responses")
    with raises(OSError, "no such table"):
        collect(source, releases)


def test_two_may_ask_at_once(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]) -> None:
    for number in range(8):
        user(hub, f"ada/app{number}")
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda source: collect(source, releases), [github() for _ in range(4)]))
    assert all(result == results[0] for result in results)
    assert len(results[0][0]) == 8
