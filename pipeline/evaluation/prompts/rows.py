"""Inputs of prompts: the rows of a family, joined with documents of the snapshot and failed attempts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from pipeline.core.errors import InputError
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.prompts import PromptInput
from pipeline.core.vocabularies.running import Outcome
from pipeline.families.all_families import BY_NAME
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import AnyRow, ApiDocumentRow, PublishedRetrievalRow
from pipeline.snapshots.format.reader import Snapshot

_RETRIEVED = (PromptInput.BM25, PromptInput.EMBEDDING)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A failed answer: its code, and the trace of the visible test."""

    solution: str
    trace: str


Attempts = Mapping[str, Attempt]
"""Failed answers by the id of the row."""


def rows_of(
    snapshot: Snapshot, family: Family, inputs: Sequence[PromptInput], attempts: Attempts
) -> Iterator[tuple[str, AnyRow]]:
    """Yield the rows of a family with their ids, in the order of the snapshot.

    A context has the columns and the id of its completion too. Further inputs are in `documents`, rows of
    `api_documents` with the best first, possibly none, and in `attempt`, possibly None. `outputs` is the text that the
    program of a completion or migration displays, empty if its run did not pass.

    Errors: those of the snapshot's `rows`.
    """
    documents = _documents(snapshot, family, inputs)
    outputs = _outputs(snapshot) if PromptInput.OUTPUTS in inputs else {}
    for row_id, row in _joined(snapshot, family):
        added: dict[str, object] = {}
        if documents is not None:
            added["documents"] = documents.of(row_id, row)
        if PromptInput.OUTPUTS in inputs:
            passed = row["reference_outcome"] == Outcome.PASSED
            added["outputs"] = outputs.get(row["snippet_id"], "") if passed else ""
        if PromptInput.ATTEMPT in inputs:
            added["attempt"] = attempts.get(row_id)
        yield row_id, {**row, **added}


def _joined(snapshot: Snapshot, family: Family) -> Iterator[tuple[str, AnyRow]]:
    declared = BY_NAME[family]
    rows = snapshot.rows(declared.table)
    if declared.view_of is None:
        yield from ((row[declared.key], row) for row in rows)
        return
    viewed = {row["id"]: row for row in snapshot.rows(BY_NAME[declared.view_of].table)}
    for row in rows:
        yield row[declared.key], {**viewed[row[declared.key]], **row}


def _outputs(snapshot: Snapshot) -> dict[str, str]:
    """Return by snippet what its statements display together, as their checks expect it."""
    return {
        row["id"]: "".join(check["expected"] or "" for check in row["checks"] if "SKIP" not in check["options"])
        for row in snapshot.rows("snippets")
    }


class _Documents:
    """The documents of a snapshot for a row: those retrieved for it, or those of the paths that it names."""

    def __init__(self, documents: Iterable[ApiDocumentRow], retrievals: Iterable[PublishedRetrievalRow]) -> None:
        self._by_id: dict[str, ApiDocumentRow] = {}
        self._by_path: dict[tuple[str, str], list[ApiDocumentRow]] = defaultdict(list)
        for row in documents:
            self._by_id[row["id"]] = row
            self._by_path[row["library"], row["path"]].append(row)
        self._retrieved: dict[str, list[ApiDocumentRow]] = defaultdict(list)
        for hit in sorted(retrievals, key=lambda row: (row["completion_id"], row["rank"])):
            self._retrieved[hit["completion_id"]].append(self._by_id[hit["document_id"]])

    def of(self, row_id: str, row: AnyRow) -> list[ApiDocumentRow]:
        """Return the documents of a row, the best first."""
        if row_id in self._retrieved:
            return self._retrieved[row_id]
        named = (self._by_path.get((row["library"], path), []) for path in row.get("documented_paths", ()))
        return [document for group in named for document in holding_at(group, row["version"])]


def _documents(snapshot: Snapshot, family: Family, inputs: Sequence[PromptInput]) -> _Documents | None:
    retrievers = [retriever for retriever in _RETRIEVED if retriever in inputs]
    if not retrievers and PromptInput.DOCUMENTS not in inputs:
        return None
    retrievals = snapshot.rows("retrievals") if retrievers and family is Family.CONTEXT else []
    relevant = (row for row in retrievals if row["retriever"] in retrievers)
    return _Documents(snapshot.rows("api_documents"), relevant)


class _Line(msgspec.Struct, frozen=True):
    id: str
    solution: str
    trace: str


def read_attempts(path: Path) -> dict[str, Attempt]:
    """Read failed answers, JSON lines with `id`, `solution` and `trace`; blank lines are passed over.

    Errors: ValueError that names file and line, for what is no such object and for an id that is there twice; OSError.
    """
    with path.open("rb") as file:
        return _read(path.name, file)


def _read(name: str, lines: Iterable[bytes]) -> dict[str, Attempt]:
    decoder = msgspec.json.Decoder(_Line)
    attempts: dict[str, Attempt] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            read = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(
                f"{name}:{number}: no object with id, solution and trace: {error}", code="trace_invalid"
            ) from None
        if read.id in attempts:
            raise InputError(
                f"{name}:{number}: {read.id!r} is there twice; leave the one that is to be shown", code="trace_twice"
            )
        attempts[read.id] = Attempt(read.solution, read.trace)
    return attempts
