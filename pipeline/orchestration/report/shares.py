"""Shares of instances that are executed and proven, by family, against the snapshot before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.core.vocabularies.samples import Evidence
from pipeline.orchestration.report.figures import Figure

ALL = "all families"


@dataclass(frozen=True, slots=True)
class ShareLine:
    """Of a family: its rows whose evidence is known, and which share (0 to 1) running, or also documentation, shows.

    Executed rows were seen by running; proven are these and what the library's own documentation states.
    """

    family: str
    rows: int
    executed: float
    proven: float
    executed_before: float | None
    proven_before: float | None


def share_lines(figures: Mapping[str, Figure], before: Mapping[str, Figure]) -> list[ShareLine]:
    """Return the shares by family, and of all together first, from the figures of evidence now and before."""
    now, then = _counted(figures.get("evidence")), _counted(before.get("evidence"))
    return [
        ShareLine(family, sum(parts.values()), *_shares(parts), *_before(then, family)) for family, parts in now.items()
    ]


def _counted(figure: Figure | None) -> dict[str, Mapping[str, int]]:
    if figure is None or not figure.bars:
        return {}
    every = {part: sum(bar.parts.get(part, 0) for bar in figure.bars) for part in figure.parts}
    return {ALL: every, **{bar.label: bar.parts for bar in figure.bars if bar.total}}


def _shares(parts: Mapping[str, int]) -> tuple[float, float]:
    rows = sum(parts.values())
    executed, documented = parts.get(Evidence.EXECUTED, 0), parts.get(Evidence.DOCUMENTED, 0)
    return executed / rows, (executed + documented) / rows


def _before(then: Mapping[str, Mapping[str, int]], family: str) -> tuple[float | None, float | None]:
    return _shares(then[family]) if family in then else (None, None)
