"""Bringing the queue up to date with the lake: new samples come in, changed ones ask again, and no decision is lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, insert, select, update

from pipeline.core.vocabularies.annotation import QueueStatus
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.lake.ids import content_id, sha256_text
from pipeline.quality.annotation.bookkeeping import put_in, settle, take_out
from pipeline.quality.annotation.database import fillings, samples, views
from pipeline.quality.annotation.entries import Flag
from pipeline.quality.annotation.store import Store
from pipeline.quality.annotation.view import View, pack

_AT_ONCE = 500  # samples for which the database is held


@dataclass(frozen=True, slots=True)
class Flagged:
    """An instance of the lake that was flagged: by its content id, with what is shown of it and what is judged.

    `content` is the hash of what is judged; while it stays, decisions count.
    """

    id: str
    family: Family
    library: str
    version: str
    title: str
    source: SnippetSource
    flags: tuple[Flag, ...]
    content: str
    view: View


@dataclass(frozen=True, slots=True)
class Filled:
    """What bringing the queue up to date came to, in samples; `again` are those that ask again."""

    added: int = 0
    again: int = 0
    updated: int = 0
    gone: int = 0

    def __add__(self, other: Filled) -> Filled:
        """Return both together."""
        added, again = self.added + other.added, self.again + other.again
        return Filled(added, again, self.updated + other.updated, self.gone + other.gone)


def fill(store: Store, library: str, flagged: Iterable[Flagged], fingerprint: str = "") -> Filled:
    """Bring the samples of a library up to date with what is flagged now, in the state of the lake of a fingerprint.

    A sample that is no longer there leaves the queue, and comes back with its decisions. One whose content changed, or
    that got another flag, asks again; decisions on what it was stay in its history.
    """
    total, flagged_ids = Filled(), set[str]()
    for group in _groups(flagged):
        flagged_ids |= {sample.id for sample in group}
        with store.writing() as connection:
            total += _fill_group(store, connection, group)
    return total + Filled(gone=_remove(store, library, flagged_ids, fingerprint))


def filled_from(store: Store, library: str) -> str | None:
    """Return the fingerprint of the lake from which a library's samples are, None where it was never read."""
    with store.reading() as connection:
        query = select(fillings.c.fingerprint).where(fillings.c.library == library)
        fingerprint: str | None = connection.execute(query).scalar()
    return fingerprint


def _fill_group(store: Store, connection: Connection, group: Sequence[Flagged]) -> Filled:
    existing = _rows_by_id(connection, [sample.id for sample in group])
    new = [sample for sample in group if sample.id not in existing]
    _add(store, connection, new)
    again = updated = 0
    for sample in group:
        row = existing.get(sample.id)
        if row is not None and (_differs(row, sample) or row["gone"]):
            again += _update(store, connection, row, sample)
            updated += 1
        elif row is not None:
            _store_view(connection, row["seq"], sample)
    return Filled(len(new), again, updated)


def _groups(flagged: Iterable[Flagged]) -> Iterator[Sequence[Flagged]]:
    group: list[Flagged] = []
    for sample in flagged:
        group.append(sample)
        if len(group) == _AT_ONCE:
            yield group
            group = []
    if group:
        yield group


def _rows_by_id(connection: Connection, ids: Sequence[str]) -> dict[str, RowMapping]:
    rows = connection.execute(select(samples).where(samples.c.id.in_(ids))).mappings()
    return {row["id"]: row for row in rows}


def _add(store: Store, connection: Connection, new: Sequence[Flagged]) -> None:
    if not new:
        return
    begun = {"status": QueueStatus.PENDING, "gone": False, "raised": store.clock()}
    rows = [_columns(sample) | begun | {"id": sample.id, "twice": drawn(store, sample.id)} for sample in new]
    adding = insert(samples).returning(samples.c.seq, sort_by_parameter_order=True)
    places = connection.execute(adding, rows).scalars().all()
    view_rows = [{"seq": seq, "data": pack(sample.view)} for seq, sample in zip(places, new, strict=True)]
    connection.execute(insert(views), view_rows)
    put_in(store, connection, [row | {"seq": seq} for seq, row in zip(places, rows, strict=True)])


def _update(store: Store, connection: Connection, row: RowMapping, sample: Flagged) -> bool:
    """Change a sample to what it is now; return whether something that was decided is to be decided again."""
    take_out(store, connection, [row])
    changed = {**row, **_columns(sample), "gone": False}
    seq = row["seq"]
    connection.execute(update(samples).where(samples.c.seq == seq).values(**_columns(sample), gone=False))
    _store_view(connection, seq, sample)
    put_in(store, connection, [changed])
    status = settle(store, connection, seq)
    return status == QueueStatus.PENDING and row["status"] != QueueStatus.PENDING


def _store_view(connection: Connection, seq: int, sample: Flagged) -> None:
    data = pack(sample.view)
    connection.execute(update(views).where(views.c.seq == seq, views.c.data != data).values(data=data))


def _differs(row: RowMapping, sample: Flagged) -> bool:
    return any(row[name] != value for name, value in _columns(sample).items())


def _columns(sample: Flagged) -> dict[str, Any]:
    kinds = sorted({flag.kind for flag in sample.flags})
    return {
        "family": sample.family,
        "library": sample.library,
        "version": sample.version,
        "title": sample.title,
        "source": sample.source,
        "flags": [[str(flag.kind), flag.evidence] for flag in sample.flags],
        "content": sample.content,
        "likeness": content_id(sample.library, sample.family, sample.title, kinds),
    }


def _remove(store: Store, library: str, flagged_ids: set[str], fingerprint: str) -> int:
    """Take out of the queue what is no longer flagged, or no longer in the lake; then the library is up to date."""
    with store.writing() as connection:
        query = select(samples).where(samples.c.library == library, ~samples.c.gone)
        gone = [row for row in connection.execute(query).mappings() if row["id"] not in flagged_ids]
        take_out(store, connection, gone)
        for row in gone:
            connection.execute(update(samples).where(samples.c.seq == row["seq"]).values(gone=True))
        done = store.insert(fillings).values(library=library, fingerprint=fingerprint)
        changed = {"fingerprint": fingerprint}
        connection.execute(done.on_conflict_do_update(index_elements=[fillings.c.library], set_=changed))
    return len(gone)


def drawn(store: Store, sample_id: str) -> bool:
    """Say whether a sample is one of the share that two people judge; the draw depends on seed and id alone."""
    twice = store.rules.twice
    return int(sha256_text(f"{twice.seed} {sample_id}")[:8], 16) / 16**8 < twice.share
