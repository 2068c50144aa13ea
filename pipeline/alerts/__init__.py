"""Who is told when something breaks; for DAG files only, since it imports Airflow."""

from pipeline.alerts.notifier import ONCE_IF_TOO_LONG, Alerts, alerts, deadline, longest

__all__ = ["ONCE_IF_TOO_LONG", "Alerts", "alerts", "deadline", "longest"]
