"""Survival runs: draw published rows of a library, run them again, and add the results to the lake."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Any, TypedDict

import pyarrow.compute as pc
from filelock import FileLock

from pipeline.audit.survival.references import Place, Reference, read_references
from pipeline.audit.survival.rerun import Lost, PlaceStatus, run_again, survival_result
from pipeline.audit.survival.rules import SurvivalRules
from pipeline.core.progress import ReportProgress, no_progress
from pipeline.core.rules.fingerprint import plain
from pipeline.core.rules.load import load
from pipeline.core.settings import Settings
from pipeline.core.vocabularies.running import Outcome
from pipeline.evaluation.scores.planning import Sources
from pipeline.evaluation.scores.running import runners_at
from pipeline.evaluation.scores.runs import RunFile
from pipeline.execution.caches.using import use_caches
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.validation.rules import ValidationRules
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.lake.ids import content_id, sha256_file
from pipeline.lake.rows import SurvivalRow
from pipeline.lake.tables import Lake, one_of
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot
from pipeline.snapshots.format.survival_figures import TABLE

_REVISION = re.compile(r"(.+?)(?:\.r(\d+))?")
_DETAIL = 500


class _Head(TypedDict):
    """What the rows of a survey of one snapshot have in common."""

    snapshot: str
    manifest_sha256: str
    period: str
    day: str
    drawn_share: float


@dataclass(frozen=True, slots=True)
class SurveyResult:
    """Result for a library: added rows, number of rows that the period had already, and rows without a verdict.

    `unjudged` counts rows by temporary failure; the next run tries them again. `unread` are errors of snapshots that
    could not be read.
    """

    library: str
    period: str
    added: tuple[SurvivalRow, ...]
    existing: int
    unjudged: Mapping[str, int]
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class Survey:
    """Snapshots, period, settings with the lake, and rules of a survival run."""

    snapshots: tuple[Path, ...]
    period: str
    settings: Settings
    rules: SurvivalRules

    @property
    def folder(self) -> Path:
        """The folder of a period's runs and environments from scratch, until the next period begins."""
        return self.settings.cache / "survival" / self.period

    @property
    def lake(self) -> Lake:
        """The lake that rows are added to."""
        return Lake(self.settings.lake_root)


def this_period(now: datetime | None = None) -> str:
    """Return the month of a time, UTC: the month in which rows really ran."""
    return f"{(now or datetime.now(UTC)).astimezone(UTC):%Y-%m}"


