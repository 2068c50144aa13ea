"""What each run waits for and what to do; of one run the state of each stage of each library, and when it may end."""

from __future__ import annotations

import platform
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil

from pipeline.core.settings import settings
from pipeline.core.vocabularies.release_checks import PublicationState
from pipeline.core.vocabularies.runs import RunState, StageState
from pipeline.lake.run_records import RunRecord, recorded_runs, run_before
from pipeline.lake.runner import Count
from pipeline.lake.tables import Lake
from pipeline.orchestration.failures import Began, failures_of, internal_errors, running_stages
from pipeline.orchestration.publishing.publish_snapshot import publication_of
from pipeline.orchestration.refresh import Refresh, counts_of
from pipeline.orchestration.report.failures import Trouble, troubles_of
from pipeline.snapshots.publication import Publication

_AGAIN = "driftline publish --profile {profile} --run {run}"
_TO_DO: Mapping[PublicationState, str] = {
    PublicationState.HELD: f"correct the cause or curation_rules/release_checks.yaml, then `{_AGAIN}`",
    PublicationState.WAITING: f"`{_AGAIN} --signed-by NAME`, or answer `approval` of the DAG publish in Airflow",
    PublicationState.READY: f"`{_AGAIN}`",
    PublicationState.REFUSED: f"correct the cause, then `{_AGAIN}`",
    PublicationState.UNANSWERED: f"`{_AGAIN} --signed-by NAME`",
    PublicationState.FAILED: f"`{_AGAIN}`",
}
"""What a person can do; nothing about runs that were published or superseded, or have nothing to publish."""


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run, its state (of `RunState` or `PublicationState`), what it waits for, and what to do."""

    run: str
    profile: str
    began: str
    ended: str | None
    state: RunState | PublicationState
    waits_for: str
    advice: str


@dataclass(frozen=True, slots=True)
class StageStatus:
    """A stage of a library in a run; `rows` are those that it made or left, `rows_before` those of the run before."""

    library: str
    stage: str
    state: StageState
    seconds: float | None
    rows: int | None
    rows_before: int | None
    cause: str

    @property
    def change(self) -> str:
        """The difference of rows from the run before, with its sign."""
        return "" if self.rows is None or self.rows_before is None else f"{self.rows - self.rows_before:+}"

    def has(self, text: str) -> bool:
        """Return whether the line of this stage has a text, in any case."""
        return text.lower() in f"{self.library} {self.stage} {self.state} {self.cause}".lower()


@dataclass(frozen=True, slots=True)
class Cause:
    """Failures with one cause: where they are (library, stage, release), the first message, and what to do."""

    cause: str
    number: int
    places: Sequence[str]
    example: str
    advice: str


@dataclass(frozen=True, slots=True)
class Status:
    """The last runs, newest first, and of one of them the stages, causes of failures, and its estimated end."""

    runs: Sequence[RunStatus]
    run: str
    stages: Sequence[StageStatus]
    causes: Sequence[Cause]
    ends: str | None

    def as_json(self) -> dict[str, Any]:
        """Return it for a program."""
        return asdict(self)


def status(run: str | None = None, runs: int = 10) -> Status | None:
    """Return the state of the last runs and of one run (default: the newest), None if there is none of that name."""
    recorded = recorded_runs(settings().runs)
    named = [(folder, record) for folder, record in recorded if run in (None, record.run, folder.name)]
    if not named:
        return None
    folder, record = named[-1]
    counts, before = counts_of(_refresh(record)), run_before(settings().runs, record)
    earlier = counts_of(_refresh(before)) if before else []
    return Status(
        runs=[run_status(*each) for each in reversed(recorded[-runs:])],
        run=record.run,
        stages=stage_statuses(folder, record, counts, earlier),
        causes=causes(troubles(folder, record, counts)),
        ends=estimated_end(record, counts, earlier, datetime.now(UTC)) if record.ended is None else None,
    )


def troubles(folder: Path, record: RunRecord, counts: Sequence[Count]) -> list[Trouble]:
    """Return what a run left undone; of one that goes on, what is over."""
    problems = troubles_of(
        record, counts, failures_of(folder), internal_errors(Lake(settings().lake_root), record.libraries)
    )
    begun = set(running_stages(folder))
    return problems if record.ended else [trouble for trouble in problems if not _goes_on(trouble, begun)]


def libraries_to_repeat(folder: Path, record: RunRecord) -> list[str]:
    """Return the libraries of a run with failures, in its order."""
    failed = {
        library
        for trouble in troubles_of(record, counts_of(_refresh(record)), failures_of(folder))
        for library in trouble.libraries
    }
    return [library for library in record.libraries if library in failed]


def stage_statuses(
    folder: Path, record: RunRecord, counts: Iterable[Count], earlier: Iterable[Count]
) -> list[StageStatus]:
    """Return the state of each stage of each library of a run, in its order."""
    by_stage_of = {(count.library, count.stage): count for count in counts}
    before = {(count.library, count.stage): count.units_out + count.units_out_before for count in earlier}
    failed = {(failure.library, failure.stage): failure.error for failure in failures_of(folder)}
    begun = running_stages(folder)
    lines: list[StageStatus] = []
    for library in record.libraries:
        for stage in record.stages:
            count = by_stage_of.get((library, stage))
            state = _stage_state(record, count, (library, stage) in failed, begun.get(library), stage)
            seconds = count.seconds if count else None
            if state == StageState.RUNNING:
                seconds = round((datetime.now(UTC) - datetime.fromisoformat(begun[library].time)).total_seconds(), 1)
            rows = count.units_out + count.units_out_before if count else None
            cause = failed.get((library, stage), "")
            lines.append(StageStatus(library, stage, state, seconds, rows, before.get((library, stage)), cause))
    return lines


def _stage_state(record: RunRecord, count: Count | None, failed: bool, begun: Began | None, stage: str) -> StageState:
    if failed:
        return StageState.FAILED
    if begun is not None and begun.stage == stage:
        return StageState.RUNNING if _is_alive(begun) else StageState.INTERRUPTED
    if count is not None:
        return StageState.UNCHANGED if count.units_in == count.unchanged else StageState.DONE
    return StageState.WAITING if record.ended is None else StageState.NOT_REACHED


def _is_alive(begun: Began) -> bool:
    """Return whether the process of a stage goes on; of another machine that is assumed."""
    return begun.host != platform.node() or psutil.pid_exists(begun.process)


def _goes_on(trouble: Trouble, begun: set[str]) -> bool:
    return trouble.release is None and set(trouble.libraries) <= begun


def causes(problems: Iterable[Trouble]) -> list[Cause]:
    """Group failures by the kind of their error and what to do about it, the most frequent first."""
    grouped: dict[tuple[str, str], list[Trouble]] = defaultdict(list)
    for trouble in problems:
        grouped[trouble.why.partition(":")[0], trouble.advice].append(trouble)
    groups = [
        Cause(cause, len(places := [*map(str, _places(group))]), places, group[0].why, advice)
        for (cause, advice), group in grouped.items()
    ]
    return sorted(groups, key=lambda group: (-group.number, group.cause))


def _places(group: Iterable[Trouble]) -> list[str]:
    return [
        " ".join(filter(None, (library, trouble.stage, trouble.release)))
        for trouble in group
        for library in trouble.libraries
    ]


def estimated_end(record: RunRecord, counts: Sequence[Count], earlier: Sequence[Count], now: datetime) -> str | None:
    """Return when a run may end (ISO 8601 in UTC), None if too little is known.

    The rest takes as long as in the run before, or as this stage took for other libraries, at the speed so far.
    """
    done = {(count.library, count.stage) for count in counts}
    took = {(count.library, count.stage): count.seconds for count in earlier}
    by_stage: dict[str, list[float]] = defaultdict(list)
    for count in (*earlier, *counts):
        by_stage[count.stage].append(count.seconds)
    left = 0.0
    for library in record.libraries:
        for stage in record.stages:
            if (library, stage) in done:
                continue
            if stage not in by_stage:
                return None
            left += took.get((library, stage), sum(by_stage[stage]) / len(by_stage[stage]))
    passed = (now - datetime.fromisoformat(record.began)).total_seconds()
    speed = sum(count.seconds for count in counts) / passed if passed > 0 else 0.0
    if not speed:
        return None
    return (now + timedelta(seconds=left / speed)).isoformat(timespec="seconds")


def run_status(folder: Path, record: RunRecord) -> RunStatus:
    """Return what a run waits for, and what to do."""
    publication = publication_of(_refresh(record))
    alive = [library for library, begun in running_stages(folder).items() if _is_alive(begun)]
    state: RunState | PublicationState
    if alive:
        state, waits_for, advice = RunState.RUNNING, f"stages of {', '.join(alive)}", ""
    elif publication is not None:
        state, waits_for, advice = publication.state, _waits_for(publication), _TO_DO.get(publication.state, "")
    elif record.ended is None:
        state = RunState.IDLE
        waits_for, advice = "a worker", "see that Airflow runs; if nothing does, `driftline rerun {run}`"
    else:
        state, waits_for, advice = RunState.COLLECTED, "publishing", f"`{_AGAIN}`"
    if not alive and failures_of(folder):
        advice = "; ".join(filter(None, ["`driftline rerun {run}` for its failures", advice]))
    advice = advice.format(run=record.run, profile=record.profile)
    return RunStatus(record.run, record.profile, record.began, record.ended, state, waits_for, advice)


def _waits_for(publication: Publication) -> str:
    return "" if publication.state == PublicationState.PUBLISHED else publication.reason or publication.state.meaning


def _refresh(record: RunRecord) -> Refresh:
    covered = (record.libraries, record.since, record.until, record.families, record.sources)
    return Refresh(record.run, record.profile, *covered)
