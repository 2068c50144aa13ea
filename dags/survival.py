"""Run again, each month, what was published, in its locked environments and library by library.

`report_outcome` says which share of the rows still passes, and why the others do not; the next snapshots have the
figures.
Trigger looks now, at another profile or at some libraries; what the month has looked at already is not run again.
`curation_rules/survival.yaml` says how much is looked at; docs/guides/survival.md, how to read it.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import pendulum
from airflow.sdk import Param, dag, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException

from pipeline.orchestration.alerts.notifier import ONCE_IF_TOO_LONG, alerts, deadline, longest
from pipeline.orchestration.alerts.outcome import AlreadyReported

PROFILE = os.environ.get("DRIFTLINE_PROFILE") or "starter"
SCHEDULE = None if os.environ.get("DRIFTLINE_SCHEDULE") == "off" else "0 5 2 * *"


@dag(
    schedule=SCHEDULE,
    start_date=pendulum.datetime(2026, 1, 5, tz="UTC"),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=1), "on_failure_callback": alerts("failed")},
    deadline=deadline("survival"),
    params={
        "profile": Param(PROFILE, type="string", title="Profile", description="Its newest snapshots are looked at."),
        "libraries": Param(
            None,
            type=["null", "array"],
            items={"type": "string"},
            title="Libraries",
            description="Only these, one a line; empty: all of the snapshots.",
        ),
    },
    description="Run again what was published, and tell the share that still passes",
    tags=["driftline"],
    doc_md=__doc__,
)
def survival() -> None:
    """Declare the graph."""

    @task
    def plan() -> list[dict[str, str]]:
        from pipeline.audit.survival import monthly
        from pipeline.orchestration.run_parameters import BadForm, filled_in

        filled = filled_in(get_current_context()["params"])
        try:
            return monthly.plan(filled["profile"], filled["libraries"])
        except BadForm as error:
            raise AirflowFailException(str(error)) from None

    @task(
        map_index_template="{{ library }}",
        on_failure_callback=None,
        execution_timeout=longest("prove"),
        retry_policy=ONCE_IF_TOO_LONG,
    )
    def look(period: str, library: str) -> dict[str, Any]:
        from pipeline.audit.survival import monthly

        context = get_current_context()
        context["library"] = library  # type: ignore[typeddict-unknown-key]
        return monthly.look(context["params"]["profile"], period, library)

    @task(trigger_rule="all_done")
    def report_outcome(planned: Any, looked: Any) -> list[str]:
        from pipeline.audit.survival import monthly

        return monthly.report_survival(get_current_context()["params"]["profile"], planned or (), looked or ())

    @task(trigger_rule="all_done", retries=0)
    def report_failures(planned: Any, looked: Any) -> None:
        from pipeline.audit.survival import monthly

        if planned is None:
            raise AlreadyReported("nothing was looked at: the log of the task `plan` says why, and what to do")
        failed = monthly.describe_failed(get_current_context()["params"]["profile"], planned, looked or ())
        if failed is not None:
            raise AirflowFailException(failed)

    planned = plan()
    looked = look.expand_kwargs(planned)
    report_outcome(planned, looked)
    report_failures(planned, looked)


survival()
