"""The job of survival: of a library's published rows some are drawn, run again, and told in the lake."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from filelock import FileLock

from pipeline.audit.survival.references import Place, Reference, read_references
from pipeline.audit.survival.rerun import Found, Lost, Tell, came_out, run_again
from pipeline.audit.survival.rules import SurvivalRules
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
from pipeline.lake.schema import Row
from pipeline.lake.sync import working_on
from pipeline.lake.tables import Lake, read_parquet
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot
from pipeline.snapshots.format.survival_figures import TABLE

_REVISION = re.compile(r"(.+?)(?:\.r(\d+))?")
_DETAIL = 500


@dataclass(frozen=True, slots=True)
class Looked:
    """What looking at a library came to: rows added now, rows that this period had already, and what is left.

    `left` counts rows of which nobody knows anything yet, by what was in the way; the next run tries them again.
    `unread` says which snapshots could not be read, and why.
    """

    library: str
    period: str
    added: tuple[Row, ...]
    known: int
    left: Mapping[str, int]
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class Survey:
    """What is looked at, and where: snapshots, the period, the lake that rows are added to, and the rules."""

    snapshots: tuple[Path, ...]
    period: str
    settings: Settings
    rules: SurvivalRules

    @property
    def folder(self) -> Path:
        """Where a period's runs, and what is made from scratch for them, are kept until the next period begins."""
        return self.settings.cache / "survival" / self.period

    @property
    def lake(self) -> Lake:
        """The lake that rows are added to."""
        return Lake(self.settings.lake)


def this_period(now: datetime | None = None) -> str:
    """Return the month of a time, UTC: rows are told of the month in which they were really run."""
    return f"{(now or datetime.now(UTC)).astimezone(UTC):%Y-%m}"


