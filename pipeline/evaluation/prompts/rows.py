"""What a prompt is made of: the rows of a family with what stands in other tables of the snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.prompts import Given
from pipeline.families.all_families import BY_NAME
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import ApiDocumentRow
from pipeline.lake.schema import Row
from pipeline.snapshots.format.reader import Snapshot

_RETRIEVED = (Given.BM25, Given.EMBEDDING)


@dataclass(frozen=True, slots=True)
class Attempt:
    """An answer that failed: the code as it was answered, and the trace of the visible test."""

    solution: str
    trace: str


Attempts = Mapping[str, Attempt]
"""Failed answers by the id of the row."""


def rows_of(
    snapshot: Snapshot, family: Family, given: Sequence[Given], attempts: Attempts
) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a family with their ids, in the order of the snapshot.

    A context has the columns of its completion too, and its id. What else is given stands in `documents`, rows of
    `api_documents`, the best first, which may be none, and in `attempt`, which may be None.

    Errors: those of the snapshot's `rows`.
    """
    documents = _documents(snapshot, family, given)
    for row_id, row in _joined(snapshot, family):
        added: Row = {}
        if documents is not None:
            added["documents"] = documents.of(row_id, row)
        if Given.ATTEMPT in given:
            added["attempt"] = attempts.get(row_id)
        yield row_id, row | added


def _joined(snapshot: Snapshot, family: Family) -> Iterator[tuple[str, Row]]:
    declared = BY_NAME[family]
    rows = snapshot.rows(declared.table)
    if declared.view_of is None:
        yield from ((row[declared.key], row) for row in rows)
        return
    shown = {row["id"]: row for row in snapshot.rows(BY_NAME[declared.view_of].table)}
    for row in rows:
        yield row[declared.key], shown[row[declared.key]] | row


class _Documents:
    """The documents of a snapshot: by what was retrieved for a row, or by the paths that the row names."""

    def __init__(self, documents: Iterable[ApiDocumentRow], retrievals: Iterable[Row]) -> None:
        self._by_id: dict[str, Row] = {}
        self._by_path: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in documents:
            self._by_id[row["id"]] = row
            self._by_path[row["library"], row["path"]].append(row)
        self._retrieved: dict[str, list[Row]] = defaultdict(list)
        for row in sorted(retrievals, key=lambda row: (row["completion_id"], row["rank"])):
            self._retrieved[row["completion_id"]].append(self._by_id[row["document_id"]])

    def of(self, row_id: str, row: Row) -> list[Row]:
        """Return the documents of a row, the best first."""
        if row_id in self._retrieved:
            return self._retrieved[row_id]
        named = (self._by_path.get((row["library"], path), []) for path in row.get("documented_paths", ()))
        return [document for group in named for document in holding_at(group, row["version"])]


def _documents(snapshot: Snapshot, family: Family, given: Sequence[Given]) -> _Documents | None:
    retrievers = [one for one in _RETRIEVED if one in given]
    if not retrievers and Given.DOCUMENTS not in given:
        return None
    retrievals = snapshot.rows("retrievals") if retrievers and family is Family.CONTEXT else []
    wanted = (row for row in retrievals if row["retriever"] in retrievers)
    return _Documents(snapshot.rows("api_documents"), wanted)
