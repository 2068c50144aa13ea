"""The mutation score: which share of changed references the tests of a row notice."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypedDict

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.mutation.rules import MutationRules
from pipeline.lake.stage import Reject


class Scored(TypedDict):
    """The columns that a row of every family with tests has."""

    mutants: int
    mutants_killed: int
    mutants_equivalent: int
    mutation_score: float | None


class ScoredRow(Scored):
    """A row with them."""

    id: str


SCORED = tuple(Scored.__annotations__)


@dataclass(frozen=True, slots=True)
class MutationScore:
    """Mutants of a reference: how many ran, how many the tests killed, and how many are equivalent to it.

    A mutant is equivalent if it gives what the reference does for all that was run, which is more than the tests hold.
    """

    mutants: int = 0
    killed: int = 0
    equivalent: int = 0

    @property
    def share(self) -> float | None:
        """The share killed of those that are not equivalent; None where there are no such mutants."""
        able = self.mutants - self.equivalent
        return round(self.killed / able, 4) if able else None

    def with_other_code(self, outcome: str, fails: Collection[str]) -> MutationScore:
        """Return the score with code for another release as one more mutant; what says nothing is none.

        It is killed where it ends as code does that the release cannot run, and equivalent where it passes.
        """
        if outcome in fails:
            return MutationScore(self.mutants + 1, self.killed + 1, self.equivalent)
        if outcome == Outcome.PASSED:
            return MutationScore(self.mutants + 1, self.killed, self.equivalent + 1)
        return self

    @property
    def columns(self) -> Scored:
        """The values of the columns SCORED."""
        return {
            "mutants": self.mutants,
            "mutants_killed": self.killed,
            "mutants_equivalent": self.equivalent,
            "mutation_score": self.share,
        }


def too_weak(row: ScoredRow, family: Family, rules: MutationRules) -> Reject | None:
    """Return the reject WEAK_TESTS of a row whose tests notice fewer mutants than the rules want, or none ran."""
    score, least = row["mutation_score"], rules.min_score[family]
    if not row["mutants"]:
        detail = "no changed reference could be run"
    elif score is None:
        detail = f"none of {row['mutants']} changed references differs from the reference"
    elif score < least:
        able = row["mutants"] - row["mutants_equivalent"]
        detail = f"{row['mutants_killed']} of {able} changed references fail, {least:.0%} wanted"
    else:
        return None
    return Reject(str(row["id"]), RejectReason.WEAK_TESTS, detail)
