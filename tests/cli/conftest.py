from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli import command
from tests.demo_library import publish_demo
from tests.evaluation.export.rows import lake_tables, snapshot_of
from tests.index_server import Index, serve


@pytest.fixture
def driftline(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> command.Driftline:
    """The command line."""
    return command.driftline(monkeypatch, capsys)


@pytest.fixture(scope="session")
def demo_index() -> Iterator[Index]:
    """An index with the demo library, and one that has no final release."""
    with serve(Index()) as index:
        publish_demo(index)
        index.add_wheel("young", "0.1rc1", {"young/__init__.py": ""}, "2021-01-01T00:00:00Z")
        yield index


@pytest.fixture
def at_demo(demo_index: Index, data: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """The demo index as the setting, with a data folder of its own."""
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", demo_index.simple)
    monkeypatch.setenv("DRIFTLINE_WORKERS", "1")
    return demo_index


@pytest.fixture
def at_nothing(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting that leads to no index: nobody listens on port 1."""
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", "http://127.0.0.1:1/simple")
    # Each retry waits twice as long as the one before; here only what is said at the end matters.
    monkeypatch.setattr("urllib3.util.retry.time.sleep", lambda seconds: None)
    monkeypatch.setenv("DRIFTLINE_WORKERS", "1")


@pytest.fixture(scope="session")
def demo_snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot with rows of every family, for tests that do not change it."""
    return snapshot_of(lake_tables(), tmp_path_factory.mktemp("demo_snapshot"))
