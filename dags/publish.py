"""Publish what a refresh left: make its candidate, check it, have it approved where a check asks for that, place it.

Each refresh starts a run of its own here, one after the other: a snapshot is compared with the one before. Release
checks, approvers and the longest wait are in `curation_rules/release_checks.yaml`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import Asset, Param, PartitionedAssetTimetable, dag, get_current_context, task
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException

from pipeline.orchestration.alerts.notifier import alerts, deadline
from pipeline.orchestration.alerts.outcome import AlreadyReported, failed_tasks
from pipeline.orchestration.publishing.approval import Approval, answer, newer, requested_snapshot

FORM = {
    "profile": Param("starter", type="string", title="Profile", description="A file in curation_rules/profiles/."),
    "run": Param(
        None,
        type=["null", "string"],
        title="Run",
        description="The run of `refresh` to publish, by its id; empty: the newest of the profile.",
    ),
}


def current_refresh() -> Any:
    """Return the refresh whose end started this run, or the one that the form names."""
    from pipeline.orchestration.publishing.publish_snapshot import NoRefresh, last_refresh
    from pipeline.orchestration.refresh import refresh_of

    context = get_current_context()
    events = [event for of_asset in context["triggering_asset_events"].values() for event in of_asset]
    if events:
        return refresh_of(events[-1].extra)
    try:
        return last_refresh(context["params"]["profile"], context["params"]["run"])
    except NoRefresh as error:
        raise AirflowFailException(str(error)) from None


def make_candidate() -> dict[str, Any]:
    """Make and check the candidate, and return the request for approval, if one is needed."""
    from airflow.configuration import conf

    from pipeline.core.vocabularies.release_checks import PublicationState
    from pipeline.orchestration.publishing.apply_decisions import NotJudged
    from pipeline.orchestration.publishing.finish_refresh import IndexAway, NotWhole
    from pipeline.orchestration.publishing.publish_snapshot import prepare_candidate, request_of
    from pipeline.snapshots.format.rows import NothingToPublish, OutdatedTables

    try:
        candidate = prepare_candidate(current_refresh())
    except (IndexAway, OutdatedTables) as error:
        raise AirflowFailException(str(error)) from None
    except (NothingToPublish, NotWhole) as error:
        raise AirflowSkipException(str(error)) from None
    except NotJudged as error:
        raise AirflowException(str(error)) from None  # the review database may answer at the next try
    if candidate.state == PublicationState.HELD:
        raise AirflowFailException(candidate.reason)
    return request_of(candidate, conf.get("api", "base_url", fallback="").rstrip("/"))


def place_candidate() -> str:
    """Place the candidate, with the answer of the approver."""
    from pipeline.orchestration.publishing.publish_snapshot import NO_SNAPSHOT, place_refresh
    from pipeline.snapshots.publication import signature_of

    try:
        return str(place_refresh(current_refresh(), signature_of(answer())).path)
    except NO_SNAPSHOT as error:
        raise AirflowFailException(str(error)) from None


def end_publication() -> None:
    """Write the report, and end as the run did: failed where a task failed, skipped where nothing was to be placed."""
    from pipeline.core.vocabularies.release_checks import PublicationState
    from pipeline.orchestration.publishing.publish_snapshot import end_unsigned
    from pipeline.orchestration.report.source import write_report
    from pipeline.snapshots.publication import signature_of

    refresh = current_refresh()
    ended = end_unsigned(refresh, requested_snapshot(), signature_of(answer()), newer())
    reason = ended.reason if ended else ""
    failed = failed_tasks("candidate", "approval", "place")
    try:
        write_report(refresh)
    except Exception as error:
        if not failed:
            raise
        # a rule file that stopped the candidate stops the report too, and one alert of it is enough
        reason = f"{reason or 'see its log'}; there is no report either: {error}"
    if failed:
        raise AlreadyReported(f"nothing was published, since {', '.join(failed)} failed: {reason or 'see its log'}")
    if ended and ended.state in {PublicationState.REFUSED, PublicationState.SUPERSEDED, PublicationState.NOTHING}:
        raise AirflowSkipException(reason)
    if ended is None or ended.state != PublicationState.PUBLISHED:
        raise AirflowFailException(reason or "nothing was published: see the log of `place`")


@dag(
    schedule=PartitionedAssetTimetable(assets=Asset("driftline_lake")),
    max_active_runs=1,
    default_args={
        "retries": 2,
        "retry_delay": timedelta(seconds=15),
        "retry_exponential_backoff": True,
        "on_failure_callback": alerts("failed"),
    },
    params=FORM,
    deadline=deadline("publish"),
    description="Make a candidate, check it, have it approved, and place the snapshot of a refresh",
    tags=["driftline"],
    doc_md=__doc__,
)
def publish() -> None:
    """Declare the graph."""

    @task
    def candidate() -> dict[str, Any]:
        return make_candidate()

    approval = Approval(
        subject="{{ ti.xcom_pull('candidate')['subject'] }}",
        body="{{ ti.xcom_pull('candidate')['body'] }}",
        params={"note": Param("", type="string", description="why; it is kept with the run")},
        notifiers=[alerts("waiting")],
        retries=0,
    )

    @task
    def place() -> str:
        return place_candidate()

    @task(trigger_rule="all_done")
    def report_outcome() -> None:
        end_publication()

    candidate() >> approval >> place() >> report_outcome()


publish()