def today() -> str:
    """Return the current day, UTC, in the form of rows."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def newest_snapshots(snapshots: Path, profile: str, most: int) -> tuple[Path, ...]:
    """Return the newest snapshots of a profile, the newest first; of several revisions the last one."""
    last: dict[str, tuple[int, Path]] = {}
    for folder in (snapshots / profile).glob("[!.]*/"):
        if (folder / "manifest.json").is_file() and (match := _REVISION.fullmatch(folder.name)):
            revision = int(match[2] or 1)
            last[match[1]] = max(last.get(match[1], (0, folder)), (revision, folder))
    return tuple(last[name][1] for name in sorted(last, reverse=True)[:most])


def libraries_of(snapshots: Sequence[Path]) -> list[str]:
    """Return the libraries of readable snapshots, sorted. Errors: SnapshotError where none can be read."""
    libraries: set[str] = set()
    errors: list[str] = []
    for snapshot in snapshots:
        try:
            libraries |= Snapshot(snapshot).manifest.libraries.keys()
        except SnapshotError as error:
            errors.append(str(error))
    if errors and len(errors) == len(snapshots):
        raise SnapshotError("\n".join(errors), code="snapshots_unreadable")
    return sorted(libraries)


def rows_of_survey(survey: Survey, libraries: Iterable[str]) -> list[SurvivalRow]:
    """Return the rows in the lake for the snapshots and the period of a survey."""
    digests = {sha256_file(snapshot / "manifest.json") for snapshot in survey.snapshots}
    where = (pc.field("period") == survey.period) & one_of("manifest_sha256", filter(None, digests))
    return [row for library in libraries for row in survey.lake.read(TABLE, library, where)]


def survive(survey: Survey, library: str, report: ReportProgress = no_progress) -> SurveyResult:
    """Run a library's drawn references of each snapshot again, and add a row to the lake for each.

    Rows with a result in this period do not run again; if all have one, nothing is built and the index is not queried.

    Errors: RuleError, SandboxUnavailable; other failures are in the rows, `unjudged` or `unread`.
    """
    locks = survey.settings.cache / "survival"
    locks.mkdir(parents=True, exist_ok=True)
    with FileLock(locks / f"{library}.lock"):
        looked = [_look(survey, library, snapshot, report) for snapshot in survey.snapshots]
    unjudged = sum((Counter(result.unjudged) for result in looked), Counter[str]())
    added = tuple(row for result in looked for row in result.added)
    unread = tuple(why for result in looked for why in result.unread)
    return SurveyResult(
        library, survey.period, added, sum(result.existing for result in looked), dict(unjudged), unread
    )


def _look(survey: Survey, library: str, snapshot: Path, report: ReportProgress) -> SurveyResult:
    """Survey a library in one snapshot."""
    try:
        reader = Snapshot(snapshot)
        references, sources = read_references(reader, library, _run_settings(survey.settings))
    except SnapshotError as error:
        return SurveyResult(library, survey.period, (), 0, {}, (str(error),))
    digest = reader.sha256
    chosen, share = draw(references, survey.period, survey.rules)
    where = (pc.field("period") == survey.period) & (pc.field("manifest_sha256") == digest)
    existing = {_of(row) for row in survey.lake.read(TABLE, library, where)}
    waiting = [reference for reference in chosen if (reference.family, reference.id) not in existing]
    if not waiting:
        return SurveyResult(library, survey.period, (), len(chosen), {})
    head: _Head = {
        "snapshot": snapshot.name,
        "manifest_sha256": digest,
        "period": survey.period,
        "day": today(),
        "drawn_share": share,
    }
    added, unjudged = _run(survey, library, waiting, sources, head, report)
    if added:
        lake = survey.lake
        with lake.turn(library):
            existing |= {_of(row) for row in lake.read(TABLE, library, where)}  # other workers may have added some
            # the current day: a lake pinned up to yesterday must not lack a row of yesterday
            added = [{**row, "day": today()} for row in added if _of(row) not in existing]
            lake.write(TABLE, library, [*lake.read(TABLE, library), *added])
    return SurveyResult(library, survey.period, tuple(added), len(chosen) - len(waiting), unjudged)


def _of(row: SurvivalRow) -> tuple[str, str]:
    return row["family"], row["instance_id"]


def _run(
    survey: Survey, library: str, waiting: Collection[Reference], sources: Sources, head: _Head, report: ReportProgress
) -> tuple[list[SurvivalRow], Mapping[str, int]]:
    """Run references; return their rows, and the temporary failures of the others."""
    _forget(survey.folder)
    runners = runners_at(survey.folder if survey.rules.from_scratch else survey.settings.cache)
    use_caches(survey.settings.cache, runners)
    with RunFile(survey.folder / "runs" / f"{library}.jsonl", None) as file:
        status = run_again(waiting, sources, runners, file, report)
        outcomes = [(reference, survival_result(reference, status, file)) for reference in waiting]
    rows = [
        _row(head, reference, outcome, status, sources)
        for reference, outcome in outcomes
        if not isinstance(outcome, str)
    ]
    return rows, Counter(outcome for _, outcome in outcomes if isinstance(outcome, str))


def draw(references: Sequence[Reference], period: str, rules: SurvivalRules) -> tuple[list[Reference], float]:
    """Return the references whose environments or projects are drawn in a period, and the share of drawn places.

    References that cannot be run, since the snapshot lacks rows, cost nothing and are always included.
    """
    places = sorted(
        {_own(reference) for reference in references if reference.runs}, key=lambda place: content_id(period, place)
    )
    drawn = frozenset(places[: max(rules.least, ceil(rules.share * len(places)))])
    chosen = [reference for reference in references if not reference.runs or _own(reference) in drawn]
    return chosen, round(len(drawn) / len(places), 4) if places else 1.0


def _own(reference: Reference) -> Place:
    """Return the place of a row's own version."""
    return reference.places[0]


def _row(head: _Head, reference: Reference, lost: Lost | None, status: PlaceStatus, sources: Sources) -> SurvivalRow:
    of_project = {key: row["lock_id"] for key, row in sources.projects.items()}
    locks = {of_project.get(of) if project else of for of, project in reference.places}
    outcome = lost.outcome if lost else Outcome.PASSED
    return {
        **head,
        "family": reference.family,
        "instance_id": reference.id,
        "library": reference.library,
        "version": reference.version,
        "survives": lost is None,
        "reason": lost.reason if lost else None,
        "outcome": outcome,
        "detail": lost.detail[-_DETAIL:] if lost else None,
        "probed": reference.probed,
        "lock_ids": sorted(lock for lock in locks if lock),
        "yanked": sorted({pin for place in reference.places for pin in status.yanked.get(place, ())}),
    }


def _run_settings(settings: Settings) -> Any:
    """Return the rules that influence the outcome of runs: a change of them makes new runs."""
    rules = settings.rules
    return [
        plain(load(rules / "validation.yaml", ValidationRules)),
        plain(environment_rules(rules)),
        plain(load(rules / "repository.yaml", RepositoryRules)),
    ]


def _forget(folder: Path) -> None:
    """Remove the folders of earlier periods, so that each period starts from scratch."""
    for other in folder.parent.glob("*/"):
        if other.name < folder.name:
            shutil.rmtree(other, ignore_errors=True)
