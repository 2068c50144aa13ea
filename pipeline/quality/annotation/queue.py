"""The queue as annotators walk it: filters, pages, progress, and the next sample that nobody has open.

Every function takes about as long with a hundred thousand samples as with a hundred: a filter is a walk along one
index from where the last page ended, and counts are kept, not counted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, Select, and_, case, delete, exists, func, or_, select

from pipeline.core.errors import CodedError
from pipeline.core.vocabularies.annotation import DecisionKind, QueueStatus
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.quality.annotation.database import leases, queue, samples, standings, tallies, views
from pipeline.quality.annotation.entries import Entry, Sample, entry_of
from pipeline.quality.annotation.history import history
from pipeline.quality.annotation.store import Store
from pipeline.quality.annotation.view import unpack

OPEN = (QueueStatus.PENDING, QueueStatus.DRAFT)
"""What `next_sample` hands out where a filter names no status."""


class UnknownSample(CodedError, KeyError):
    """No sample in the queue has this id."""

    code = "sample_not_in_queue"

    def __str__(self) -> str:
        return f"no sample {self.args[0]} is in the queue: it was never there, or a refresh has taken it out"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which samples: None takes all. `raised_after` (inclusive) and `raised_before` bound the age."""

    flag: FlagKind | None = None
    library: str | None = None
    family: Family | None = None
    source: SnippetSource | None = None
    status: QueueStatus | None = None
    raised_after: datetime | None = None
    raised_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the queue; `after` is where the next one begins, None at the end."""

    entries: tuple[Entry, ...]
    after: int | None


@dataclass(frozen=True, slots=True)
class Choices:
    """What filters can choose from, each with its number of samples."""

    flags: Mapping[FlagKind, int]
    libraries: Mapping[str, int]
    families: Mapping[Family, int]
    sources: Mapping[SnippetSource, int]


def page(store: Store, criteria: Filter, after: int = 0, limit: int = 50) -> Page:
    """Return the samples that a filter takes, in the order of the queue, after a place in it."""
    with store.reading() as connection:
        walk = _walk(criteria).where(queue.c.seq > after).order_by(queue.c.seq).limit(limit + 1)
        places = list(connection.execute(walk).scalars())
        entries = _entries(store, connection, places[:limit])
    return Page(entries, places[limit - 1] if len(places) > limit else None)


def progress(store: Store, criteria: Filter = Filter()) -> dict[QueueStatus, int]:
    """Return how many samples that a filter takes have each status; the filter's own status is left aside."""
    with store.reading() as connection:
        if criteria.raised_after or criteria.raised_before:
            conditions = [*_conditions(queue, criteria), *_ages(criteria)]
            query = select(queue.c.status, func.count()).where(*conditions).group_by(queue.c.status)
        else:
            query = select(tallies.c.status, func.sum(tallies.c.samples)).where(*_conditions(tallies, criteria))
            query = query.group_by(tallies.c.status)
        counted = {status: int(number) for status, number in connection.execute(query)}
    return {status: counted.get(status, 0) for status in QueueStatus}


def choices(store: Store) -> Choices:
    """Return what filters can choose from."""
    with store.reading() as connection:
        flags = _counted(connection, tallies.c.flag, tallies.c.flag != "")
        libraries, families, sources = (
            _counted(connection, column, tallies.c.flag == "")
            for column in (tallies.c.library, tallies.c.family, tallies.c.source)
        )
    return Choices(
        {kind: flags[kind] for kind in FlagKind if kind in flags},
        dict(sorted(libraries.items())),
        {family: families[family] for family in Family if family in families},
        {source: sources[source] for source in SnippetSource if source in sources},
    )


def _counted(connection: Connection, column: ColumnElement[str], of: ColumnElement[bool]) -> dict[str, int]:
    """Return the number of samples for each value of a column that has any."""
    total = func.sum(tallies.c.samples)
    query = select(column, total).where(of).group_by(column).having(total > 0)
    return {value: int(number) for value, number in connection.execute(query)}


def next_sample(store: Store, annotator: str, criteria: Filter = Filter(), after: int = 0) -> Sample | None:
    """Open the next sample for an annotator: after a place in the queue, then from its beginning; None where none is.

    It is one that nobody else has open and on which they have not decided; what they skipped comes last. Whatever they
    had open before is free again.
    """
    with store.writing(safe=False) as connection:
        connection.execute(delete(leases).where(leases.c.who == annotator))
        for start, stop, skipped in ((after, None, False), (0, after, False), (0, None, True)):
            seq = _free(store, connection, annotator, criteria, start, stop, skipped)
            if seq is not None:
                return _opened(store, connection, seq, annotator)
    return None


def open_sample(store: Store, sample_id: str, annotator: str) -> Sample:
    """Open one sample; it is this annotator's unless somebody else has it open, which `entry.open_by` then tells.

    Errors: UnknownSample.
    """
    with store.writing(safe=False) as connection:
        seq = seq_of(connection, sample_id)
        connection.execute(delete(leases).where(leases.c.who == annotator, leases.c.seq != seq))
        _lease(store, connection, seq, annotator)
        return _opened(store, connection, seq, annotator)


def look(store: Store, sample_id: str, annotator: str | None = None) -> Sample:
    """Return a sample without opening it; `who` is given where they may decide, and must not see what is hidden.

    Errors: UnknownSample.
    """
    with store.reading() as connection:
        return _opened(store, connection, seq_of(connection, sample_id), annotator)


