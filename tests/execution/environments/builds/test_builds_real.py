"""Real releases without a wheel for their Python, built from the real index."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.settings import index_url
from pipeline.core.vocabularies.running import EnvironmentOutcome as Outcome
from pipeline.core.vocabularies.running import Rung
from pipeline.execution.environments.resolution.pinned import read_lock
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore

pytestmark = pytest.mark.slow


def store_at(root: Path) -> EnvironmentStore:
    return EnvironmentStore(root, index_url=index_url(), rules=environment_rules())


@pytest.mark.parametrize(
    ("library", "version", "python"),
    [
        ("nltk", "3.5", "3.9"),  # a zip with a setup.py
        ("markupsafe", "1.0", "3.9"),  # an extension, and Feature of setuptools before 46
        ("pyyaml", "5.3", "3.10"),  # an extension without a wheel for this Python
    ],
)
def test_what_has_no_wheel_is_built_and_imports(tmp_path: Path, library: str, version: str, python: str) -> None:
    store = store_at(tmp_path)
    row: Any = store.build(EnvironmentRequest(library, version, python=python))
    assert (row["outcome"], row["rung"]) == (Outcome.BUILT, Rung.BUILDS), row["detail"]
    assert [pin.name for pin in read_lock(row["lock"]) if pin.built] == [library]
    shutil.rmtree(tmp_path / row["lock_id"])
    assert store.open(row).site_packages.is_dir()


@pytest.mark.skipif(shutil.which("mysql_config") is not None, reason="what is missing elsewhere is here")
def test_what_a_build_lacks_is_named(tmp_path: Path) -> None:
    row: Any = store_at(tmp_path).build(EnvironmentRequest("mysqlclient", "1.4.6", python="3.9"))
    assert (row["outcome"], row["missing"]) == (Outcome.BUILD_FAILED, "tool mysql_config")


def test_wheels_with_metadata_of_their_time(tmp_path: Path) -> None:
    """pandas before 0.25 asks for `pytz (>=2011k)`, which PEP 440 does not know."""
    row: Any = store_at(tmp_path).build(EnvironmentRequest("pandas", "0.24.2", python="3.7"))
    assert (row["outcome"], row["rung"]) == (Outcome.BUILT, Rung.WHEELS), row["detail"]


def test_an_extension_is_the_same_whenever_it_is_built(tmp_path: Path) -> None:
    wheels = []
    for name in ("first", "second"):
        store = store_at(tmp_path / name)
        row: Any = store.build(EnvironmentRequest("simplejson", "3.16.0", python="3.9"))
        assert row["outcome"] == Outcome.BUILT, row["detail"]
        wheels += [path.read_bytes() for path in (tmp_path / name / "wheels").rglob("*.whl")]
    assert len(wheels) == 2
    assert wheels[0] == wheels[1]
