"""How the tasks of the current run ended, for the task that always runs and gives the run its state.

Airflow takes the state of a run from its last tasks. One that always runs hides every failure before it, unless it
looks for them.
"""

from __future__ import annotations

from collections.abc import Mapping

from airflow.sdk import get_current_context
from airflow.sdk.exceptions import AirflowFailException

from pipeline.core.errors import CodedError


class AlreadyReported(CodedError, AirflowFailException):
    """A task that fails because another one failed, which sent the alert."""

    code = "already_reported"


def task_states(*tasks: str) -> Mapping[str, str | None]:
    """Return the states of tasks of this run; the key of a mapped one is `TASK_INDEX`."""
    context = get_current_context()
    ti, run = context["ti"], context["run_id"]
    states: Mapping[str, Mapping[str, str | None]] = ti.get_task_states(
        dag_id=ti.dag_id, run_ids=[run], task_ids=list(tasks)
    )
    return states.get(run, {})


def failed_tasks(*tasks: str) -> list[str]:
    """Return those of these tasks that failed themselves, not for one before them."""
    return sorted(task for task, state in task_states(*tasks).items() if state == "failed")
