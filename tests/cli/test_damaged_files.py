"""Every file of a data folder, damaged: what can be made again heals, what people made is named; nothing is a traceback.

The files are those that a real refresh leaves, so that one which is new must be put into one of the lists.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.lake.schema import table_names
from pipeline.lake.tables import Lake
from tests.cli.command import Driftline
from tests.demo_library import publish_demo
from tests.index_server import Index, serve

pytestmark = pytest.mark.slow

HEALS = (
    r"lake/\w+/library=demo/[\w-]+\.parquet",
    r"lake/\w+/_delta_log/_last_checkpoint",
    r"runs/[^/]+/(run|release|published|finished)\.json",
    r"runs/[^/]+/counts/demo\.\w+\.json",
    r"runs/[^/]+/report\.html",
    r"cache/artifacts/sources\.sqlite",
    r"cache/records/\w+\.sqlite",
    r"cache/(runs|rates)\.sqlite",
    r"cache/environments/sizes\.json",
    r"cache/environments/records/(failed/)?\w+\.json",
)
VERIFY = ("verify", "starter")
REFRESH = ("refresh", "--libraries", "demo")
NAMED = {
    r"lake/\w+/_delta_log/\w+\.json": (REFRESH, 1, "damaged_log"),
    r"lake/\w+/_delta_log/\w+\.checkpoint\.parquet": (REFRESH, 1, "damaged_log"),
    r"reviews\.sqlite": (("review", "export", "out.jsonl"), 1, "reviews.sqlite"),
    r"snapshots/starter/[^/]+/manifest\.json": (VERIFY, 2, "manifest.json"),
    r"snapshots/starter/[^/]+/.+\.parquet": (VERIFY, 1, ".parquet"),
    r"snapshots/starter/[^/]+/(?!manifest)[\w-]+\.(md|json)": (VERIFY, 1, "README.md"),
    r"snapshots/starter/latest": (VERIFY, 2, "snapshots/starter/"),
}
"""What cannot be made again: the command that says so, its status, and what it names."""
NOT_STATE = (
    r"cache/environments/(uv|wheels|bytecode|[0-9a-f]{32})/.+",  # of uv and of Python, who check what they read
)


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "of-somebody").write_text("else")


Damage = Callable[[Path], None]
DAMAGES = pytest.mark.parametrize(
    "damage", [half, *(pytest.param(damage, marks=pytest.mark.soak) for damage in (zeros, folder))]
)


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with serve(Index()) as served:
        publish_demo(served)
        yield served


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("whole") / "data"


@pytest.fixture
def folder_of_data(
    whole: Path, index: Index, data: Path, driftline: Driftline, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A copy of what a refresh left that published."""
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    monkeypatch.setenv("DRIFTLINE_WORKERS", "1")
    if not whole.exists():
        result = driftline(*REFRESH)
        assert result.status == 0, result.text
        with closing(sqlite3.connect(data / "reviews.sqlite")) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copytree(data, whole, symlinks=True)
        for log in whole.glob("reviews.sqlite-*"):
            log.unlink()
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(whole, data, symlinks=True)
    monkeypatch.chdir(data.parent)
    return data


def matching(data: Path, *patterns: str) -> list[Path]:
    """Return the files that hold something: of those that are empty only the lock on them counts."""
    files = [path for path in sorted(data.rglob("*")) if path.is_file() and path.stat().st_size]
    inside = {path: path.relative_to(data).as_posix() for path in files}
    return [path for path, name in inside.items() if any(re.fullmatch(pattern, name) for pattern in patterns)]


def test_every_file_is_of_one_list(folder_of_data: Path) -> None:
    lists = {"heals": HEALS, "named": tuple(NAMED), "not state": NOT_STATE}
    found = {name: set(matching(folder_of_data, *patterns)) for name, patterns in lists.items()}
    everything = set(matching(folder_of_data, ".+"))
    assert everything - set().union(*found.values()) == set(), "a new file: does it heal, or is it named?"
    assert not found["heals"] & found["named"]
    unused = [pattern for patterns in lists.values() for pattern in patterns if not matching(folder_of_data, pattern)]
    assert unused == []


@DAMAGES
def test_what_can_be_made_again_heals(damage: Damage, folder_of_data: Path, driftline: Driftline) -> None:
    damaged = matching(folder_of_data, *HEALS)
    for path in damaged:
        damage(path)
    published = driftline("publish")
    assert published.status in (0, 1)
    refreshed = driftline(*REFRESH)
    assert refreshed.status == 0, refreshed.text
    lines = published.err + refreshed.err
    for part in ("sources.sqlite", "cache/runs.sqlite", "library=demo"):
        assert re.search(rf"{part}.* (was damaged|is a folder)", lines), (part, lines)
    lake = Lake(folder_of_data / "lake")  # files of earlier versions stay damaged until `clean` removes them
    assert all(lake.is_whole(name, "demo", part) for name in table_names() for part in lake.files(name, "demo"))
    again = driftline(*REFRESH)
    assert again.status == 0, again.text
    left = [line for line in again.err.splitlines() if "damaged" in line or "a folder where" in line]
    assert [line for line in left if "/runs/" not in line] == [], "only records of an earlier run are not made again"


@DAMAGES
@pytest.mark.parametrize("pattern", NAMED)
def test_what_cannot_is_named(damage: Damage, pattern: str, folder_of_data: Path, driftline: Driftline) -> None:
    command, status, named = NAMED[pattern]
    paths = matching(folder_of_data, pattern)
    for path in paths:
        damage(path)
    left = {path: path.is_dir() or path.read_bytes() for path in paths}
    result = driftline(*command)
    assert (result.status, named in result.text) == (status, True), result.text
    assert {path: path.is_dir() or path.read_bytes() for path in paths} == left, "it stays as it is"
