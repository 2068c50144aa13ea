"""The refresh: crawl each library of a profile, analyse and prove it, then publish. Wiring only."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import pendulum
from airflow.sdk import Param, dag, get_current_context, task, task_group
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from airflow.timetables.interval import CronDataIntervalTimetable

INDEX_POOL = "index"
PROFILE = os.environ.get("DRIFTLINE_PROFILE", "starter")
SCHEDULE = os.environ.get("DRIFTLINE_SCHEDULE", "0 3 * * 1")
LIBRARY = "{{ library }}"


def current_refresh() -> Any:
    """Return what this run covers: its form where a person filled it in, else the data interval."""
    from pipeline.refresh import Refresh

    context = get_current_context()
    params = context["params"]
    since, until = context.get("data_interval_start"), context.get("data_interval_end")
    return Refresh(
        run=context["run_id"],
        profile=params["profile"],
        libraries=tuple(params["libraries"] or ()),
        since=params["since"] or (since.isoformat() if since else None),
        until=params["until"] or (until.isoformat() if until else None),
    )


@dag(
    schedule=None if SCHEDULE == "off" else CronDataIntervalTimetable(SCHEDULE, timezone="UTC"),
    start_date=pendulum.datetime(2026, 1, 5, tz="UTC"),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(seconds=15), "retry_exponential_backoff": True},
    params={
        "profile": Param(PROFILE, type="string", description="file in curation_rules/profiles/"),
        "libraries": Param(None, type=["null", "array"], description="only these; empty: all of the profile"),
        "since": Param(None, type=["null", "string"], description="first day covered; empty: the run's interval"),
        "until": Param(None, type=["null", "string"], description="day after the last one covered"),
    },
    tags=["driftline"],
    doc_md=__doc__,
)
def refresh() -> None:
    """Declare the graph."""

    @task
    def plan() -> list[str]:
        from pipeline.refresh import begin

        return begin(current_refresh())

    def run(group: str, library: str) -> None:
        from pipeline.refresh import run_group

        get_current_context()["library"] = library  # type: ignore[typeddict-unknown-key]
        run_group(current_refresh(), group, library)

    @task(pool=INDEX_POOL, map_index_template=LIBRARY)
    def crawl(library: str) -> None:
        run("crawl", library)

    @task(map_index_template=LIBRARY)
    def prove(library: str) -> None:
        run("prove", library)

    @task_group
    def collect(library: str) -> None:
        crawl(library) >> prove(library)

    @task(trigger_rule="all_done")
    def publish() -> str:
        from pipeline.publish import NothingToPublish, OutdatedTables
        from pipeline.refresh import publish_refresh
        from pipeline.report.source import write_report

        try:
            return str(publish_refresh(current_refresh()).path)
        except NothingToPublish as error:
            raise AirflowSkipException(str(error)) from None
        except OutdatedTables as error:
            raise AirflowFailException(str(error)) from None
        finally:
            write_report(current_refresh())

    @task(trigger_rule="one_failed", retries=0)
    def some_library_failed() -> None:
        raise AirflowFailException("a library failed: the red tasks of the grid name it; the others were published")

    collected = collect.expand(library=plan())
    collected >> publish()
    collected >> some_library_failed()


refresh()
