"""What a report tells: the funnel of a run, what its snapshot holds, drafts and money, against the run before."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.drafting.model.tally import Tally, usd
from pipeline.drafting.summary import Spent
from pipeline.lake import TRANSIENT, Count
from pipeline.publish import FAMILIES, Manifest, read_manifest
from pipeline.report.figures import Bar, Figure, snapshot_figures
from pipeline.runs import RunRecord
from pipeline.terms import DraftKind, DraftStanding, Evidence, RejectReason, ReviewStatus


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run left: its record, the counts of its stages by library and in all, and the snapshot it published."""

    record: RunRecord
    counts: Sequence[Count]
    totals: Sequence[Count]
    snapshot: Path | None


@dataclass(frozen=True, slots=True)
class DraftsTold:
    """Drafts: what was asked by kind and what that cost, the ledger, and how rows stand with a model by kind."""

    asked: Mapping[DraftKind, Tally]
    spent: Spent
    standing: Mapping[DraftKind, Mapping[DraftStanding, int]]


@dataclass(frozen=True, slots=True)
class StageLine:
    """A stage of the funnel over all libraries; what is unchanged counts as it came out when it was looked at.

    `untold` are units of which an older run did not keep what came of them. `before` is the stage in the run before.
    """

    stage: str
    seen: int
    made: int
    rejected: Mapping[str, int]
    noted: Mapping[str, int]
    untold: int
    looked_at: int
    seconds: float
    peak_memory_bytes: int
    before: Count | None

    @property
    def refused(self) -> int:
        """All that was rejected."""
        return sum(self.rejected.values())


@dataclass(frozen=True, slots=True)
class TableLine:
    """Rows of a table of the snapshot now and in the one before; None where that has no such table, or is not known."""

    config: str
    rows: int
    before: int | None


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that did not work: in which libraries and stage, why, and what to do."""

    libraries: Sequence[str]
    stage: str
    why: str
    advice: str


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
    libraries: Figure
    tables: Sequence[TableLine]
    figures: Sequence[Figure]
    drafts: DraftsTold | None
    left_out: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        """Return it for a program."""
        told = asdict(self)
        if self.drafts is not None:
            told["drafts"]["asked"] = {kind: tally.as_json() for kind, tally in self.drafts.asked.items()}
        return told


def report_of(
    ran: Ran | None,
    snapshot: Path | None,
    before: Ran | None,
    snapshot_before: Path | None,
    drafts: DraftsTold | None,
    left_out: Mapping[str, str],
) -> Report:
    """Put a report together of a run, of a snapshot, or of both.

    Errors: ValueError where the snapshot has no manifest that can be read.
    """
    manifest = read_manifest(snapshot) if snapshot else None
    older = read_manifest(snapshot_before) if snapshot_before else None
    figures = snapshot_figures(snapshot) if snapshot else []
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
        headlines=_headlines(ran, figures, drafts),
        troubles=_troubles(ran) if ran else [],
        stages=_stages(ran, before) if ran else [],
        libraries=_libraries(ran),
        tables=_tables(manifest, older) if manifest else [],
        figures=figures,
        drafts=drafts,
        left_out=left_out,
    )


def _period(record: RunRecord | None) -> tuple[str | None, str | None]:
    return (record.since, record.until) if record else (None, None)


def _stages(ran: Ran, before: Ran | None) -> list[StageLine]:
    earlier = {count.stage: count for count in before.totals} if before else {}
    return [_stage(count, earlier.get(count.stage)) for count in ran.totals]


def _stage(count: Count, before: Count | None) -> StageLine:
    rejected = _together(count.rejected, count.rejected_before)
    made = count.made + count.made_before
    return StageLine(
        stage=count.stage,
        seen=count.seen,
        made=made,
        rejected=rejected,
        noted=_together(count.noted, count.noted_before),
        untold=max(0, count.seen - made - sum(rejected.values())),
        looked_at=count.seen - count.unchanged,
        seconds=count.seconds,
        peak_memory_bytes=count.peak_memory_bytes,
        before=before,
    )


def _together(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Add up numbers by reason, the largest first."""
    reasons = {reason: one.get(reason, 0) + other.get(reason, 0) for reason in {*one, *other}}
    return dict(sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0])))


