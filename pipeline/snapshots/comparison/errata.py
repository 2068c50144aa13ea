"""Errata: removed and corrected rows with their reasons, and the removed rows as the split `deprecated`."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.compute as pc

from pipeline.core.vocabularies.snapshots import ErratumReason
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.lake.ids import sha256_text
from pipeline.lake.rows import AnyRow, ErratumRow, RejectRow, ReviewRow, SurvivalRow, Tables
from pipeline.lake.schema import SchemaError, table
from pipeline.snapshots.comparison.reasons import Reason, Reasons
from pipeline.snapshots.format.manifest import OtherVersion
from pipeline.snapshots.format.places import LINES, PLACES, pairs_at_places
from pipeline.snapshots.format.reader import DATA, DEPRECATED, Snapshot
from pipeline.snapshots.format.rows import TABLES, Rows

log = logging.getLogger(__name__)

CONCERNED = (*INSTANCE_TABLES, "changes")
"""The configurations whose removed rows have errata."""

_JUDGED = (
    *("versicode_tag", "libevolutioneval_tag", "category", "gitchameleon_category", "discriminating", "breaking"),
    *("replacement", "code", "answer", "solution", "test", "hidden_tests", "tests", "reference", "middle"),
    *("source_code", "target_code"),
)
"""Columns with task, answer and labels: another value there is an erratum."""

_LONGEST = 80

_IDS = ("id", "library", "version")
_PLACED = (column for columns in PLACES.values() for column in columns)
_RELEASES = ("releases", "compatible", "change_id")
_SOURCES = ("function_id", "snippet_id", "target_snippet_id", "project_id", "language")
_COMPARED = frozenset((*_IDS, *_JUDGED, *_RELEASES, *LINES, *_PLACED, *_SOURCES))
"""The columns that are read of every row; the others, contexts above all, are most of the bytes of a snapshot."""

_OF_SNIPPETS = ("id", "path", "version", "file", "place", "line")


@dataclass(frozen=True, slots=True)
class Errata:
    """The rows of `errata`, and the rows of the split `deprecated` by configuration."""

    rows: list[ErratumRow] = field(default_factory=list)
    deprecated: dict[str, list[AnyRow]] = field(default_factory=dict)


def errata_of(
    last: Path | None,
    tables: Mapping[str, Sequence[AnyRow]],
    rejects: Sequence[RejectRow],
    reviews: Sequence[ReviewRow] = (),
    survivals: Sequence[SurvivalRow] = (),
) -> Errata:
    """Return errata for the rows of the last snapshot that are removed or corrected in the new one.

    `tables` are the rows of the new snapshot by configuration, `rejects`, `reviews` and `survivals` those of the lake.
    Rows of libraries that are no longer covered have no errata. Errata of the last snapshot are carried on; a row that
    is current again leaves the split `deprecated`, and its errata are marked `restored`. Equal input gives equal rows,
    also where the new snapshot has become the last one.

    Errors: SnapshotError where the last snapshot cannot be read.
    """
    if last is None:
        return Errata()
    snapshot = Snapshot(last)
    earlier = snapshot.rows("errata") if snapshot.has("errata") else []
    narrow, ids = (tables.only(_COMPARED), tables.only(_IDS)) if isinstance(tables, Rows) else (tables, tables)
    present = {config: {row["id"] for row in ids.get(config, ())} for config in CONCERNED}
    errata = [row | {"restored": row["restored"] or _is_back(row, present)} for row in earlier]
    covered = (
        tables.covered if isinstance(tables, Rows) else {row["library"] for rows in tables.values() for row in rows}
    )
    before: Tables = {"snippets": snapshot.rows("snippets", _OF_SNIPPETS) if snapshot.has("snippets") else []}
    reasons = Reasons(ids, before, rejects, reviews, survivals)
    deprecated: dict[str, list[AnyRow]] = {}
    for config in CONCERNED:
        old = [row for row in _compared_columns(snapshot, config) if row["library"] in covered]
        removed = [row for row in old if row["id"] not in present[config]]
        named = _named(config, last.name, old, removed, narrow.get(config, ()), reasons)
        carried = _whole(snapshot, config, DEPRECATED)
        carried += (
            _whole(snapshot, config, DATA, pc.field("id").isin([row["id"] for row in removed])) if removed else []
        )
        carried_on = [row for row in carried if row["id"] not in present[config]]
        errata += named
        if carried_on:
            deprecated[config] = carried_on
    in_split = {(config, row["id"]) for config, rows in deprecated.items() for row in rows}
    return Errata([row | {"kept": (row["config"], row["row_id"]) in in_split} for row in errata], deprecated)


def _compared_columns(snapshot: Snapshot, config: str) -> list[AnyRow]:
    """Return the compared columns of the rows, as far as they were published."""
    return [*snapshot.read(config, snapshot.columns(config) & _COMPARED).to_pylist()] if snapshot.has(config) else []


def _whole(snapshot: Snapshot, config: str, split: str, where: pc.Expression | None = None) -> list[AnyRow]:
    """Return the rows that are valid in today's tables; a warning counts the others."""
    if not snapshot.has(config, split):
        return []
    try:
        rows: Sequence[AnyRow] = snapshot.read(config, where=where, split=split).to_pylist()
    except OtherVersion as error:
        log.warning("the withdrawn rows of %s are not carried on: %s", config, error)
        return []
    fitting = [row for row in rows if _fits(config, row)]
    if len(fitting) < len(rows):
        other = f"{len(rows) - len(fitting)} withdrawn rows of {config}"
        log.warning("%s are not carried on: %s has values in them that are none today", other, snapshot.folder)
    return fitting


