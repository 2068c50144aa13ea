"""The DAG `survival` in a real Airflow, in one process, over a snapshot of two rows of which one was lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.settings import PROJECT
from pipeline.lake.tables import Lake
from tests.audit.survival.published import completion, environment, example, released, snapshot
from tests.index_server import Index

RUN = """
import json
from airflow.utils.db import initdb
initdb()
from airflow.dag_processing.dagbag import DagBag
bag = DagBag()
dag = bag.dags["survival"]
dag.deadline = None  # dag.test() of Airflow 3.3 looks a deadline up that it has not stored
run = dag.test(run_conf={"profile": "mine"})
tasks = run.get_task_instances()
print(json.dumps({
    "errors": [str(error) for error in bag.import_errors.values()],
    "state": str(run.state),
    "tasks": {f"{task.task_id}[{task.map_index}]": str(task.state) for task in tasks},
    "told": next(task.xcom_pull(task_ids="report_outcome") for task in tasks),
}))
"""
USE = example("one", "from lib import double\n", ("from lib import double\n", None))


@pytest.mark.slow
def test_every_library_is_looked_at_and_the_share_is_told(tmp_path: Path, index: Index) -> None:
    kept, gone = environment(released(index)), environment(released(index, "2.0"), "2.0")
    data = tmp_path / "data"
    snapshot(
        data / "snapshots" / "mine" / "mine-2021-05-01",
        environments=[kept, gone],
        snippets=[USE],
        completions=[completion("c", USE, kept), completion("d", USE, gone)],
    )
    index.projects["lib"]["2.0"].clear()
    told = run(tmp_path, data, index)
    assert (told["errors"], told["state"]) == ([], "success")
    assert told["tasks"] == {
        "plan[-1]": "success",
        "look[0]": "success",
        "report_outcome[-1]": "success",
        "report_failures[-1]": "success",
    }
    [sentence] = told["told"]
    assert sentence.endswith("1 of 2 rows of mine-2021-05-01 (50.0%) still pass; of the others: file gone 1")
    assert [row["survives"] for row in Lake(data / "lake").read("survivals", "lib")] == [True, False]


def run(tmp_path: Path, data: Path, index: Index) -> dict[str, Any]:
    home = {
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW_CONFIG": str(PROJECT / "airflow.cfg"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(PROJECT / "dags"),
        "DRIFTLINE_AIRFLOW_HOME": str(tmp_path / "airflow"),
        "DRIFTLINE_DATA": str(data),
        "DRIFTLINE_INDEX_URL": index.simple,
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        env=os.environ | home,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
