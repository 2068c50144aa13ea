"""What workers of a local Airflow have imported before their first task."""

from __future__ import annotations

import importlib

import pytest

from pipeline.core.settings import PROJECT
from pipeline.orchestration.local_airflow.executor import TASKS


@pytest.mark.parametrize("name", TASKS)
def test_workers_import_what_the_dags_import_in_their_tasks(name: str) -> None:
    importlib.import_module(name)
    assert any(f"    from {name} import" in path.read_text() for path in (PROJECT / "dags").glob("*.py"))
