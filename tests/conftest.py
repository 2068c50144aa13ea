from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index_server import Index, serve


@pytest.fixture
def index() -> Iterator[Index]:
    """An empty package index that really listens."""
    with serve(Index()) as served:
        yield served


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of its own for the code under test."""
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"
