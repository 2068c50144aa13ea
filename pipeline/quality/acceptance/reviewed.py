"""What a decision means for a published row: refused, let through, or published as it was edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypedDict

from pipeline.core.vocabularies.annotation import DecisionKind
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind, RejectReason, ReviewStatus
from pipeline.lake.rows import R, ReleaseRow, ReviewEditRun
from pipeline.lake.stage import Reject
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.flags.reviews import Review, Reviews, edited


class ReviewColumns(TypedDict):
    """The columns that say what a person should look at, and whether one has."""

    flags: list[FlagKind]
    review_status: ReviewStatus
    canary: str


@dataclass(frozen=True, slots=True)
class Reviewed(Generic[R]):
    """An instance as it is to be published, with its flags and what was decided of it, if anything."""

    row: R
    description: str | None
    flags: Sequence[FlagKind]
    review: Review | None
    rules: QualityRules

    def refusal(self) -> Reject | None:
        """Return why it is not published: a person rejected it, or a flag holds it back and nobody has decided."""
        key = self.row["id"]
        if self.review is not None:
            if self.review.kind != DecisionKind.REJECT:
                return None
            why = self.review.objection
            return Reject(key, RejectReason.REVIEWED_OUT, f"{why}: {why.meaning}")
        holding = [kind for kind in self.flags if kind in self.rules.hold_back]
        return Reject(key, RejectReason.FLAGGED, ", ".join(holding)) if holding else None

    def columns(self) -> ReviewColumns:
        """Return the columns that say what a person should look at, and whether one has."""
        return {"flags": list(self.flags), "review_status": self._status(), "canary": self.rules.canary}

    def _status(self) -> ReviewStatus:
        if self.review is None:
            return ReviewStatus.PENDING if self.flags else ReviewStatus.UNFLAGGED
        return ReviewStatus.EDITED if self.review.kind == DecisionKind.EDIT else ReviewStatus.ACCEPTED

    @property
    def runs(self) -> Sequence[ReviewEditRun]:
        """The runs of what was edited."""
        return self.review.row["runs"] if self.review is not None else ()


@dataclass(frozen=True, slots=True)
class Desk:
    """What people decided of a library's instances; `flags` are by instance, `releases` by version."""

    reviews: Reviews
    flags: Mapping[str, Sequence[FlagKind]]
    releases: Mapping[str, ReleaseRow]
    rules: QualityRules

    def of(self, family: Family, instance: R, description: str | None = None) -> Reviewed[R]:
        """Return an instance as it was decided."""
        flags = self.flags.get(instance["id"], ())
        review = self.reviews.of(family, instance, flags, description)
        if review is None or review.kind != DecisionKind.EDIT:
            return Reviewed(instance, description, flags, review, self.rules)
        row = edited(family, instance, review.edits, self.releases)
        return Reviewed(row, review.edits.get("description", description), flags, review, self.rules)