def renew(store: Store, sample_id: str, annotator: str) -> bool:
    """Keep a sample open for longer; False where somebody else has opened it meanwhile.

    Errors: UnknownSample.
    """
    with store.writing(safe=False) as connection:
        return _lease(store, connection, seq_of(connection, sample_id), annotator)


def release(store: Store, annotator: str) -> None:
    """Let others have what an annotator has open."""
    with store.writing(safe=False) as connection:
        connection.execute(delete(leases).where(leases.c.who == annotator))


def like(store: Store, sample_id: str, limit: int = 100) -> tuple[Entry, ...]:
    """Return the samples still to be decided that are like one: of the same API and family, with the same flags.

    Errors: UnknownSample.
    """
    with store.reading() as connection:
        seq = seq_of(connection, sample_id)
        same = select(samples.c.likeness).where(samples.c.seq == seq).scalar_subquery()
        query = select(samples.c.seq).where(
            samples.c.likeness == same, samples.c.status.in_(OPEN), samples.c.seq != seq, ~samples.c.gone
        )
        places = list(connection.execute(query.order_by(samples.c.seq).limit(limit)).scalars())
        return _entries(store, connection, places)


def seq_of(connection: Connection, sample_id: str) -> int:
    """Return the place of a sample in the queue.

    Errors: UnknownSample.
    """
    query = select(samples.c.seq).where(samples.c.id == sample_id, ~samples.c.gone)
    seq: int | None = connection.execute(query).scalar()
    if seq is None:
        raise UnknownSample(sample_id)
    return seq


def _walk(criteria: Filter) -> Select[int]:
    conditions = [*_conditions(queue, criteria), *_ages(criteria)]
    if criteria.status:
        conditions.append(queue.c.status == criteria.status)
    return select(queue.c.seq).where(*conditions)


def _conditions(table, criteria: Filter) -> list[ColumnElement[bool]]:  # type: ignore[no-untyped-def]  # noqa: ANN001
    equal = {name: value for name in ("library", "family", "source") if (value := getattr(criteria, name)) is not None}
    return [table.c[name] == value for name, value in ({"flag": criteria.flag or ""} | equal).items()]


def _ages(criteria: Filter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if criteria.raised_after:
        conditions.append(queue.c.raised >= criteria.raised_after)
    if criteria.raised_before:
        conditions.append(queue.c.raised < criteria.raised_before)
    return conditions


def _free(
    store: Store, connection: Connection, annotator: str, criteria: Filter, start: int, stop: int | None, skipped: bool
) -> int | None:
    """Return the first sample of a stretch of the queue that an annotator can have, leased to them."""
    own = and_(standings.c.seq == queue.c.seq, standings.c.who == annotator)
    undecided = exists().where(own, standings.c.kind == DecisionKind.SKIP) if skipped else ~exists().where(own)
    leased = exists().where(leases.c.seq == queue.c.seq, leases.c.who != annotator, leases.c.until > store.clock())
    # One walk for each status: over both at once SQLite would step on every decided sample on its way.
    walks = [_walk(replace(criteria, status=status)) for status in ([criteria.status] if criteria.status else OPEN)]
    walks = [walk.where(queue.c.seq > start, undecided, ~leased).order_by(queue.c.seq).limit(1) for walk in walks]
    walks = [walk.where(queue.c.seq <= stop) for walk in walks] if stop is not None else walks
    while True:
        places = [seq for walk in walks if (seq := connection.execute(walk).scalar()) is not None]
        if not places or _lease(store, connection, min(places), annotator):
            return min(places, default=None)


def _lease(store: Store, connection: Connection, seq: int, annotator: str) -> bool:
    """Take or keep a sample for an annotator, unless another one has it."""
    time = store.clock()
    until = time + timedelta(seconds=store.rules.lease_s)
    taking = store.insert(leases).values(seq=seq, who=annotator, since=time, until=until)
    is_renewal = and_(leases.c.who == annotator, leases.c.until > time)
    taking = taking.on_conflict_do_update(
        index_elements=[leases.c.seq],
        set_={"who": annotator, "since": case((is_renewal, leases.c.since), else_=time), "until": until},
        where=or_(leases.c.who == annotator, leases.c.until <= time),
    )
    return connection.execute(taking.returning(leases.c.seq)).first() is not None


def _entries(store: Store, connection: Connection, places: Collection[int]) -> tuple[Entry, ...]:
    held = select(leases.c.seq, leases.c.who).where(leases.c.seq.in_(places), leases.c.until > store.clock())
    holders = {row.seq: row.who for row in connection.execute(held)}
    rows = connection.execute(select(samples).where(samples.c.seq.in_(places)).order_by(samples.c.seq)).mappings()
    return tuple(entry_of(row, holders.get(row["seq"])) for row in rows)


def _opened(store: Store, connection: Connection, seq: int, annotator: str | None) -> Sample:
    """Return a sample; whoever is to judge it as one of two does not see what the other one said."""
    data = connection.execute(select(views.c.data).where(views.c.seq == seq)).scalar_one()
    entry, decisions = _entries(store, connection, [seq])[0], history(connection, seq)
    if annotator is not None and entry.twice and entry.status in OPEN:
        own = any(decision.annotator == annotator and decision.counts for decision in decisions)
        visible = tuple(
            decision for decision in decisions if own or decision.annotator == annotator or not decision.of_this
        )
        return Sample(entry, unpack(data), visible, hidden=len(decisions) - len(visible))
    return Sample(entry, unpack(data), decisions)