def _libraries(ran: Ran | None) -> Figure:
    """Return the seconds that each library took, by the stages that took the most; the slowest library first."""
    note = "Wall seconds of this run."
    if ran is None:
        return Figure("seconds", "Seconds by library", note, [])
    slowest = sorted(ran.totals, key=lambda count: -count.seconds)[:_STAGES_SHOWN]
    shown = [count.stage for count in ran.totals if count in slowest]
    took: dict[str, Counter[str]] = defaultdict(Counter)
    for count in ran.counts:
        took[count.library][count.stage if count.stage in shown else _OTHERS] += round(count.seconds)
    parts = [*shown, _OTHERS]
    bars = [Bar(library, "", {part: took[library][part] for part in parts}) for library in ran.record.libraries]
    ordered = sorted(bars, key=lambda bar: (-bar.total, bar.label))
    return Figure("seconds", "Seconds by library", note, parts, [bar for bar in ordered if bar.total])


_STAGES_SHOWN = 7
_OTHERS = "other stages"


def _tables(manifest: Manifest, older: Manifest | None) -> list[TableLine]:
    """Return the rows of each table, instance families first."""
    before = _rows(older) if older else {}
    rows = _rows(manifest)
    first = [family for family in FAMILIES if family in rows]
    return [TableLine(config, rows[config], before.get(config)) for config in [*first, *sorted(rows.keys() - {*first})]]


def _rows(manifest: Manifest) -> dict[str, int]:
    return {Path(entry.path).stem: entry.rows or 0 for entry in manifest.files if entry.table}


def _troubles(ran: Ran) -> list[Trouble]:
    """Return what was left undone: libraries that did not come to the end, and reasons that may pass by themselves."""
    passing = {str(reason): reason.meaning for reason in TRANSIENT - {RejectReason.DRAFT_WAITING}}
    how = "broke off" if ran.record.ended else "the run goes on, or was killed,"
    broken = f"{how} before this stage ended; what the library had before stands"
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for library in ran.record.libraries:
        counts = [count for count in ran.counts if count.library == library]
        done = {count.stage for count in counts}
        if missing := [stage for stage in ran.record.stages if stage not in done]:
            found[missing[0], broken, "see the log of its task, then refresh it again"].append(library)
        for count in counts:
            for reason in sorted(passing.keys() & {*count.rejected, *count.noted}):
                found[count.stage, f"{reason}: {passing[reason]}", "run the same refresh again"].append(library)
    return [Trouble(libraries, *trouble) for trouble, libraries in sorted(found.items())]


def _headlines(ran: Ran | None, figures: Sequence[Figure], drafts: DraftsTold | None) -> dict[str, str]:
    """Return the few numbers that say how it went."""
    named = {figure.name: figure for figure in figures}
    told: dict[str, str] = {}
    if "evidence" in named:
        executed, known = _part(named["evidence"], Evidence.EXECUTED), _total(named["evidence"])
        told["instances"] = f"{_total(named['library']):,}"
        told["executed"] = f"{executed / known:.1%} of {known:,}"
    if "environments" in named:
        good, all_ = _good(named["environments"]), _total(named["environments"])
        told["environments"] = f"{good / all_:.1%} of {all_:,} built"
    if "review" in named:
        told["to review"] = f"{_part(named['review'], ReviewStatus.PENDING):,}"
    if ran is not None and ran.record.seconds is not None:
        told["time"] = f"{ran.record.seconds / 60:.1f} min"
    if drafts is not None and drafts.asked:
        told["cost of drafts"] = usd(drafts.spent.run)
    return told


def _total(figure: Figure) -> int:
    return sum(bar.total for bar in figure.bars)


def _part(figure: Figure, part: str) -> int:
    return sum(bar.parts.get(part, 0) for bar in figure.bars)


_GOOD = frozenset({"built", "traced"})


def _good(figure: Figure) -> int:
    return sum(bar.total for bar in figure.bars if bar.label in _GOOD)
