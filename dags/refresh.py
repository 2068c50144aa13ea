"""Collect and prove the libraries of a profile over a week; the end of each run starts `publish`, the snapshot of it.

- **By schedule**: the week that has just ended, of the profile `DRIFTLINE_PROFILE`.
- **Past weeks**: Trigger, Backfill. *From* and *To* are the Mondays with which the first and the last week begin. Leave
  Max Active Runs at 1, Run Backwards off, First day and Day after the last empty. *Missing Runs* leaves weeks alone
  that have a run, *All Runs* does them again. Without a schedule (`DRIFTLINE_SCHEDULE=off`) there is no Backfill.
- **By hand**: Trigger, Single Run. Without days it covers the last whole week before the logical date, and all releases
  until then of a library that was never crawled; with the logical date cleared too, everything.
- **Red**: the log of `plan` says what is wrong with a form; that of `report_failures` names what failed, and what
  to do. The tab Driftline report of a run shows what came of it.

The same from a shell: `airflow backfill create` and `driftline airflow refresh`; see docs/guides/refresh.md
and docs/guides/backfill.md.
"""

from __future__ import annotations

import logging
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pendulum
from airflow.sdk import Asset, Param, chain, dag, get_current_context, task, task_group
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from airflow.timetables.interval import CronDataIntervalTimetable

from pipeline.orchestration.alerts.notifier import ONCE_IF_TOO_LONG, alerts, deadline, longest
from pipeline.orchestration.alerts.outcome import AlreadyReported, task_states
from pipeline.orchestration.run_parameters import fields
from pipeline.orchestration.stages.groups import GROUPS

INDEX_POOL = "index"
POKE_S, LONGEST_S = 30, timedelta(days=30).total_seconds()
LAKE = Asset("driftline_lake")
RULES = Path(os.environ.get("DRIFTLINE_RULES") or Path(__file__).parent.parent / "curation_rules")
SCHEDULE = os.environ.get("DRIFTLINE_SCHEDULE") or "0 3 * * 1"
FORM = fields(os.environ.get("DRIFTLINE_PROFILE") or "starter", RULES)
UNPLANNED = "nothing was run: the log of the task `plan` says why, and what to do"
LIBRARY = "{{ library }}"
MAPPED: dict[str, Any] = {
    "map_index_template": LIBRARY,
    "on_failure_callback": None,  # one alert for a run, by `report_failures`, and not one for each library
    "retry_policy": ONCE_IF_TOO_LONG,
}


def current_refresh(*, new: bool = False) -> Any:
    """Return what this run covers: its form where a person filled it in, else the data interval.

    The names in the form of a `new` run are held against the index.
    """
    from pipeline.orchestration.check_libraries import check_names
    from pipeline.orchestration.refresh import checked
    from pipeline.orchestration.run_parameters import BadForm, filled_in, own_period

    context = get_current_context()
    start, end = context.get("data_interval_start"), context.get("data_interval_end")
    try:
        filled = filled_in(context["params"])
        kind = context["dag_run"].run_type
        since, until = own_period(filled, start, end, backfill=kind == "backfill")
        # A person who names a library and no days wants its releases, and not those of a week that has none.
        refresh = checked(filled, context["run_id"], since, until, from_start_if_new=kind == "manual")
        if new:
            check_names(refresh)
    except BadForm as error:
        raise AirflowFailException(str(error)) from None
    return refresh


def run_library(group: str, library: str) -> None:
    """Run a group of stages for a library; one without news is skipped after its crawl, with all its other tasks.

    Airflow 3.3's short_circuit does not skip tasks of a mapped group, but a task after a skipped one is skipped.
    """
    from pipeline.orchestration.refresh import count_unchanged, has_news, run_group

    get_current_context()["library"] = library  # type: ignore[typeddict-unknown-key]
    refresh = current_refresh()
    run_group(refresh, group, library)
    if group == "crawl" and not has_news(refresh, library):
        count_unchanged(refresh, library)
        raise AirflowSkipException("nothing new: all stages after the crawl are as they were left")


