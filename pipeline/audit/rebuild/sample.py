"""Rebuild a sample of a snapshot's rows from their provenance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from packaging.version import Version

from pipeline.audit.rebuild import families, projects, sources
from pipeline.audit.rebuild.basis import differing_basis
from pipeline.audit.rebuild.context import RebuildContext
from pipeline.audit.rebuild.outcome import (
    NotRebuilt,
    NotReproduced,
    RebuildResult,
    RebuiltRow,
    compare_row,
    id_of,
    not_rebuilt,
)
from pipeline.core.progress import no_progress
from pipeline.core.rules.profiles import LibraryRule, Profile
from pipeline.core.settings import settings
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.core.vocabularies.snapshots import Rebuilding
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.families.completions_and_migrations.source import BrokenSource
from pipeline.index.release_selection import Period
from pipeline.lake.ids import sha256_text
from pipeline.lake.intervals import holds_at
from pipeline.lake.rows import AnyRow, DocumentRow, SnippetRow
from pipeline.orchestration.resources.resources import Resources
from pipeline.snapshots.format.reader import Snapshot

Maker = Callable[[RebuildContext, Any], RebuiltRow]

MAKERS: Mapping[str, Maker] = {
    "completions": families.completion,
    "migrations": families.migration,
    "block_completions": families.block_completion,
    "controlled_completions": families.controlled_completion,
    "compatibilities": families.compatibility,
    "problems": families.problem,
    "functions": families.function,
    "repository_tasks": projects.repository_task,
    "scenes": projects.scene,
    "contexts": families.context,
    "changes": families.change,
    "snippets": sources.snippet,
    "uses": sources.uses,
    "api_documents": sources.api_document,
    "documents": sources.document,
}
"""Functions that rebuild a row, by configuration; `uses` are all the uses of a snippet."""

DRAWN = (*INSTANCE_TABLES, "contexts", "changes")
"""The configurations that rows are drawn from; further rows are the sources of the drawn ones."""

_LIBRARIES = 2

_OF_CHANGES = ("completions", "migrations", "controlled_completions")
_CORRECTED = "probes corrected whether a change of its API breaks calls; it is the same with what the comparison said"


@dataclass(frozen=True, slots=True)
class Draw:
    """Number of rows of each configuration, whether artifacts are read, and seed."""

    rows: int
    artifacts: bool = True
    seed: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """Results of a rebuild, and the rules and versions of the snapshot that differ today."""

    results: tuple[RebuildResult, ...] = ()
    differing_basis: tuple[str, ...] = ()

    @property
    def differing(self) -> list[RebuildResult]:
        """The results of differing rows."""
        return [result for result in self.results if result.outcome is Rebuilding.DIFFERS]

    @property
    def problems(self) -> list[str]:
        """The problems of the snapshot; none where it was made with other rules or versions."""
        return [] if self.differing_basis else [result.line for result in self.differing]


def rebuild_sample(snapshot: Path, draw: Draw, report: Callable[[str, int, int], None] = no_progress) -> Sample:
    """Draw rows of a snapshot and rebuild them, with the snippets, uses and documents they come from.

    Rows are compared column by column, by bytes. They are drawn by the hash of their id, from at most two libraries of
    each configuration, so that the same snapshot gives the same sample. Artifacts come from the cache or the index.

    Errors: RuleError for invalid rule files; SnapshotError.
    """
    reader = Snapshot(snapshot)
    resources = Resources(settings(), Profile(name="verify", libraries=(LibraryRule(library="verify"),)), Period())
    seed = draw.seed or reader.sha256
    drawn: dict[str, list[tuple[str, AnyRow]]] = {}
    for config in DRAWN:
        for row in _drawn(reader, config, draw.rows, seed):
            drawn.setdefault(row["library"], []).append((config, row))
    results: list[RebuildResult] = []
    for done, (library, rows) in enumerate(sorted(drawn.items())):
        report(f"making rows of {library} again", done, len(drawn))
        context = RebuildContext(reader, library, resources, artifacts=draw.artifacts)
        results += [
            _rebuilt(context, config, row)
            for config, row in (*_prepared(context, rows), *_behind(context, rows, draw.rows))
        ]
    return Sample(tuple(results), tuple(differing_basis(reader.manifest, resources.rules)))


def _drawn(snapshot: Snapshot, config: str, count: int, seed: str) -> Sequence[AnyRow]:
    if not snapshot.has(config):
        return []
    name = "completion_id" if config == "contexts" else "id"
    by_library: dict[str, list[str]] = {}
    for row in snapshot.rows(config, (name, "library")):
        by_library.setdefault(row["library"], []).append(row[name])
    chosen = sorted(by_library, key=lambda library: sha256_text(f"{seed} {library}"))[:_LIBRARIES]
    ranked = {library: sorted(by_library[library], key=lambda key: sha256_text(f"{seed} {key}")) for library in chosen}
    # the first of each library, then the second of each
    rounds = [(place, library) for place in range(count) for library in chosen if place < len(ranked[library])]
    ids = [ranked[library][place] for place, library in rounds][:count]
    return snapshot.rows(config, where=pc.field(name).isin(ids)) if ids else []


def _prepared(context: RebuildContext, rows: Iterable[tuple[str, AnyRow]]) -> Iterator[tuple[str, AnyRow]]:
    """Add the retrieved documents to contexts."""
    for config, row in rows:
        if config == "contexts":
            hits = [hit for hit in context.tables["retrievals"] if hit["completion_id"] == row["completion_id"]]
            yield config, {**row, "hits": families.ranked(hits)}
        else:
            yield config, row


def _behind(context: RebuildContext, rows: Iterable[tuple[str, AnyRow]], count: int) -> Iterator[tuple[str, AnyRow]]:
    """Yield the sources of the drawn rows: snippets, their uses, and documents."""
    snippets = {row["snippet_id"]: context.snippets[row["snippet_id"]] for _, row in rows if row.get("snippet_id")}
    for snippet in snippets.values():
        yield "snippets", snippet
        if snippet["path"] is not None or snippet["language"] == "python":
            yield "uses", {**snippet, "uses": sources.in_order(context.usages[snippet["id"]])}
    ids = {row["document_id"] for _, row in rows if row.get("document_id")}
    yield from (("api_documents", row) for row in context.tables["api_documents"] if row["id"] in ids)
    yield from (("documents", row) for row in _documents(context, snippets.values(), count))


def _documents(context: RebuildContext, snippets: Iterable[SnippetRow], count: int) -> list[DocumentRow]:
    """Return the documents of snippets from docstrings, of at most `count` releases."""
    examples = [example for example in snippets if example["source"] == SnippetSource.DOCSTRING]
    by_id = {
        id_of(row): row
        for example in examples
        for row in context.tables["documents"]
        if row["path"] == example["path"] and holds_at(row, Version(example["version"]))
    }
    releases = sorted({row["first_version"] for row in by_id.values()}, key=lambda version: sha256_text(version))[
        :count
    ]
    documents = [row for row in by_id.values() if row["first_version"] in releases]
    return sorted(documents, key=lambda row: (row["first_version"], row["path"]))


def _rebuilt(context: RebuildContext, config: str, row: AnyRow) -> RebuildResult:
    """Rebuild a row; where it differs, once more with the labels before probes corrected them."""
    result = _attempt(context, config, row)
    if result.outcome is not Rebuilding.DIFFERS or config not in _OF_CHANGES:
        return result
    before = context.before_probes(row)
    again = _attempt(before, config, row) if before else result
    return result if again.outcome is Rebuilding.DIFFERS else replace(again, outcome=Rebuilding.PART, why=_CORRECTED)


def _attempt(context: RebuildContext, config: str, row: AnyRow) -> RebuildResult:
    try:
        return compare_row(config, row, MAKERS[config](context, row))
    except NotRebuilt as why:
        return not_rebuilt(config, row, str(why))
    except NotReproduced as why:
        if refuted := _refuted(context, row):
            return not_rebuilt(config, row, refuted)
        return RebuildResult(config, id_of(row), row["library"], Rebuilding.DIFFERS, (), str(why))
    except (LookupError, BrokenSource) as error:
        why_not = f"what it is made from is not there, or broken: {error!r}"
        return RebuildResult(config, id_of(row), row["library"], Rebuilding.DIFFERS, (), why_not)


def _refuted(context: RebuildContext, row: AnyRow) -> str:
    """Return a reason where a change of the row's API was refuted: snapshots lack it, and tags depend on it."""
    named = [
        reject
        for reject in context.tables["rejects"]
        if reject["reason"] == RejectReason.LABEL_REFUTED and f" {row.get('path')} " in f" {reject['detail']} "
    ]
    return "a change of its API was refuted, and refuted changes are not in a snapshot" if named else ""
