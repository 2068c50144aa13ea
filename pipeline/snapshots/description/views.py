"""The views of a snapshot as the card counts them, and why rows tell no releases apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import cast

from pipeline.core.vocabularies.changes import LibEvolutionEvalTag
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Evidence, Granularity
from pipeline.core.vocabularies.snapshots import NotDiscriminating
from pipeline.families.family import DISCRIMINATING, InstanceFamily
from pipeline.lake.rows import (
    AnyRow,
    PublishedCompletionRow,
    PublishedControlledCompletionRow,
    PublishedFunctionRow,
    PublishedProblemRow,
)

_Weighed = PublishedCompletionRow | PublishedControlledCompletionRow | PublishedProblemRow | PublishedFunctionRow
"""Rows of which acceptance decides whether they discriminate; in other families all do, or none is asked to."""


@dataclass(frozen=True, slots=True)
class FamilyCounts:
    """The rows of a family by view: `every`, `discriminating`, and by day for a cutoff.

    Without the column, `weighed` is false and every row counts as discriminating. `changes` are those that
    discriminating rows cover. Of the days, half of the rows lie on `middle` or before, and half after.
    """

    every: int
    discriminating: int
    weighed: bool
    changes: int
    reasons: Mapping[NotDiscriminating, int]
    dated_by: Sequence[str]
    oldest: date | None
    middle: date | None
    newest: date | None

    def share(self, part: int) -> str:
        """Return a part of all rows in percent."""
        return f"{part / self.every:.0%}"


def family_counts(family: InstanceFamily, rows: Sequence[AnyRow], same_code_fails: Collection[Outcome]) -> FamilyCounts:
    """Count the rows of a family by view, and those that do not discriminate by reason, in the vocabulary's order.

    `same_code_fails` are the outcomes by which a run of one program tells two releases apart.
    """
    days = sorted(day for row in rows if (day := family.day_of(row)))
    apart = [row for row in rows if row[DISCRIMINATING]] if family.has_discriminating else rows
    others = (cast(_Weighed, row) for row in rows if not row[DISCRIMINATING]) if family.has_discriminating else ()
    reasons = Counter(_reason(row, same_code_fails) for row in others)
    return FamilyCounts(
        every=len(rows),
        discriminating=len(apart),
        weighed=family.has_discriminating,
        changes=len({row["change_id"] for row in apart} - {None}) if family.has_discriminating else 0,
        reasons={reason: reasons[reason] for reason in NotDiscriminating if reasons[reason]},
        dated_by=family.dated_by,
        oldest=days[0] if days else None,
        middle=days[(len(days) - 1) // 2] if days else None,
        newest=days[-1] if days else None,
    )


def _reason(row: _Weighed, same_code_fails: Collection[Outcome]) -> NotDiscriminating:
    """Return the first reason that fits the columns of a row; acceptance stores none, so what is left is the last."""
    if row["libevolutioneval_tag"] == LibEvolutionEvalTag.UNCHANGED and row["change_id"] is None:
        return NotDiscriminating.API_UNCHANGED
    # Of problems and functions, `evidence` says whether the run shows that the version decides.
    is_own_run = "other_outcome" in row
    outcome = row.get("other_outcome") if is_own_run else row.get("neighbour_outcome")
    if outcome is None:
        return NotDiscriminating.NOT_RUN
    if outcome == Outcome.PASSED:
        return NotDiscriminating.PASSES
    decides = row["evidence"] == Evidence.EXECUTED if is_own_run else outcome in same_code_fails
    if not decides:
        return NotDiscriminating.OTHER_FAILURE
    # Acceptance weighs what a line or block of a completion hides; of all others only the name is left.
    is_part = not is_own_run and row.get("granularity", Granularity.TOKEN) != Granularity.TOKEN
    return NotDiscriminating.NOT_MASKED if is_part else NotDiscriminating.NAME_KNOWN
