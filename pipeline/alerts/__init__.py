"""Who is told when something breaks, and the state of a run; for DAG files only, since it imports Airflow."""

from pipeline.alerts.notifier import ONCE_IF_TOO_LONG, Alerts, alerts, deadline, longest
from pipeline.alerts.outcome import AlreadyReported, failed_tasks, task_states

__all__ = [
    "ONCE_IF_TOO_LONG",
    "Alerts",
    "AlreadyReported",
    "alerts",
    "deadline",
    "failed_tasks",
    "longest",
    "task_states",
]
