"""What a report tells: the funnel of a run, what its snapshot holds, drafts and money, against the run before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pipeline.core.vocabularies.drafts import DraftKind, DraftStatus
from pipeline.core.vocabularies.review import ReviewStatus
from pipeline.core.vocabularies.samples import Evidence
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.lake.run_records import RunRecord
from pipeline.lake.runner import Count
from pipeline.llm.client.tally import Tally, usd
from pipeline.llm.summary import Spent
from pipeline.orchestration.failures import Failure, InternalError
from pipeline.orchestration.report.failures import Trouble, troubles_of
from pipeline.orchestration.report.figures import SURVIVES, Bar, Figure, snapshot_figures
from pipeline.orchestration.report.reviewing import ReviewSummary
from pipeline.orchestration.report.shares import ShareLine, share_lines
from pipeline.orchestration.report.work import StageLine, seconds_by_library, seconds_by_stage, stage_lines
from pipeline.orchestration.stages.empty_families import EmptyFamilies
from pipeline.snapshots.format.manifest import Manifest
from pipeline.snapshots.format.reader import Snapshot
from pipeline.snapshots.publication import Publication


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run left: its record, the counts of its stages by library and in all, and the snapshot it published.

    `failures` are those that stand, `publication` is its release record, `spent` is in nano US dollars.
    """

    record: RunRecord
    counts: Sequence[Count]
    totals: Sequence[Count]
    snapshot: Path | None
    failures: Sequence[Failure] = ()
    publication: Publication | None = None
    spent: int | None = None


@dataclass(frozen=True, slots=True)
class DraftsSummary:
    """Drafts: what was asked by kind and what that cost, the ledger, and how rows stand with a model by kind."""

    tallies: Mapping[DraftKind, Tally]
    spent: Spent
    status_counts: Mapping[DraftKind, Mapping[DraftStatus, int]]


@dataclass(frozen=True, slots=True)
class TableLine:
    """Rows of a table of the snapshot now and in the one before; None where that has no such table, or is not known."""

    config: str
    rows: int
    before: int | None


@dataclass(frozen=True, slots=True)
class Report:
    """All that the page shows; `as_json` is the same for a program."""

    title: str
    ran: RunRecord | None
    before: RunRecord | None
    snapshot: str | None
    snapshot_before: str | None
    period: tuple[str | None, str | None]
    headlines: Mapping[str, str]
    troubles: Sequence[Trouble]
    stages: Sequence[StageLine]
    seconds: Sequence[Figure]
    publication: Publication | None
    shares: Sequence[ShareLine]
    review: ReviewSummary | None
    spent_before: int | None
    tables: Sequence[TableLine]
    figures: Sequence[Figure]
    drafts: DraftsSummary | None
    left_out: Mapping[str, str]
    empty: Sequence[EmptyFamilies]

    def as_json(self) -> dict[str, Any]:
        """Return it for a program."""
        document = asdict(self)
        if self.drafts is not None:
            document["drafts"]["tallies"] = {kind: tally.as_json() for kind, tally in self.drafts.tallies.items()}
        return document


def report_of(
    ran: Ran | None,
    snapshot: Path | None,
    before: Ran | None,
    snapshot_before: Path | None,
    drafts: DraftsSummary | None,
    left_out: Mapping[str, str],
    review: ReviewSummary | None = None,
    empty: Sequence[EmptyFamilies] = (),
    errors: Sequence[InternalError] = (),
) -> Report:
    """Put a report together of a run, of a snapshot, or of both.

    Errors: SnapshotError.
    """
    current = Snapshot(snapshot) if snapshot else None
    previous = Snapshot(snapshot_before) if snapshot_before else None
    manifest, older = current.manifest if current else None, previous.manifest if previous else None
    past = {figure.name: figure for figure in snapshot_figures(previous)} if previous else {}
    figures = [_compared(figure, past) for figure in snapshot_figures(current)] if current else []
    named = {figure.name: figure for figure in figures}
    totals_before = before.totals if before else ()
    record = ran.record if ran else None
    profile = record.profile if record else manifest.profile if manifest else ""
    name = snapshot.name if snapshot else record.run if record else ""
    return Report(
        title=f"{profile}: {name}",
        ran=record,
        before=before.record if before else None,
        snapshot=snapshot.name if snapshot else None,
        snapshot_before=snapshot_before.name if snapshot_before else None,
        period=(manifest.period.since, manifest.period.until) if manifest else _period(record),
        headlines=_headlines(ran, named, drafts, review),
        troubles=troubles_of(ran.record, ran.counts, ran.failures, errors) if ran else [],
        stages=stage_lines(ran.totals, totals_before) if ran else [],
        seconds=_seconds(ran, before) if ran else [],
        publication=ran.publication if ran else None,
        shares=share_lines(named, past),
        review=review,
        spent_before=before.spent if before else None,
        tables=_tables(manifest, older) if manifest else [],
        figures=figures,
        drafts=drafts,
        left_out=left_out,
        empty=empty,
    )


