"""What the queue hands out: entries of a list, samples that are open, and what was decided."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping

from pipeline.core.vocabularies.annotation import DecisionKind, Objection, QueueStatus
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.quality.annotation.view import View


@dataclass(frozen=True, slots=True)
class Flag:
    """Why a sample is in the queue, with the evidence."""

    kind: FlagKind
    evidence: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A sample as the list shows it; `content` is the hash of what is judged, `open_by` who has it open now."""

    id: str
    seq: int
    family: Family
    library: str
    version: str
    title: str
    source: SnippetSource
    flags: tuple[Flag, ...]
    status: QueueStatus
    twice: bool
    content: str
    raised: datetime
    open_by: str | None


@dataclass(frozen=True, slots=True)
class Validation:
    """What came of running an edit: `problem` says what is wrong where it did not pass; `runs` are rows of verdicts."""

    passed: bool
    problem: str | None
    runs: tuple[dict[str, Any], ...]
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """One row of the history of a sample.

    `of_this` tells whether it holds for the sample as it is now, `counts` whether it is where its annotator stands;
    `validation` is the newest run of an edit.
    """

    id: int
    annotator: str
    time: datetime
    kind: DecisionKind
    objection: Objection | None
    comment: str
    before: dict[str, str]
    after: dict[str, str]
    settles: bool
    undoes: int | None
    seconds: float | None
    origin: str
    of_this: bool
    counts: bool
    validation: Validation | None


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample with all that is shown of it and its history, oldest decision first.

    `hidden` decisions are not shown yet, since the sample is to be judged a second time without them.
    """

    entry: Entry
    view: View
    history: tuple[Decision, ...]
    hidden: int = 0


def entry_of(row: RowMapping, open_by: str | None) -> Entry:
    """Make an entry of a row of `samples`."""
    return Entry(
        id=row["id"],
        seq=row["seq"],
        family=Family(row["family"]),
        library=row["library"],
        version=row["version"],
        title=row["title"],
        source=SnippetSource(row["source"]),
        flags=tuple(Flag(FlagKind(kind), evidence) for kind, evidence in row["flags"]),
        status=QueueStatus(row["status"]),
        twice=row["twice"],
        content=row["content"],
        raised=row["raised"],
        open_by=open_by,
    )
