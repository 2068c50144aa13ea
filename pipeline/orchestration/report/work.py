"""What a run did: the funnel of its stages, and the seconds that they took, against the run before."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.lake.runner import Count
from pipeline.orchestration.report.figures import Bar, Figure

_MAX_STAGES = 7
_OTHERS = "other stages"


@dataclass(frozen=True, slots=True)
class StageLine:
    """A stage of the funnel over all libraries; what is unchanged counts as it came out when it was looked at.

    `untold` are units of which an older run did not keep what came of them. `before` is the stage in the run before.
    """

    stage: str
    units_in: int
    units_out: int
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

    @property
    def produced_before(self) -> int | None:
        """What came out of the stage in the run before, None where that had none."""
        return self.before.units_out + self.before.units_out_before if self.before else None


def stage_lines(totals: Sequence[Count], before: Sequence[Count]) -> list[StageLine]:
    """Return the funnel of a run's totals against those of the run before."""
    earlier = {count.stage: count for count in before}
    return [_line(count, earlier.get(count.stage)) for count in totals]


def _line(count: Count, before: Count | None) -> StageLine:
    rejected = _together(count.rejected, count.rejected_before)
    produced = count.units_out + count.units_out_before
    return StageLine(
        stage=count.stage,
        units_in=count.units_in,
        units_out=produced,
        rejected=rejected,
        noted=_together(count.noted, count.noted_before),
        untold=max(0, count.units_in - produced - sum(rejected.values())),
        looked_at=count.units_in - count.unchanged,
        seconds=count.seconds,
        peak_memory_bytes=count.peak_memory_bytes,
        before=before,
    )


def _together(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Add up numbers by reason, the largest first."""
    reasons = {reason: one.get(reason, 0) + other.get(reason, 0) for reason in {*one, *other}}
    return dict(sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0])))


def seconds_by_stage(totals: Sequence[Count], before: Sequence[Count]) -> Figure:
    """Return the wall seconds of each stage over all libraries, the longest first."""
    bars = [Bar(count.stage, "", {"seconds": round(count.seconds)}) for count in totals]
    slowest = sorted((bar for bar in bars if bar.total), key=lambda bar: (-bar.total, bar.label))
    note = "Wall seconds of this run, over all libraries."
    earlier = {count.stage: round(count.seconds) for count in before} if before else None
    return Figure("stage_seconds", "Seconds by stage", note, ["seconds"], slowest, earlier)


def seconds_by_library(
    libraries: Sequence[str], counts: Sequence[Count], totals: Sequence[Count], before: Sequence[Count]
) -> Figure:
    """Return the seconds that each library took, by the stages that took the most; the slowest library first."""
    slowest = sorted(totals, key=lambda count: -count.seconds)[:_MAX_STAGES]
    columns = [count.stage for count in totals if count in slowest]
    took: dict[str, Counter[str]] = defaultdict(Counter)
    for count in counts:
        took[count.library][count.stage if count.stage in columns else _OTHERS] += round(count.seconds)
    parts = [*columns, _OTHERS]
    bars = [Bar(library, "", {part: took[library][part] for part in parts}) for library in libraries]
    ordered = sorted(bars, key=lambda bar: (-bar.total, bar.label))
    seconds: Counter[str] = Counter()
    for count in before:
        seconds[count.library] += round(count.seconds)
    note = "Wall seconds of this run."
    return Figure(
        "seconds",
        "Seconds by library",
        note,
        parts,
        [bar for bar in ordered if bar.total],
        dict(seconds) if before else None,
    )
