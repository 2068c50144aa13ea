from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.evaluation.export.format import Unpack
from pipeline.evaluation.export.projects import from_index
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.sdists import ProjectSources
from pipeline.index.http import Fetcher
from tests.evaluation.export.demo import DEMO, FILES
from tests.evaluation.export.rows import lake_tables, snapshot_of
from tests.index_server import Index, sdist


@pytest.fixture
def demo(index: Index) -> str:
    """The sha256 of the source distribution of the demo project, which the index has."""
    file = index.add(DEMO, "1.0", sdist(DEMO, "1.0", FILES), "2021-06-01T12:30:00Z")
    assert file is not None
    return file.sha256


@pytest.fixture
def sources(index: Index, tmp_path: Path) -> Unpack:
    """What fetches the sources of projects."""
    rules = load(RULES / "repository.yaml", RepositoryRules)
    return from_index(ProjectSources(tmp_path / "projects", Fetcher(timeout_s=10), index.simple, rules))


@pytest.fixture
def snapshot(demo: str, tmp_path: Path) -> Path:
    """A snapshot with rows of every family."""
    return snapshot_of(lake_tables(demo), tmp_path)
