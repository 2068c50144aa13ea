"""Alerts as Airflow knows them: a notifier for callbacks, a deadline for a DAG, a limit and a way to fail for tasks.

DAG files import this module: whatever is slow to import is imported when something is to be told.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from importlib import import_module
from typing import Any

from airflow.sdk import BaseNotifier, ExceptionRetryPolicy, RetryAction, RetryRule
from airflow.sdk.definitions.callback import SyncCallback
from airflow.sdk.definitions.deadline import DeadlineAlert, DeadlineReference
from airflow.sdk.exceptions import AirflowTaskTimeout

from pipeline.core.settings import settings
from pipeline.core.vocabularies.alerts import AlertKind
from pipeline.orchestration.alerts.message import Alert, alert_of, keep_alert
from pipeline.orchestration.alerts.outcome import AlreadyReported
from pipeline.orchestration.alerts.rules import alert_rules

ONCE_IF_TOO_LONG = ExceptionRetryPolicy(
    rules=[RetryRule(AirflowTaskTimeout, RetryAction.FAIL, reason="it would take as long again; the next run goes on")]
)
"""What has taken too long once is left to the next run, so that it does not hold this one up three times."""


class Alerts(BaseNotifier):
    """Tells the receivers that the rules name; one that cannot be reached does not keep the others from being told."""

    def __init__(self, kind: str = AlertKind.FAILED, context: Any = None) -> None:
        super().__init__(context)
        self.kind = AlertKind(kind)

    def notify(self, context: Any) -> None:
        """Log the alert as an error, append it to the file of alerts, and tell the receivers of this kind.

        Errors: RuntimeError naming every receiver that could not be told, after the others were.
        """
        if isinstance(context.get("exception"), AlreadyReported):
            return
        alert = alert_of(self.kind, context, _stored(context))
        self.log.error("%s: %s", alert.title, alert.text)
        keep_alert(settings().alerts, alert)
        receivers = [receiver for receiver in alert_rules().receivers if self.kind in receiver.kinds]
        problems = []
        for receiver in receivers:
            try:
                _send(receiver.notifier, receiver.arguments, alert, context)
            except Exception as error:  # noqa: BLE001 - told at the end, and in Airflow's log
                problems.append(f"{receiver.notifier}: {type(error).__name__}: {error}")
        if problems:
            raise RuntimeError(f"{alert.title}: not sent by " + "; ".join(problems))


def alerts(kind: str) -> Alerts:
    """Return what tells of a kind of event, as a callback of a task or a notifier of an operator."""
    return Alerts(kind)


def deadline(dag: str) -> DeadlineAlert | None:
    """Return the deadline that the rules give the runs of a DAG, None where they give none.

    Errors: RuleError naming file and line of a mistake.
    """
    interval = alert_rules().late_after(dag)
    if interval is None:
        return None
    callback = SyncCallback(f"{__name__}.Alerts", {"kind": str(AlertKind.LATE)})
    return DeadlineAlert(reference=DeadlineReference.DAGRUN_QUEUED_AT, interval=interval, callback=callback)


def longest(group: str) -> timedelta | None:
    """Return how long a task of one library may take."""
    return alert_rules().longest(group)


def _send(path: str, arguments: Mapping[str, Any], alert: Alert, context: Mapping[str, Any]) -> None:
    module, _, name = path.rpartition(".")
    notifier = getattr(import_module(module), name)(**arguments)
    notifier({**context, "alert": alert})


def _stored(context: Mapping[str, Any]) -> str | None:
    """Return what the folder of the run keeps of failures, if the run has one."""
    from pipeline.orchestration.failures import failures_of
    from pipeline.orchestration.refresh import Refresh

    run = context.get("run_id")
    return "\n".join(map(str, failures_of(Refresh(str(run)).folder))) or None if run else None
