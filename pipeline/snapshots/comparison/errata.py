"""Errata: what a snapshot says no more, with the reason, and the rows themselves as its split `deprecated`."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.compute as pc

from pipeline.core.vocabularies.snapshots import ErratumReason
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.lake.ids import sha256_text
from pipeline.lake.rows import ErratumRow, RejectRow, ReviewRow, SurvivalRow
from pipeline.lake.schema import Row, SchemaError, table
from pipeline.snapshots.comparison.reasons import Reason, Reasons
from pipeline.snapshots.format.manifest import OtherVersion
from pipeline.snapshots.format.places import LINES, PLACES, pairs_at_places
from pipeline.snapshots.format.reader import DATA, DEPRECATED, Snapshot
from pipeline.snapshots.format.rows import TABLES, Rows

log = logging.getLogger(__name__)

CONCERNED = (*INSTANCE_TABLES, "changes")
"""The configurations whose rows are never silently away."""

_JUDGED = (
    *("versicode_tag", "libevolutioneval_tag", "category", "gitchameleon_category", "discriminating", "breaking"),
    *("replacement", "code", "answer", "solution", "test", "hidden_tests", "tests", "reference", "middle"),
    *("source_code", "target_code"),
)
"""Columns that say what is asked, what is right and how it is labelled: another value there is an erratum."""

_LONGEST = 80

_IDS = ("id", "library", "version")
_PLACED = (column for of_one in PLACES.values() for column in of_one)
_MADE_FROM = ("function_id", "snippet_id", "target_snippet_id", "project_id", "language")
_WANTED = frozenset((*_IDS, *_JUDGED, *LINES, *_PLACED, *_MADE_FROM))
"""The columns that are looked at of every row: the texts around what is asked are most of the bytes of a snapshot."""

_OF_SNIPPETS = ("id", "path", "version", "file", "place", "line")


@dataclass(frozen=True, slots=True)
class Errata:
    """The rows of `errata`, and by configuration the rows that stand in the split `deprecated`."""

    rows: list[Row] = field(default_factory=list)
    deprecated: dict[str, list[Row]] = field(default_factory=dict)


def errata_of(
    last: Path | None,
    tables: Mapping[str, Sequence[Row]],
    rejects: Sequence[RejectRow],
    reviews: Sequence[ReviewRow] = (),
    survivals: Sequence[SurvivalRow] = (),
) -> Errata:
    """Say of each row of the last snapshot what became of it, as far as it went or now says something else.

    `tables` are the rows of the new snapshot by configuration, `rejects`, `reviews` and `survivals` those of the lake.
    Rows of libraries that are no longer covered are left out: nobody said that they are wrong. What the last snapshot
    told of older ones is carried on; a row that is back among the others leaves the split `deprecated` and its errata
    say `restored`. Equal input gives equal rows, also where the new snapshot has become the last one.

    Errors: SnapshotError where the last snapshot cannot be read.
    """
    if last is None:
        return Errata()
    snapshot = Snapshot(last)
    told = snapshot.rows("errata") if snapshot.has("errata") else []
    narrow, ids = (tables.only(_WANTED), tables.only(_IDS)) if isinstance(tables, Rows) else (tables, tables)
    present = {config: {row["id"] for row in ids.get(config, ())} for config in CONCERNED}
    errata = [row | {"restored": row["restored"] or _is_back(row, present)} for row in told]
    covered = (
        tables.covered if isinstance(tables, Rows) else {row["library"] for rows in tables.values() for row in rows}
    )
    before = {"snippets": snapshot.rows("snippets", _OF_SNIPPETS) if snapshot.has("snippets") else []}
    reasons = Reasons(ids, before, rejects, reviews, survivals)
    deprecated: dict[str, list[Row]] = {}
    for config in CONCERNED:
        old = [row for row in _looked_at(snapshot, config) if row["library"] in covered]
        went = [row for row in old if row["id"] not in present[config]]
        named = _named(config, last.name, old, went, narrow.get(config, ()), reasons)
        carried = _whole(snapshot, config, DEPRECATED)
        carried += _whole(snapshot, config, DATA, pc.field("id").isin([row["id"] for row in went])) if went else []
        kept = [row for row in carried if row["id"] not in present[config]]
        errata += named
        if kept:
            deprecated[config] = kept
    in_split = {(config, row["id"]) for config, rows in deprecated.items() for row in rows}
    return Errata([row | {"kept": (row["config"], row["row_id"]) in in_split} for row in errata], deprecated)


def _looked_at(snapshot: Snapshot, config: str) -> list[Row]:
    """Return of each row what is compared, as far as its columns were published."""
    rows: list[Row] = (
        snapshot.read(config, snapshot.columns(config) & _WANTED).to_pylist() if snapshot.has(config) else []
    )
    return rows


def _whole(snapshot: Snapshot, config: str, split: str, where: pc.Expression | None = None) -> list[Row]:
    """Return rows that can stand in a file of today; a warning tells of the others, which their own snapshot has."""
    if not snapshot.has(config, split):
        return []
    try:
        rows: list[Row] = snapshot.read(config, where=where, split=split).to_pylist()
    except OtherVersion as error:
        log.warning("the withdrawn rows of %s are not carried on: %s", config, error)
        return []
    fitting = [row for row in rows if _fits(config, row)]
    if len(fitting) < len(rows):
        other = f"{len(rows) - len(fitting)} withdrawn rows of {config}"
        log.warning("%s are not carried on: %s has values in them that are none today", other, snapshot.folder)
    return fitting


def _is_back(erratum: ErratumRow, present: Mapping[str, set[str]]) -> bool:
    """Say whether a row that went stands among the others again; a corrected one never left."""
    gone = erratum["reason"] != ErratumReason.CORRECTED
    return gone and erratum["row_id"] in present.get(erratum["config"], ())


def _fits(config: str, row: Row) -> bool:
    """Say whether a row of an older snapshot has the vocabularies of today, so that it can stand in a file of today."""
    try:
        table(TABLES[config]).check(row)
    except SchemaError:
        return False
    return True


def _named(
    config: str, last: str, old: Sequence[Row], went: Sequence[Row], new: Sequence[Row], reasons: Reasons
) -> list[Row]:
    """Return the errata of a configuration's rows: those that went, and those that say something else."""
    before = {row["id"]: row for row in old}
    came = [row for row in new if row["id"] not in before]
    successors = {one["id"]: other["id"] for one, other in pairs_at_places(config, went, came)}
    gone = [
        _erratum(config, last, row, reasons.of(config, row, successors.get(row["id"])), successors.get(row["id"]))
        for row in went
    ]
    stay = ((before[row["id"]], row) for row in new if row["id"] in before)
    said = ((one, corrections(one, other)) for one, other in stay)
    return gone + [
        _erratum(config, last, row, Reason(ErratumReason.CORRECTED, "; ".join(told))) for row, told in said if told
    ]


def _erratum(config: str, last: str, row: Row, reason: Reason, successor: str | None = None) -> ErratumRow:
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


def corrections(one: Row, other: Row) -> list[str]:
    """Return what a row of the same id says otherwise now of what is asked, right or labelled: column: old -> new."""
    columns = [column for column in _JUDGED if column in one and column in other]
    return [
        f"{column}: {_short(one[column])} -> {_short(other[column])}"
        for column in columns
        if one[column] != other[column]
    ]


def _short(value: object) -> str:
    """Return a value as text; a long one by its beginning and its hash."""
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… (sha256 {sha256_text(str(value))[:12]})"


def errata_by_reason(rows: Iterable[ErratumRow]) -> dict[str, int]:
    """Count errata by their reason; those of rows that came back count as restored."""
    counts: dict[str, int] = {}
    for row in rows:
        name = "restored" if row["restored"] else str(row["reason"])
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))
