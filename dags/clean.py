"""Remove, each night, what the rules of retention let go: caches above their limits, old runs, logs and candidates.

Nothing that is in use goes, and no snapshot that `latest`, errata or figures of survival still name. The task returns
how many bytes of what went; `driftline clean` does the same now. The limits stand in `curation_rules/retention.yaml`.
"""

from __future__ import annotations

import os
from datetime import timedelta

import pendulum
from airflow.sdk import dag, task

from pipeline.orchestration.alerts.notifier import alerts, deadline

SCHEDULE = None if os.environ.get("DRIFTLINE_SCHEDULE") == "off" else "0 1 * * *"


@dag(
    schedule=SCHEDULE,
    start_date=pendulum.datetime(2026, 1, 5, tz="UTC"),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 1, "retry_delay": timedelta(minutes=5), "on_failure_callback": alerts("failed")},
    deadline=deadline("clean"),
    description="Remove what the rules of retention let go",
    tags=["driftline"],
    doc_md=__doc__,
)
def clean() -> None:
    """Declare the graph."""

    @task
    def leftovers() -> dict[str, int]:
        """Remove what is too old, and say how many bytes of what went."""
        from pipeline.orchestration.retention.clean import bytes_by_kind, clean_here

        return bytes_by_kind(clean_here())

    leftovers()


clean()
