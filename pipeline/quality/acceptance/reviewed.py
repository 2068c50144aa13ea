"""Decisions on instances: each is rejected, accepted, or published with its edit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypedDict

from pipeline.core.vocabularies.annotation import DecisionKind
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind, RejectReason, ReviewStatus
from pipeline.index.licences import is_allowed
from pipeline.lake.guard import guarded, parted
from pipeline.lake.rows import AnyRow, R, ReleaseRow, ReviewEditRun, Tables
from pipeline.lake.stage import Output, Reject
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.flags.flags import kinds_by_instance
from pipeline.quality.flags.reviews import Review, Reviews, edited


class ReviewColumns(TypedDict):
    """The columns of the flags and of the review."""

    flags: list[FlagKind]
    review_status: ReviewStatus
    canary: str


@dataclass(frozen=True, slots=True)
class Reviewed(Generic[R]):
    """An instance to be published, with its flags and the decision on it, if there is one."""

    row: R
    description: str | None
    flags: Sequence[FlagKind]
    review: Review | None
    rules: QualityRules

    def refusal(self) -> Reject | None:
        """Return the reject of an instance that a person rejected, or that an undecided flag holds back."""
        key = self.row["id"]
        if self.review is not None:
            if self.review.kind != DecisionKind.REJECT:
                return None
            objection = self.review.objection
            return Reject(key, RejectReason.REVIEWED_OUT, f"{objection}: {objection.meaning}")
        holding = [kind for kind in self.flags if kind in self.rules.hold_back]
        return Reject(key, RejectReason.FLAGGED, ", ".join(holding)) if holding else None

    def columns(self) -> ReviewColumns:
        """Return the columns of the flags and of the review."""
        return {"flags": list(self.flags), "review_status": self._status(), "canary": self.rules.canary}

    def _status(self) -> ReviewStatus:
        if self.review is None:
            return ReviewStatus.PENDING if self.flags else ReviewStatus.UNFLAGGED
        return ReviewStatus.EDITED if self.review.kind == DecisionKind.EDIT else ReviewStatus.ACCEPTED

    @property
    def runs(self) -> Sequence[ReviewEditRun]:
        """The runs of the edited instance."""
        return self.review.row["runs"] if self.review is not None else ()


@dataclass(frozen=True, slots=True)
class LibraryReviews:
    """The decisions on a library's instances; `flags` are by instance, `releases` by version."""

    reviews: Reviews
    flags: Mapping[str, Sequence[FlagKind]]
    releases: Mapping[str, ReleaseRow]
    rules: QualityRules

    @classmethod
    def of(cls, tables: Tables, rules: QualityRules) -> LibraryReviews:
        """Return the decisions that a library's tables hold."""
        releases = {row["version"]: row for row in tables.get("releases", ())}
        return cls(Reviews(tables["reviews"]), kinds_by_instance(tables["flags"]), releases, rules)

    def unlicensed(self, key: str, licence: str | None) -> Reject | None:
        """Return the reject of an instance whose source has no licence that the rules allow."""
        if licence is not None and is_allowed(licence, self.rules.licences):
            return None
        return Reject(key, RejectReason.LICENCE, licence or "no licence that can be read")

    def reviewed(self, family: Family, instance: R, description: str | None = None) -> Reviewed[R]:
        """Return an instance with the decision on it."""
        flags = self.flags.get(instance["id"], ())
        review = self.reviews.of(family, instance, flags, description)
        if review is None or review.kind != DecisionKind.EDIT:
            return Reviewed(instance, description, flags, review, self.rules)
        row = edited(family, instance, review.edits, self.releases)
        return Reviewed(row, review.edits.get("description", description), flags, review, self.rules)


def accepted(table: str, instances: Iterable[R], publish: Callable[[R], Iterable[AnyRow | Reject]]) -> Output:
    """Return the rows of a published table, and the rejects by their keys."""
    rows, rejects = parted(guarded(instances, lambda row: str(row["id"]), publish))
    rejects.sort(key=lambda reject: reject.key)
    tables: Any = {table: rows}
    return Output(tables, len(rows) + len(rejects), len(rows), rejects)


def refusing(output: Output, table: str, rows: Sequence[R], rejects: Sequence[Reject]) -> Output:
    """Return an output with some of its rows refused after all: `rows` are those that stay."""
    everything = sorted([*output.rejects, *rejects], key=lambda reject: reject.key)
    tables: Any = {table: sorted(rows, key=lambda row: str(row["id"]))}
    return Output(tables, len(rows) + len(everything), len(rows), everything)
