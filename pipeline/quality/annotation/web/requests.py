"""What a page asks for: the filters in its address, and the bodies of what it sends."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlencode

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pipeline.core.vocabularies.annotation import DecisionKind, Objection, QueueStatus
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.core.vocabularies.term import Term
from pipeline.quality.annotation.queue import Filter


class Age(Term):
    """How long ago a sample was first flagged, as the queue's filter asks for it."""

    DAY = "day", "within a day"
    WEEK = "week", "within a week"
    MONTH = "month", "within 30 days"
    OLDER = "older", "more than 30 days ago"


_DAYS = {Age.DAY: 1, Age.WEEK: 7, Age.MONTH: 30, Age.OLDER: 30}

SampleId = Annotated[str, Field(min_length=1, max_length=64)]


def _or_none(value: Any) -> Any:
    """Take the empty value of a menu for no choice."""
    return value or None


class Filters(BaseModel):
    """The filters, as they stand in the address of every page; an empty one takes all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    flag: Annotated[FlagKind | None, BeforeValidator(_or_none)] = None
    library: Annotated[Annotated[str, Field(max_length=200)] | None, BeforeValidator(_or_none)] = None
    family: Annotated[Family | None, BeforeValidator(_or_none)] = None
    source: Annotated[SnippetSource | None, BeforeValidator(_or_none)] = None
    status: Annotated[QueueStatus | None, BeforeValidator(_or_none)] = None
    age: Annotated[Age | None, BeforeValidator(_or_none)] = None
    after: Annotated[int, Field(ge=0, le=2**62, description="place in the queue where a page begins")] = 0

    def filter(self, time: datetime) -> Filter:
        """Return what to ask the queue for, `time` being now."""
        edge = time - timedelta(days=_DAYS[self.age]) if self.age else None
        older = self.age is Age.OLDER
        return Filter(
            flag=self.flag,
            library=self.library,
            family=self.family,
            source=self.source,
            status=self.status,
            raised_after=None if older else edge,
            raised_before=edge if older else None,
        )

    def query(self, **other: object) -> str:
        """Return this as the query of an address, with some of it set otherwise; empty where it takes all."""
        fields = {name: value for name, value in (self.model_dump() | other).items() if value}
        return f"?{urlencode(fields)}" if fields else ""


class Body(BaseModel):
    """Something that a page sends; a field that nobody declared is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class NextBody(Body):
    """The wish for the next sample: which, and after which place in the queue."""

    filters: Filters = Filters()
    after: int = Field(0, ge=0, le=2**62)


class DecisionBody(Body):
    """A decision as the page sends it; `content` is the hash of what the annotator saw, `flags` the kinds."""

    kind: DecisionKind
    objection: Objection | None = None
    comment: str = ""
    after: dict[str, str] = Field(default_factory=dict)
    content: str | None = None
    flags: frozenset[FlagKind] | None = None


class BulkBody(Body):
    """One decision on several samples."""

    ids: tuple[SampleId, ...] = Field(min_length=1)
    kind: DecisionKind
    objection: Objection | None = None
    comment: str = ""
