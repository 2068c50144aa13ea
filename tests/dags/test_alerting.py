"""Every DAG says what it is for, when it fails and when it is late; tasks of one library tell nobody and are bounded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.settings import PROJECT
from pipeline.orchestration.stages.groups import GROUPS

LOADED = """
import json
from airflow.dag_processing.dagbag import DagBag
bag = DagBag()
print(json.dumps({
    "errors": {str(k): str(v) for k, v in bag.import_errors.items()},
    "late": {name: dag.deadline[0].interval.total_seconds() / 3600 for name, dag in bag.dags.items()},
    "tells": {name: {t.task_id: bool(t.on_failure_callback) for t in dag.tasks} for name, dag in bag.dags.items()},
    "longest": {t.task_id: t.execution_timeout and t.execution_timeout.total_seconds() / 3600
                for t in bag.dags["refresh"].tasks},
    "told": {name: [dag.description, sorted(dag.tags), dag.doc_md] for name, dag in bag.dags.items()},
    "fields": [[field.schema.get("title"), field.description] for dag in bag.dags.values()
               for field in map(dag.params.get_param, dag.params)],
}, default=str))
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    home = tmp_path_factory.mktemp("airflow")
    environment = os.environ | {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW_CONFIG": str(PROJECT / "airflow.cfg"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(PROJECT / "dags"),
        "DRIFTLINE_DATA": str(home / "data"),
    }
    done = subprocess.run(
        [sys.executable, "-c", LOADED], env=environment, cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
def test_every_dag_has_a_deadline_and_tells_when_it_fails(loaded: dict[str, Any]) -> None:
    assert loaded["errors"] == {}
    assert set(loaded["late"]) == {path.stem for path in Path(PROJECT / "dags").glob("*.py")}
    assert loaded["late"]["refresh"] == 24
    quiet = {f"{dag}.{task}" for dag, tasks in loaded["tells"].items() for task, tells in tasks.items() if not tells}
    assert {f"refresh.collect.{group}" for group in GROUPS} <= quiet
    assert {"refresh.plan", "refresh.report_failures", "publish.place", "clean.leftovers"}.isdisjoint(quiet)


@pytest.mark.slow
def test_the_page_of_every_dag_says_what_it_and_each_field_of_its_form_is_for(loaded: dict[str, Any]) -> None:
    for description, tags, doc in loaded["told"].values():
        assert description
        assert tags == ["driftline"]
        assert "Wiring" not in doc
        assert doc.count("\n") > 3
    assert len(loaded["fields"]) == 10
    assert all(title and description.endswith(".") for title, description in loaded["fields"])


@pytest.mark.slow
def test_no_library_holds_up_the_others_for_ever(loaded: dict[str, Any]) -> None:
    assert {group: loaded["longest"][f"collect.{group}"] for group in GROUPS} == {
        "crawl": 6,
        "read": 6,
        "analyse": 3,
        "build": 6,
        "prove": 12,
        "assemble": 2,
    }
