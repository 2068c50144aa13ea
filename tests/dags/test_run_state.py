"""The state of a run is that of its work: `publish` and `refresh` in a real Airflow, in one process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.rules.load import RULES
from pipeline.core.settings import PROJECT
from pipeline.orchestration.refresh import Refresh, begin
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.snapshots.lakes import fill, tables
from tests.snapshots.test_publishing import open_limits

RUNS = """
import json, os
from pathlib import Path
from airflow.utils.db import initdb
initdb()
from airflow.dag_processing.dagbag import DagBag
bag = DagBag()
data = Path(os.environ["DRIFTLINE_DATA"])

def run(name, **conf):
    dag = bag.dags[name]
    dag.deadline = None  # dag.test() of Airflow 3.3 looks a deadline up that it has not stored
    for task in dag.tasks:
        task.retries = 0
    alerts = data / "alerts.jsonl"
    alerts.unlink(missing_ok=True)
    done = dag.test(run_conf=conf)
    sent = [json.loads(line)["text"].splitlines()[0] for line in alerts.read_text().splitlines()] if alerts.exists() else []
    return {
        "": str(done.state),
        "alerts": [text.partition("task ")[2] for text in sent],
        **{task.task_id: str(task.state) for task in done.get_task_instances()},
    }

good = run("publish")
(Path(os.environ["DRIFTLINE_RULES"]) / "release_checks.yaml").write_text("nonsense: 1")
failed = run("publish")  # of the same refresh, whose record says that it was published
unplanned = run("refresh", since="2026-01-05", until="2026-01-04")
print(json.dumps({"good": good, "failed": failed, "unplanned": unplanned}))
"""


@pytest.mark.slow
def test_a_failed_task_fails_the_run_and_alerts_once_and_a_good_run_skips_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(RULES, tmp_path / "rules")
    open_limits(tmp_path / "rules")
    data = tmp_path / "data"
    monkeypatch.setenv("DRIFTLINE_DATA", str(data))
    monkeypatch.setenv("DRIFTLINE_RULES", str(tmp_path / "rules"))
    fill(data / "lake", tables())
    begin(Refresh("weekly", libraries=(LIBRARY,)))
    ended = run(tmp_path)
    passed = ("candidate", "approval", "place", "report_outcome")
    assert ended["good"] == {"": "success", "alerts": [], **dict.fromkeys(passed, "success")}
    assert ended["failed"] == {
        "": "failed",
        "alerts": ["candidate"],
        "candidate": "failed",
        "approval": "upstream_failed",
        "place": "upstream_failed",
        "report_outcome": "failed",
    }
    assert (ended["unplanned"][""], ended["unplanned"]["alerts"]) == ("failed", ["plan"])


def run(home: Path) -> dict[str, Any]:
    own = {
        "AIRFLOW_HOME": str(home / "airflow"),
        "AIRFLOW_CONFIG": str(PROJECT / "airflow.cfg"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(PROJECT / "dags"),
        "DRIFTLINE_AIRFLOW_HOME": str(home / "airflow"),
        "DRIFTLINE_INDEX_URL": "http://127.0.0.1:1/simple",
    }
    done = subprocess.run(
        [sys.executable, "-c", RUNS],
        env=os.environ | own,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
