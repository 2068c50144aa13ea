"""What an alert says: what happened where, why, and what to do, from what Airflow tells a callback."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from pipeline.core.vocabularies.alerts import AlertKind
from pipeline.lake.run_records import now

LONGEST = 4000
"""Characters of a text; what is longer stands in the log that the alert links to."""


@dataclass(frozen=True, slots=True)
class Alert:
    """What people are told; `link` is where to look, empty where Airflow gives no address."""

    kind: AlertKind
    title: str
    text: str
    link: str

    @property
    def html(self) -> str:
        """The text for a mail, escaped: names and crawled text are anybody's."""
        link = f'<p><a href="{escape(self.link)}">{escape(self.link)}</a></p>' if self.link else ""
        return f'<pre style="white-space: pre-wrap">{escape(self.text)}</pre>{link}'


def alert_of(kind: AlertKind, context: Mapping[str, Any], detail: str | None = None) -> Alert:
    """Return the alert of a callback's context; `detail` names the failures that the run keeps, if it keeps any."""
    dag, run = _where(context)
    instance = context.get("ti")
    task = getattr(instance, "task_id", None)
    link = str(getattr(instance, "log_url", "") or "")
    if kind is AlertKind.LATE:
        due = context.get("deadline", {}).get("deadline_time", "")
        began = _field(context.get("dag_run"), "queued_at")
        text = f"The run {run} of {dag}, queued at {began}, should have ended by {due} and has not."
        return Alert(kind, f"driftline: {dag} is late", f"{text} {_LATE}", link)
    if kind is AlertKind.WAITING:
        operator = context.get("task")
        request = "\n\n".join(str(part) for name in ("subject", "body") if (part := getattr(operator, name, None)))
        return Alert(kind, f"driftline: {dag} waits for you", f"{run}, task {task}\n\n{request}"[:LONGEST], link)
    error = str(context.get("exception") or context.get("reason") or "see the log")
    text = error if detail is None or detail in error else f"{error}\n\n{detail}"
    return Alert(kind, f"driftline: {dag} failed", f"{run}, task {task}\n\n{text}"[:LONGEST], link)


def keep_alert(path: Path, alert: Alert) -> None:
    """Append an alert to a file of JSON lines, so that it arrives somewhere though no receiver is named."""
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"at": now(), "kind": alert.kind, "title": alert.title, "text": alert.text, "link": alert.link}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


_LATE = (
    "What to do: its grid in Airflow says what it is at, `docs/operations/runbook.md` what may hold a run up."
    " Libraries that are done stay done, so that it can be ended and started again."
)


def _where(context: Mapping[str, Any]) -> tuple[str, str]:
    """Return the names of DAG and run; a deadline's context has them as plain values only."""
    run = context.get("dag_run")
    dag = getattr(context.get("dag"), "dag_id", None) or _field(run, "dag_id")
    return str(dag or "a DAG"), str(context.get("run_id") or _field(run, "dag_run_id") or _field(run, "run_id") or "")


def _field(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
