"""Reviews in a file: samples with their decisions go out, and decisions that were made elsewhere come in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec
from sqlalchemy import select

from pipeline.core.errors import CodedError
from pipeline.core.vocabularies.annotation import DecisionKind, Objection, QueueStatus
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.quality.annotation.database import decisions, samples
from pipeline.quality.annotation.decisions import DecisionError, NewDecision, decide
from pipeline.quality.annotation.entries import Decision, Sample
from pipeline.quality.annotation.queue import Filter, UnknownSample, look, page
from pipeline.quality.annotation.store import Store

_AT_ONCE = 200
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class BadLine(CodedError, ValueError):
    """A line, or a task, that cannot be read: the message says what is wrong with it."""


class Raised(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why a sample is in the queue."""

    kind: FlagKind
    evidence: str


class Ruling(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A decision in a file; without a time it is of now, without `content` of the sample as it is."""

    annotator: str = msgspec.field(name="who")
    kind: DecisionKind
    time: datetime | None = None
    objection: Objection | None = None
    comment: str = ""
    after: dict[str, str] = {}
    seconds: float | None = None
    content: str | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        if self.time is not None and self.time.tzinfo is None:
            raise ValueError(f"time: {self.time.isoformat()} says no time zone")
        if self.time is not None and not _FIRST <= self.time <= _LAST:
            raise ValueError(f"time: {self.time.isoformat()} is out of range")
        if self.seconds is not None and not 0 <= self.seconds < math.inf:
            raise ValueError(f"seconds: {self.seconds} is no duration")


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sample in a file: what it is, why it is there, its texts (`fields` may be edited), and its decisions."""

    id: str
    family: Family
    library: str
    version: str
    title: str
    source: SnippetSource
    status: QueueStatus
    content: str
    flags: list[Raised]
    texts: dict[str, str]
    fields: list[str]
    decisions: list[Ruling]


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of a file: decisions that were added (`edits` of them wait for validation), and those known already.

    `refused` says of each decision that could not be taken whose it is, of which sample, and why.
    """

    added: int
    existing: int
    edits: tuple[int, ...]
    refused: tuple[str, ...]


def export_lines(store: Store, criteria: Filter) -> Iterator[Line]:
    """Yield the samples that a filter takes, in the order of the queue."""
    after: int | None = 0
    while after is not None:
        batch = page(store, criteria, after, _AT_ONCE)
        for entry in batch.entries:
            try:
                sample = look(store, entry.id)
            except UnknownSample:
                continue  # a refresh has taken it out meanwhile
            yield line_of(sample)
        after = batch.after


def line_of(sample: Sample) -> Line:
    """Return a sample as it stands in a file; decisions on what it was before stay behind."""
    entry, view = sample.entry, sample.view
    return Line(
        id=entry.id,
        family=entry.family,
        library=entry.library,
        version=entry.version,
        title=entry.title,
        source=entry.source,
        status=entry.status,
        content=entry.content,
        flags=[Raised(flag.kind, flag.evidence) for flag in entry.flags],
        texts={pane.name: pane.text for pane in view.panes} | {choice.name: choice.value for choice in view.choices},
        fields=sorted(view.content),
        decisions=[_ruling(decision, entry.content) for decision in sample.history if decision.of_this],
    )


def import_lines(store: Store, lines: Iterable[Line], origin: str) -> Imported:
    """Add the decisions of a file that are not there yet; one that cannot be taken stops no other."""
    added = existing = 0
    edits: list[int] = []
    refused: list[str] = []
    for line in lines:
        for ruling in line.decisions:
            if _exists(store, line.id, ruling):
                existing += 1
                continue
            try:
                decided = decide(store, line.id, ruling.annotator, _new_decision(ruling, line, origin))
            except DecisionError as error:
                refused.append(f"{line.id}, {ruling.kind} by {ruling.annotator}: {error}")
                continue
            added += 1
            edits += [decided.decision_id] if ruling.kind == DecisionKind.EDIT else []
    return Imported(added, existing, tuple(edits), tuple(refused))


_DECODER = msgspec.json.Decoder(Line)
"""Made once: two threads that meet a type for the first time end the process (msgspec 0.22)."""


def read_line(text: bytes) -> Line:
    """Read a line of JSON.

    Errors: BadLine.
    """
    try:
        return _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadLine(str(error), code="decision_line_invalid") from None


def write_line(line: Line) -> bytes:
    """Return a sample as a line of JSON, without the end of the line."""
    return msgspec.json.encode(line)


def _ruling(decision: Decision, content: str) -> Ruling:
    return Ruling(
        annotator=decision.annotator,
        kind=decision.kind,
        time=decision.time,
        objection=decision.objection,
        comment=decision.comment,
        after=decision.after,
        seconds=decision.seconds,
        content=content,
    )


def _new_decision(ruling: Ruling, line: Line, origin: str) -> NewDecision:
    return NewDecision(
        kind=ruling.kind,
        objection=ruling.objection,
        comment=ruling.comment,
        after=ruling.after,
        content=ruling.content or line.content,
        flags=frozenset(raised.kind for raised in line.flags),
        origin=origin,
        time=ruling.time,
        seconds=ruling.seconds,
    )


def _exists(store: Store, sample_id: str, ruling: Ruling) -> bool:
    """Say whether a decision is there already: by the same person, at the same time, with the same words."""
    if ruling.time is None:
        return False
    query = (
        select(decisions.c.after, decisions.c.comment)
        .join(samples, samples.c.seq == decisions.c.seq)
        .where(samples.c.id == sample_id, decisions.c.who == ruling.annotator, decisions.c.time == ruling.time)
        .where(decisions.c.kind == ruling.kind, decisions.c.objection.is_not_distinct_from(ruling.objection))
    )
    with store.reading() as connection:
        rows = connection.execute(query).all()
    return any(row.after == ruling.after and row.comment == ruling.comment.strip() for row in rows)