def _is_back(erratum: ErratumRow, present: Mapping[str, set[str]]) -> bool:
    """Say whether a removed row is current again; a corrected one was never removed."""
    gone = erratum["reason"] != ErratumReason.CORRECTED
    return gone and erratum["row_id"] in present.get(erratum["config"], ())


def _fits(config: str, row: AnyRow) -> bool:
    """Say whether a row of an older snapshot is valid in today's table."""
    try:
        table(TABLES[config]).check(row)
    except SchemaError:
        return False
    return True


def _named(
    config: str, last: str, old: Sequence[AnyRow], removed: Sequence[AnyRow], new: Sequence[AnyRow], reasons: Reasons
) -> list[ErratumRow]:
    """Return the errata of a configuration's rows: removed ones, and corrected ones."""
    before = {row["id"]: row for row in old}
    added = [row for row in new if row["id"] not in before]
    successors = {earlier["id"]: other["id"] for earlier, other in pairs_at_places(config, removed, added)}
    gone = [
        _erratum(config, last, row, reasons.of(config, row, successors.get(row["id"])), successors.get(row["id"]))
        for row in removed
    ]
    stay = ((before[row["id"]], row) for row in new if row["id"] in before)
    corrected = ((earlier, corrections(earlier, other)) for earlier, other in stay)
    return gone + [
        _erratum(config, last, row, Reason(ErratumReason.CORRECTED, "; ".join(changes)))
        for row, changes in corrected
        if changes
    ]


def _erratum(config: str, last: str, row: AnyRow, reason: Reason, successor: str | None = None) -> ErratumRow:
    return {
        "config": config,
        "row_id": row["id"],
        "library": row["library"],
        "version": row["version"] if "version" in row else row["new_version"],
        "last_snapshot": last,
        "reason": reason.reason,
        "stage": reason.stage,
        "reject_reason": reason.reject_reason,
        "detail": reason.detail,
        "successor_id": successor,
        "kept": False,
        "restored": False,
    }


def corrections(old: AnyRow, new: AnyRow) -> list[str]:
    """Return the differences of two rows of the same id in task, answer and labels: column: old -> new."""
    columns = [column for column in _JUDGED if column in old and column in new]
    pairs: list[tuple[str, object, object]] = [(column, old[column], new[column]) for column in columns]
    if "compatible" in old and "compatible" in new:
        # a release that came since is no other answer to the question of before
        both = {*old["releases"]} & {*new["releases"]}
        before, after = ([version for version in row["compatible"] if version in both] for row in (old, new))
        pairs.append(("compatible", before, after))
    return [f"{column}: {_short(before)} -> {_short(after)}" for column, before, after in pairs if before != after]


def _short(value: object) -> str:
    """Return a value as text; a long one as its beginning and its hash."""
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… (sha256 {sha256_text(str(value))[:12]})"
