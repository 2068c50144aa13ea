"""What people are told, and that it really arrives: a mail server on loopback, spoken to by Airflow's own notifier."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.core.rules.load import RuleError, load
from pipeline.core.settings import PROJECT
from pipeline.core.vocabularies.alerts import AlertKind
from pipeline.orchestration.alerts.message import LONGEST, alert_of
from pipeline.orchestration.alerts.rules import AlertRules, alert_rules
from tests.errors import raises
from tests.orchestration.alerts.post import mail_server

SHIPPED = PROJECT / "curation_rules" / "alerts.yaml"
TASK = SimpleNamespace(task_id="report_failures", log_url="http://127.0.0.1:8974/dags/refresh/runs/r/tasks/t")
FAILED = {
    "dag": SimpleNamespace(dag_id="refresh"),
    "run_id": "weekly",
    "ti": TASK,
    "exception": ValueError("<b> broke"),
}
LATE = {
    "dag_run": {"dag_id": "refresh", "dag_run_id": "weekly", "queued_at": "2026-11-16T03:00:00Z"},
    "deadline": {"id": "1", "deadline_time": "2026-11-17T03:00:00Z"},
}
APPROVAL = SimpleNamespace(subject="Approve starter-2026-11-16", body="rejects: 41% (limit 30%)")
WAITING = {"dag": SimpleNamespace(dag_id="publish"), "run_id": "p", "ti": TASK, "task": APPROVAL}


@pytest.mark.parametrize(
    ("kind", "context", "told", "title", "text"),
    [
        (AlertKind.FAILED, FAILED, None, "driftline: refresh failed", "weekly, task report_failures\n\n<b> broke"),
        (
            AlertKind.FAILED,
            FAILED,
            "demo 1.2, stage surface: x",
            "driftline: refresh failed",
            "demo 1.2, stage surface",
        ),
        (AlertKind.LATE, LATE, None, "driftline: refresh is late", "should have ended by 2026-11-17T03:00:00Z"),
        (AlertKind.WAITING, WAITING, None, "driftline: publish waits for you", "rejects: 41% (limit 30%)"),
    ],
)
def test_an_alert_says_where_why_and_what_to_do(
    kind: AlertKind, context: Mapping[str, Any], told: str | None, title: str, text: str
) -> None:
    alert = alert_of(kind, context, told)
    assert alert.title == title
    assert text in alert.text
    assert "<b>" not in alert.html


def test_a_text_is_bounded() -> None:
    assert len(alert_of(AlertKind.FAILED, FAILED | {"exception": "x" * 99_999}).text) == LONGEST


def test_the_shipped_rules_tell_nobody_and_limit_what_holds_others_up() -> None:
    rules = alert_rules()
    assert rules.receivers == ()
    assert (rules.late_after("refresh"), rules.late_after("nonesuch")) == (timedelta(hours=24), None)
    assert rules.longest("prove") == timedelta(hours=12)


def test_the_example_in_the_shipped_file_can_be_taken_as_it_stands(tmp_path: Path) -> None:
    lines = SHIPPED.read_text().splitlines()
    start = lines.index("# receivers:")
    example = [line.removeprefix("# ") for line in lines[start : lines.index("receivers: []")]]
    path = tmp_path / "alerts.yaml"
    path.write_text("\n".join([*example, *lines[lines.index("receivers: []") + 1 :]]))
    assert [sorted(receiver.kinds) for receiver in load(path, AlertRules).receivers] == [
        ["failed", "late", "waiting"],
        ["waiting"],
    ]


@pytest.mark.parametrize("line", ["notifier: mail", "notifier: a.B\n    kinds: [always]", "to: me"])
def test_a_receiver_that_cannot_be_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "alerts.yaml"
    path.write_text(f"receivers:\n  - {line}\nlate_after_h: {{}}\nlongest_h: {{}}\n")
    with raises(RuleError, "alerts.yaml"):
        load(path, AlertRules)


RULES = """
receivers:
  - notifier: airflow.providers.smtp.notifications.smtp.SmtpNotifier
    kinds: [failed]
    arguments: {smtp_conn_id: nowhere, from_email: a@example.org, to: b@example.org, subject: x, html_content: x}
  - notifier: airflow.providers.smtp.notifications.smtp.SmtpNotifier
    arguments:
      smtp_conn_id: driftline_mail
      from_email: driftline@example.org
      to: team@example.org
      subject: "{{ alert.title }}"
      html_content: "{{ alert.html }}"
late_after_h: {refresh: 24}
longest_h: {}
"""

TELL = """
from types import SimpleNamespace
from pipeline.orchestration.alerts.notifier import alerts
alerts("failed")({
    "dag": None, "run_id": "weekly", "ti": SimpleNamespace(task_id="plan", log_url=""),
    "exception": ValueError("flask 2.3.0, stage surface: <script>{{ 7 * 7 }}"),
})
"""


@pytest.mark.slow
def test_a_failure_arrives_by_mail_though_another_receiver_cannot_be_reached(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    shutil.copytree(PROJECT / "curation_rules", rules)
    (rules / "alerts.yaml").write_text(RULES)
    with mail_server() as box:
        environment = os.environ | {
            "AIRFLOW_HOME": str(tmp_path / "airflow"),
            "AIRFLOW_CONFIG": str(PROJECT / "airflow.cfg"),
            "AIRFLOW_CONN_DRIFTLINE_MAIL": box.connection,
            "AIRFLOW_CONN_NOWHERE": "smtp://127.0.0.1:1?disable_ssl=true&disable_tls=true&retry_limit=1",
            "DRIFTLINE_RULES": str(rules),
            "DRIFTLINE_DATA": str(tmp_path / "data"),
        }
        done = subprocess.run(
            [sys.executable, "-c", TELL], env=environment, cwd=PROJECT, capture_output=True, text=True, check=False
        )
        trial = subprocess.run(
            [sys.executable, "-m", "pipeline.orchestration.alerts.trial"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    told = [mail["subject"].split()[-1] for mail in box.mails[1:]]
    assert (trial.returncode, told) == (1, ["failed", "late", "you"])
    assert (
        "not sent by airflow.providers.smtp.notifications.smtp.SmtpNotifier: ConnectionRefusedError"
        in done.stdout + done.stderr
    )
    mail = box.mails[0]
    assert (mail["subject"], mail["to"]) == ("driftline: a DAG failed", "team@example.org")
    assert "flask 2.3.0, stage surface: &lt;script&gt;{{ 7 * 7 }}" in box.text()