def today() -> str:
    """Return the day of now, UTC, as rows have it."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def newest_snapshots(snapshots: Path, profile: str, most: int) -> tuple[Path, ...]:
    """Return the newest snapshots of a profile, the newest first; of several revisions the last one."""
    last: dict[str, tuple[int, Path]] = {}
    for folder in (snapshots / profile).glob("[!.]*/"):
        if (folder / "manifest.json").is_file() and (found := _REVISION.fullmatch(folder.name)):
            revision = int(found[2] or 1)
            last[found[1]] = max(last.get(found[1], (0, folder)), (revision, folder))
    return tuple(last[name][1] for name in sorted(last, reverse=True)[:most])


def libraries_of(snapshots: Sequence[Path]) -> list[str]:
    """Return the libraries of snapshots, sorted; one that cannot be read keeps nobody from looking at the others.

    Errors: SnapshotError where none can be read.
    """
    found: set[str] = set()
    errors: list[str] = []
    for snapshot in snapshots:
        try:
            found |= Snapshot(snapshot).manifest.libraries.keys()
        except SnapshotError as error:
            errors.append(str(error))
    if errors and len(errors) == len(snapshots):
        raise SnapshotError("\n".join(errors))
    return sorted(found)


def rows_of_survey(survey: Survey, libraries: Iterable[str]) -> list[Row]:
    """Return what the lake has of the snapshots and the period of a survey."""
    digests = {sha256_file(snapshot / "manifest.json") for snapshot in survey.snapshots}
    known = pa.array([one for one in digests if one], pa.string())
    where = (pc.field("period") == survey.period) & pc.field("manifest_sha256").isin(known)
    return [row for library in libraries for row in survey.lake.read(TABLE, library, where)]


def survive(survey: Survey, library: str, tell: Tell = lambda what, done, total: None) -> Looked:
    """Run a library's drawn references of each snapshot again, and add a row to the lake for each.

    What this period has a row of is not run again. Nothing is made, and the index is not asked, where all is there.

    Errors: RuleError, SandboxUnavailable; what keeps rows from being run is in the rows, `left` or `unread`.
    """
    locks = survey.lake.root / "_locks"
    locks.mkdir(parents=True, exist_ok=True)
    with working_on(library):
        pass  # brings what other workers have added
    with FileLock(locks / f"{library}.survival.lock"):
        looked = [_look(survey, library, snapshot, tell) for snapshot in survey.snapshots]
    left = sum((Counter(one.left) for one in looked), Counter[str]())
    added = tuple(row for one in looked for row in one.added)
    unread = tuple(why for one in looked for why in one.unread)
    return Looked(library, survey.period, added, sum(one.known for one in looked), dict(left), unread)


def _look(survey: Survey, library: str, snapshot: Path, tell: Tell) -> Looked:
    """Look at a library in one snapshot."""
    try:
        known_snapshot = Snapshot(snapshot)
        references, sources = read_references(known_snapshot, library, _run_settings(survey.settings))
    except SnapshotError as error:
        return Looked(library, survey.period, (), 0, {}, (str(error),))
    digest = known_snapshot.sha256
    chosen, share = draw(references, survey.period, survey.rules)
    part = survey.lake.path(TABLE, library, f"{survey.period}.{digest[:16]}")
    known = {_of(row) for row in _rows_of(part)}
    waiting = [reference for reference in chosen if (reference.family, reference.id) not in known]
    if not waiting:
        return Looked(library, survey.period, (), len(chosen), {})
    of_all = {"snapshot": snapshot.name, "manifest_sha256": digest, "drawn_share": share}
    head = of_all | {"period": survey.period}
    added, left = _run(survey, library, waiting, sources, head, tell)
    if added:
        with working_on(library):
            there = _rows_of(part)  # other workers may have added some meanwhile
            known |= {_of(row) for row in there}
            # of now: what was kept of the lake for a snapshot up to yesterday must not lack a row of yesterday
            added = [row | {"day": today()} for row in added if _of(row) not in known]
            survey.lake.write(TABLE, library, [*there, *added], part=part.stem)
    return Looked(library, survey.period, tuple(added), len(chosen) - len(waiting), left)


def _rows_of(part: Path) -> list[Row]:
    return read_parquet(part) if part.is_file() else []


def _of(row: Row) -> tuple[str, str]:
    return row["family"], row["instance_id"]


def _run(
    survey: Survey, library: str, waiting: Collection[Reference], sources: Sources, head: Row, tell: Tell
) -> tuple[list[Row], Mapping[str, int]]:
    """Run references; return their rows, and what was in the way of those that have none yet."""
    _forget(survey.folder)
    runners = runners_at(survey.folder if survey.rules.from_scratch else survey.settings.cache)
    use_caches(survey.settings.cache, runners)
    with RunFile(survey.folder / "runs" / f"{library}.jsonl", None) as file:
        found = run_again(waiting, sources, runners, file, tell)
        outcomes = [(reference, came_out(reference, found, file)) for reference in waiting]
    rows = [
        head | _row(reference, outcome, found, sources)
        for reference, outcome in outcomes
        if not isinstance(outcome, str)
    ]
    return rows, Counter(outcome for _, outcome in outcomes if isinstance(outcome, str))


def draw(references: Sequence[Reference], period: str, rules: SurvivalRules) -> tuple[list[Reference], float]:
    """Return the references whose environments or projects are drawn in a period, and the share that is drawn of these.

    One that cannot be run, since the snapshot lacks something, costs nothing and is always among them.
    """
    places = sorted({_own(one) for one in references if one.runs}, key=lambda place: content_id(period, place))
    taken = frozenset(places[: max(rules.least, ceil(rules.share * len(places)))])
    chosen = [one for one in references if not one.runs or _own(one) in taken]
    return chosen, round(len(taken) / len(places), 4) if places else 1.0


def _own(reference: Reference) -> Place:
    """Return the place of the version that a row is right for."""
    return reference.places[0]


def _row(reference: Reference, lost: Lost | None, found: Found, sources: Sources) -> Row:
    locks = {sources.projects.get(of, {}).get("lock_id") if project else of for of, project in reference.places}
    outcome = lost.outcome if lost else Outcome.PASSED
    return {
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
        "yanked": sorted({pin for place in reference.places for pin in found.yanked.get(place, ())}),
    }


def _run_settings(settings: Settings) -> Any:
    """Return what decides beside a reference how its run comes out: a change of these rules asks again."""
    rules = settings.rules
    return [
        plain(load(rules / "validation.yaml", ValidationRules)),
        plain(environment_rules(rules)),
        plain(load(rules / "repository.yaml", RepositoryRules)),
    ]


def _forget(folder: Path) -> None:
    """Remove what was made from scratch in earlier periods: it would be no scratch any more."""
    for other in folder.parent.glob("*/"):
        if other.name < folder.name:
            shutil.rmtree(other, ignore_errors=True)