def end_refresh() -> None:
    """Keep what this run made, write its report, and tell whoever waits for it."""
    from pipeline.orchestration.publishing.finish_refresh import IndexAway, NotWhole, finish
    from pipeline.orchestration.report.source import write_report

    if task_states("plan").get("plan") != "success":
        raise AirflowSkipException(UNPLANNED)
    refresh, context = current_refresh(), get_current_context()
    try:
        finish(refresh)
    except IndexAway as error:
        raise AirflowFailException(str(error)) from None
    except NotWhole as error:
        raise AirflowSkipException(str(error)) from None
    finally:
        write_report(refresh)
    event = context["outlet_events"][LAKE]
    event.extra = refresh.plain
    event.add_partitions(refresh.run)


def fail_with_libraries() -> None:
    """Fail with a line for each library that failed; a run that did not get as far as its libraries fails too."""
    from pipeline.orchestration.failures import report_failures_of

    begun = task_states("plan", "wait_for_turn")
    if begun.get("plan") != "success":
        raise AlreadyReported(UNPLANNED)
    if begun.get("wait_for_turn") != "success":
        raise AlreadyReported("no library was run: see the log of the task `wait_for_turn`")
    failures = report_failures_of(current_refresh().folder, task_states(*(f"collect.{group}" for group in GROUPS)))
    if failures is not None:
        raise AirflowFailException(f"these libraries failed, the others go on to be published:\n{failures}")


@dag(
    schedule=None if SCHEDULE == "off" else CronDataIntervalTimetable(SCHEDULE, timezone="UTC"),
    start_date=pendulum.datetime(2005, 1, 3, tz="UTC"),  # no week before it can be filled in
    catchup=False,
    max_active_runs=1,
    default_args={
        "retries": 2,
        "retry_delay": timedelta(seconds=15),
        "retry_exponential_backoff": True,
        "on_failure_callback": alerts("failed"),
    },
    params={name: Param(**field) for name, field in FORM.items()},
    deadline=deadline("refresh"),
    description="Collect and prove the libraries of a profile over a week",
    tags=["driftline"],
    doc_md=__doc__,
)
def refresh() -> None:
    """Declare the graph."""

    @task
    def plan() -> list[str]:
        from pipeline.orchestration.refresh import begin

        return begin(current_refresh(new=True))

    @task.sensor(mode="reschedule", poke_interval=POKE_S, timeout=LONGEST_S, max_active_tis_per_dag=1)
    def wait_for_turn() -> bool:
        from pipeline.orchestration.wait_for_turn import TASKS, waits_for

        ti = get_current_context()["ti"]
        states = ti.get_task_states(dag_id="refresh", task_ids=list(TASKS))
        other = waits_for(ti.run_id, states, lambda run: ti.get_dagrun_state("refresh", run))
        logging.getLogger(__name__).info("it is this run's turn" if other is None else f"waiting for the run {other}")
        return other is None

    def work_of(group: str) -> Any:
        mapped = MAPPED | ({"pool": INDEX_POOL} if group == "crawl" else {})

        @task(task_id=group, execution_timeout=longest(group), **mapped)
        def work(library: str) -> None:
            run_library(group, library)

        return work

    @task_group
    def collect(library: str) -> None:
        chain(*(work_of(group)(library) for group in GROUPS))

    @task(trigger_rule="all_done", outlets=[LAKE])
    def pin_lake() -> None:
        end_refresh()

    @task(trigger_rule="all_done", retries=0)
    def report_failures() -> None:
        fail_with_libraries()

    libraries, my_turn = plan(), wait_for_turn()
    collected = collect.expand(library=libraries)
    libraries >> my_turn >> collected
    collected >> pin_lake()
    collected >> report_failures()


refresh()