def _period(record: RunRecord | None) -> tuple[str | None, str | None]:
    return (record.since, record.until) if record else (None, None)


def _compared(figure: Figure, past: Mapping[str, Figure]) -> Figure:
    """Return a figure with what its bars came to in the snapshot before; what is gone since stands with nothing."""
    if not past:
        return figure
    older = past.get(figure.name)
    before = {bar.label: bar.total for bar in older.bars} if older else {}
    gone = [Bar(bar.label, bar.meaning, {}) for bar in older.bars] if older else []
    here = {bar.label for bar in figure.bars}
    return replace(figure, bars=[*figure.bars, *(bar for bar in gone if bar.label not in here)], before=before)


def _seconds(ran: Ran, before: Ran | None) -> list[Figure]:
    counts, totals = (before.counts, before.totals) if before else ((), ())
    figures = [
        seconds_by_stage(ran.totals, totals),
        seconds_by_library(ran.record.libraries, ran.counts, ran.totals, counts),
    ]
    return [figure for figure in figures if figure.bars]


def _tables(manifest: Manifest, older: Manifest | None) -> list[TableLine]:
    """Return the rows of each table, instance families first."""
    before = _rows(older) if older else {}
    rows = _rows(manifest)
    first = [family for family in INSTANCE_TABLES if family in rows]
    return [TableLine(config, rows[config], before.get(config)) for config in [*first, *sorted(rows.keys() - {*first})]]


def _rows(manifest: Manifest) -> dict[str, int]:
    return {Path(entry.path).stem: entry.rows or 0 for entry in manifest.files if entry.table}


def _headlines(
    ran: Ran | None, named: Mapping[str, Figure], drafts: DraftsSummary | None, review: ReviewSummary | None
) -> dict[str, str]:
    """Return the few numbers that say how it went."""
    headlines: dict[str, str] = {}
    if ran is not None and ran.publication is not None:
        headlines["publication"] = str(ran.publication.state)
    if "evidence" in named:
        executed, total = _part(named["evidence"], Evidence.EXECUTED), _total(named["evidence"])
        headlines["instances"] = f"{_total(named['library']):,}"
        headlines["executed"] = f"{executed / total:.1%} of {total:,}"
    if "environments" in named:
        good, all_ = _good(named["environments"]), _total(named["environments"])
        headlines["environments"] = f"{good / all_:.1%} of {all_:,} built"
    if "survival" in named and (last := named["survival"].bars[0]).total:
        headlines["survival"] = f"{last.parts.get(SURVIVES, 0) / last.total:.1%} of {last.total:,}"
    if review is not None and review.trouble is None:
        headlines["to review"] = f"{review.open:,} of {review.samples:,}"
    elif "review" in named:
        headlines["to review"] = f"{_part(named['review'], ReviewStatus.PENDING):,}"
    if ran is not None and ran.record.seconds is not None:
        headlines["time"] = f"{ran.record.seconds / 60:.1f} min"
    if drafts is not None and drafts.tallies:
        headlines["cost of drafts"] = usd(drafts.spent.run)
    return headlines


def _total(figure: Figure) -> int:
    return sum(bar.total for bar in figure.bars)


def _part(figure: Figure, part: str) -> int:
    return sum(bar.parts.get(part, 0) for bar in figure.bars)


_GOOD = frozenset({"built", "traced"})


def _good(figure: Figure) -> int:
    return sum(bar.total for bar in figure.bars if bar.label in _GOOD)
