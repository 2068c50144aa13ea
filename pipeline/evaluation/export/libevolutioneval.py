"""LibEvolutionEval's files (2412.04478): completions in their context and API documents, one file a version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from packaging.version import Version

from pipeline.evaluation.export.format import Format, Further, Layout, Placed, Record, Result
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import (
    ApiDocumentRow,
    PublishedCompletionRow,
    PublishedContextRow,
    PublishedControlledCompletionRow,
)
from pipeline.lake.schema import Row
from pipeline.snapshots.format.reader import Snapshot

_LAYOUT = Layout(
    families=("contexts", "controlled_completions"),
    configs=("contexts", "controlled_completions", "api_documents"),
    added={
        "id": "the id of the completion, or of the controlled completion",
        "library": "name of the distribution",
        "version": "version that the code is for, as the name of the file has it",
        "completion_type": "direct or indirect",
        "granularity": "introduced, deprecated, modified or unchanged",
    },
    notes=(
        "examples/ is the realistic scenario, controlled/ the one made from documentation, documentation/ the API"
        " documents of every version that has an example",
        "the names of the fields for the reference call and the natural-language hint are not stated by the paper:"
        " here reference_call and natural_language_hint",
        "other occurrences of the API's name in a context are [token-mask]; the original does not mask them",
        "a prompt is imports, prompt, code_str; the completion is the rest of reference_call after code_str",
    ),
)


def libevolutioneval(snapshot: Snapshot) -> Iterator[Result]:
    """Yield the contexts, controlled completions and API documents of a snapshot as records, version by version."""
    completions = {row["id"]: row for row in snapshot.rows("completions")}
    releases: set[tuple[str, str]] = set()
    for row in snapshot.rows("contexts"):
        completion = completions[row["completion_id"]]
        record = context_record(row, completion)
        yield Placed(_file("examples", completion), record, "contexts", row, context_row(record))
        releases.add((completion["library"], completion["version"]))
    for row in snapshot.rows("controlled_completions"):
        record = controlled_record(row)
        yield Placed(_file("controlled", row), record, "controlled_completions", row, controlled_row(record))
        releases.add((row["library"], row["version"]))
    yield from _documents(snapshot.rows("api_documents"), releases)


def _documents(documents: Iterable[ApiDocumentRow], releases: Iterable[tuple[str, str]]) -> Iterator[Result]:
    """Yield the documents that hold in each of some releases, grouped by library."""
    versions: dict[str, list[str]] = {}
    for library, version in sorted(releases, key=lambda release: (release[0], Version(release[1]))):
        versions.setdefault(library, []).append(version)
    for library, rows in groupby(documents, key=lambda row: row["library"]):
        documented, placed = list(rows), set()
        for version in versions.get(library, ()):
            file = _file("documentation", {"library": library, "version": version})
            for row in holding_at(documented, version):
                record = document_record(row)
                if row["id"] in placed:
                    yield Further(file, record)
                else:
                    yield Placed(file, record, "api_documents", row, document_row(record) | {"library": library})
                placed.add(row["id"])


def context_record(row: PublishedContextRow, completion: PublishedCompletionRow) -> Record:
    """Return the context of a completion as LibEvolutionEval has it."""
    return {
        "id": row["completion_id"],
        "prompt": row["left_context"],
        "code_str": row["hint"],
        "right_context": row["right_context"],
        "right_context_few_lines": row["right_context_few_lines"],
        "imports": row["imports"],
        "reference_call": row["reference_call"],
        "natural_language_hint": row["query"] or "",
        **_labels(completion),
    }


def context_row(record: Record) -> Row:
    """Return the columns of `published_contexts` that can be read from a record."""
    return {
        "completion_id": record.get("id"),
        "library": record.get("library"),
        "left_context": record["prompt"],
        "hint": record["code_str"],
        "right_context": record["right_context"],
        "right_context_few_lines": record["right_context_few_lines"],
        "imports": record["imports"],
        "reference_call": record["reference_call"],
        "query": record.get("natural_language_hint") or None,
    }


def controlled_record(row: PublishedControlledCompletionRow) -> Record:
    """Return a controlled completion as LibEvolutionEval has it; its right context is empty."""
    return {
        "id": row["id"],
        "prompt": row["left_context"],
        "code_str": row["hint"],
        "right_context": "",
        "right_context_few_lines": "",
        "imports": "",
        "reference_call": row["reference_call"],
        "natural_language_hint": row["description"],
        **_labels(row),
    }


def controlled_row(record: Record) -> Row:
    """Return the columns of `published_controlled_completions` that can be read from a record."""
    return {
        "id": record.get("id"),
        "library": record.get("library"),
        "version": record.get("version"),
        "left_context": record["prompt"],
        "hint": record["code_str"],
        "reference_call": record["reference_call"],
        "description": record["natural_language_hint"],
        "access": record.get("completion_type"),
        "libevolutioneval_tag": record.get("granularity"),
    }


def document_record(row: ApiDocumentRow) -> Record:
    """Return the documentation of an API as LibEvolutionEval has it."""
    return {
        "API_Call": row["path"],
        "Signature": f"{row['path']}{row['signature'] or ''}",
        "Detailed_Description": row["description"],
        "Parameters": {parameter["name"]: parameter["description"] or "" for parameter in row["parameters"]},
    }


def document_row(record: Record) -> Row:
    """Return the columns of `api_documents` that can be read from a record."""
    return {
        "path": record["API_Call"],
        "signature": record["Signature"].removeprefix(record["API_Call"]) or None,
        "description": record["Detailed_Description"],
    }


def _labels(row: Mapping[str, Any]) -> Record:
    return {
        "library": row["library"],
        "version": row["version"],
        "completion_type": str(row["access"]),
        "granularity": str(row["libevolutioneval_tag"]),
    }


def _file(kind: str, row: Mapping[str, Any]) -> str:
    return f"{kind}/{row['library']}/{file_of(row['version'])}"


def file_of(version: str) -> str:
    """Return the name of a version's file: v_2_0_0.jsonl of 2.0.0."""
    return f"v_{version.replace('.', '_')}.jsonl"


def version_of(file: str) -> str | None:
    """Return the version in a file name, None where there is none."""
    stem = file.rpartition("/")[2].removesuffix(".jsonl")
    return stem.removeprefix("v_").replace("_", ".") if stem.startswith("v_") else None


FORMAT = Format(
    layout=_LAYOUT,
    results=lambda snapshot, unpack, unnoticed: libevolutioneval(snapshot),
    recognised_by=(frozenset({"prompt", "code_str"}), frozenset({"API_Call", "Signature"})),
)
