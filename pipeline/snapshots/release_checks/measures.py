"""Measures of a candidate for release checks, counted in its files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from pipeline.core.vocabularies.review import ReviewStatus
from pipeline.core.vocabularies.samples import Evidence
from pipeline.families.all_families import INSTANCES
from pipeline.families.family import InstanceFamily
from pipeline.snapshots.comparison.comparison import Comparison
from pipeline.snapshots.format.reader import Snapshot


@dataclass(frozen=True, slots=True)
class Family:
    """Numbers of rows of a family: all, with evidence, proved by a run, reviewable, pending, repeating another."""

    rows: int
    with_evidence: int
    executed: int
    reviewable: int
    pending: int
    repeated: int


@dataclass(frozen=True, slots=True)
class Shift:
    """A column of a family, and its distance (0 to 1) from the last snapshot."""

    column: str
    distance: float


def families_of(candidate: Path) -> dict[str, Family]:
    """Count the rows of each family of a candidate."""
    snapshot = Snapshot(candidate)
    with duckdb.connect() as database:
        return {family.table: _family(database, snapshot, family) for family in INSTANCES}


def _family(database: duckdb.DuckDBPyConnection, candidate: Snapshot, family: InstanceFamily) -> Family:
    names = candidate.columns(family.table)
    database.register("instances", candidate.dataset(family.table))
    question = ", ".join(f'"{column}"' for column in family.question)
    counted = [
        "count(*)",
        "count(evidence)" if "evidence" in names else "0",
        f"count(*) FILTER (WHERE evidence = '{Evidence.EXECUTED}')" if "evidence" in names else "0",
        "count(review_status)" if "review_status" in names else "0",
        f"count(*) FILTER (WHERE review_status = '{ReviewStatus.PENDING}')" if "review_status" in names else "0",
        f"count(*) - count(DISTINCT hash({question}))",
    ]
    (counts,) = database.execute(f"SELECT {', '.join(counted)} FROM instances").fetchall()  # noqa: S608
    return Family(*counts)


def added(families: Sequence[Family]) -> Family:
    """Add families up."""
    return Family(*(sum(getattr(family, name) for family in families) for name in Family.__slots__))


def shift(comparison: Comparison, family: str) -> Shift | None:
    """Return the column with the largest distance from the last snapshot; None without a comparison."""
    shifts = list(_shifts(comparison, family))
    return max(shifts, key=lambda shift: (shift.distance, shift.column), default=None)


def _shifts(comparison: Comparison, family: str) -> Iterator[Shift]:
    for name, diff in comparison.columns.get(family, {}).items():
        if diff.old is not None and diff.new is not None:
            yield Shift(name, max(abs(diff.new.nulls - diff.old.nulls), diff.distance or 0.0))
