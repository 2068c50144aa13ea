"""LibEvolutionEval's files (2412.04478): completions in their context and API documents, one file a version."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import groupby

from packaging.version import Version

from pipeline.corpus.usages.text import parse_program
from pipeline.evaluation.export.format import Format, Further, Layout, Placed, Record, Result
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import (
    AnyRow,
    ApiDocumentRow,
    PublishedCompletionRow,
    PublishedContextRow,
    PublishedControlledCompletionRow,
)
from pipeline.snapshots.format.reader import Snapshot

EXAMPLES = "data/eval_examples"
APIS = "data/package_apis"
_MASK, _HIDDEN = "[token-mask]", "TOKEN_MASK"

_LAYOUT = Layout(
    families=("contexts", "controlled_completions"),
    configs=("contexts", "controlled_completions", "api_documents"),
    added={
        "reference_call": "the whole expression: hint and target",
        "natural_language_hint": "the query, or the description that a controlled prompt has",
    },
    usage="sh evaluate.sh SCORER …",
    evaluate="""\
# SCORER is the script of the scorer; examples are in data/eval_examples, API documents in data/package_apis.
exec python3 "$@"
""",
    notes=(
        "`prompt` is the imports, `left_context` and `code_str`, the first part of the expression; `target` is the rest"
        " of the expression, and what a completion is compared with",
        "data/eval_examples/<library>_realistic is the realistic scenario, <library>_controlled the one made from"
        " documentation; data/package_apis has the API documents of every version that has an example",
        "`meta_data` has id, library, version, completion type and granularity; `comment_str` is the comment of the"
        " version-aware setting",
        "other occurrences of the API's name in a context are [token-mask]; the original does not mask them",
        "references give EM, edit similarity and F1 of the sets of identifiers 1.0, empty answers 0.0",
    ),
)


def libevolutioneval(snapshot: Snapshot) -> Iterator[Result]:
    """Yield the contexts, controlled completions and API documents of a snapshot as records, version by version."""
    completions = {row["id"]: row for row in snapshot.rows("completions")}
    releases: set[tuple[str, str]] = set()
    for row in snapshot.rows("contexts"):
        completion = completions[row["completion_id"]]
        record = context_record(row, completion)
        yield Placed(_examples("realistic", completion), record, "contexts", row, context_row(record))
        releases.add((completion["library"], completion["version"]))
    for controlled in snapshot.rows("controlled_completions"):
        record = controlled_record(controlled)
        columns = controlled_row(record)
        yield Placed(_examples("controlled", controlled), record, "controlled_completions", controlled, columns)
        releases.add((controlled["library"], controlled["version"]))
    yield from _documents(snapshot.rows("api_documents"), releases)


def _documents(documents: Iterable[ApiDocumentRow], releases: Iterable[tuple[str, str]]) -> Iterator[Result]:
    """Yield the documents that hold in each of some releases, grouped by library."""
    versions: dict[str, list[str]] = {}
    for library, version in sorted(releases, key=lambda release: (release[0], Version(release[1]))):
        versions.setdefault(library, []).append(version)
    for library, rows in groupby(documents, key=lambda row: row["library"]):
        documented, placed = list(rows), set()
        for version in versions.get(library, ()):
            file = f"{APIS}/{library}/{file_of(version)}"
            for row in holding_at(documented, version):
                record = document_record(row)
                if row["id"] in placed:
                    yield Further(file, record)
                else:
                    yield Placed(file, record, "api_documents", row, {**document_row(record), "library": library})
                placed.add(row["id"])


def context_record(row: PublishedContextRow, completion: PublishedCompletionRow) -> Record:
    """Return the context of a completion as LibEvolutionEval has it."""
    return {
        "prompt": row["imports"] + row["left_context"] + row["hint"],
        "target": row["reference_call"].removeprefix(row["hint"]),
        "code_str": row["hint"],
        "left_context": row["left_context"],
        "right_context": row["right_context"],
        "right_context_few_lines": row["right_context_few_lines"],
        "imports": imported_names(row["imports"]),
        "comment_str": row["version_comment"],
        "api": completion["path"],
        "reference_call": row["reference_call"],
        "natural_language_hint": row["query"] or "",
        "meta_data": _meta_data(completion),
    }


def imported_names(imports: str) -> list[str]:
    """Return the dotted names that import statements bind; a masked name is left out."""
    names = []
    # A mask in an import stands for a name.
    for node in ast.walk(parse_program(imports.replace(_MASK, _HIDDEN)) or ast.Module([], [])):
        module = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        if isinstance(node, ast.Import | ast.ImportFrom):
            names += [".".join([*module, alias.name]) for alias in node.names]
    return [name.removesuffix(f".{_HIDDEN}") for name in names if name != _HIDDEN]


def context_row(record: Record) -> AnyRow:
    """Return the columns of `published_contexts` that can be read from a record."""
    left = record["left_context"]
    return {
        "completion_id": record["meta_data"].get("id"),
        "library": record["meta_data"].get("library"),
        "left_context": left,
        "hint": record["code_str"],
        "right_context": record["right_context"],
        "right_context_few_lines": record["right_context_few_lines"],
        "imports": record["prompt"].removesuffix(left + record["code_str"]),
        "version_comment": record["comment_str"],
        "reference_call": record["reference_call"],
        "query": record.get("natural_language_hint") or None,
    }


def controlled_record(row: PublishedControlledCompletionRow) -> Record:
    """Return a controlled completion as LibEvolutionEval has it; its right context is empty."""
    return {
        "prompt": row["left_context"] + row["hint"],
        "target": row["reference_call"].removeprefix(row["hint"]),
        "code_str": row["hint"],
        "left_context": row["left_context"],
        "right_context": "",
        "right_context_few_lines": "",
        "imports": imported_names(row["left_context"]),
        "comment_str": f"# {row['library']}=={row['version']}",
        "api": row["path"],
        "reference_call": row["reference_call"],
        "natural_language_hint": row["description"],
        "meta_data": _meta_data(row),
    }


def controlled_row(record: Record) -> AnyRow:
    """Return the columns of `published_controlled_completions` that can be read from a record."""
    about = record["meta_data"]
    return {
        "id": about.get("id"),
        "library": about.get("library"),
        "version": about.get("version"),
        "path": record["api"],
        "left_context": record["left_context"],
        "hint": record["code_str"],
        "reference_call": record["reference_call"],
        "description": record["natural_language_hint"],
        "access": about.get("completion_type"),
        "libevolutioneval_tag": about.get("granularity"),
    }


def document_record(row: ApiDocumentRow) -> Record:
    """Return the documentation of an API as LibEvolutionEval has it."""
    return {
        "API_Call": row["path"],
        "Signature": f"{row['path']}{row['signature'] or ''}",
        "Detailed_Description": row["description"],
        "Parameters": {parameter["name"]: parameter["description"] or "" for parameter in row["parameters"]},
    }


def document_row(record: Record) -> AnyRow:
    """Return the columns of `api_documents` that can be read from a record."""
    return {
        "path": record["API_Call"],
        "signature": record["Signature"].removeprefix(record["API_Call"]) or None,
        "description": record["Detailed_Description"],
    }


def _meta_data(row: PublishedCompletionRow | PublishedControlledCompletionRow) -> Record:
    return {
        "id": row["id"],
        "library": row["library"],
        "version": row["version"],
        "completion_type": str(row["access"]),
        "granularity": str(row["libevolutioneval_tag"]),
    }


def _examples(scenario: str, row: PublishedCompletionRow | PublishedControlledCompletionRow) -> str:
    return f"{EXAMPLES}/{row['library']}_{scenario}/{file_of(row['version'])}"


def file_of(version: str) -> str:
    """Return the name of a version's file: v_2_0_0.jsonl of 2.0.0."""
    return f"v_{version.replace('.', '_')}.jsonl"


def version_of(file: str) -> str | None:
    """Return the version in a file name, None where there is none."""
    stem = file.rpartition("/")[2].removesuffix(".jsonl")
    return stem.removeprefix("v_").replace("_", ".") if stem.startswith("v_") else None


FORMAT = Format(
    layout=_LAYOUT,
    results=lambda snapshot, unpack: libevolutioneval(snapshot),
    recognised_by=(
        frozenset({"prompt", "code_str"}),
        frozenset({"prompt", "target", "api"}),
        frozenset({"API_Call", "Signature"}),
    ),
)
