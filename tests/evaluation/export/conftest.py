from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.evaluation.export.format import Unpack
from pipeline.evaluation.export.projects import from_index
from pipeline.execution.sandbox.environment import Environment
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.sdists import ProjectSources
from pipeline.index.http import Fetcher
from tests.evaluation.export.demo import DEMO, FILES
from tests.evaluation.export.rows import lake_tables, snapshot_of
from tests.execution.validation.conftest import empty_environment
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


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the demo project and pytest."""
    made = empty_environment(tmp_path_factory.mktemp("installed"))
    for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        shutil.copytree(Path(sysconfig.get_path("purelib"), name), made.site_packages / name)
    shutil.copy(Path(sysconfig.get_path("purelib"), "py.py"), made.site_packages)
    (made.site_packages / "demo").mkdir()
    for name, text in FILES.items():
        if name.startswith("demo/"):
            (made.site_packages / name).write_text(text)
    return made
