"""The queue's samples from the lake: each flagged instance with all that an annotator has to see of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import cast

import pyarrow.compute as pc
from more_itertools import first

from pipeline.core.rules.fingerprint import plain
from pipeline.core.versions import cache_version
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.samples import DocumentSource, SnippetSource
from pipeline.families.all_families import INSTANCE_TABLES, INSTANCES
from pipeline.families.family import DESCRIPTION, DescribedBy, InstanceFamily
from pipeline.families.model_migrations.tables import DRAFTED, read_with_drafted
from pipeline.families.scenes.views import cut
from pipeline.lake.ids import sha256_json
from pipeline.lake.rows import AnyRow, BlockCompletionRow, SceneRow
from pipeline.lake.tables import Lake, one_of
from pipeline.llm.rules import DraftingRules
from pipeline.quality.annotation.entries import Flag
from pipeline.quality.annotation.filling import Filled, Flagged, fill, filled_from
from pipeline.quality.annotation.panes import choices_of, panes_of
from pipeline.quality.annotation.proofs import Proofs, Values
from pipeline.quality.annotation.store import Store
from pipeline.quality.annotation.view import Fact, Link, View
from pipeline.quality.flags.reviews import block_description, reviewed_content

_READS = (
    *INSTANCE_TABLES,
    *("flags", "snippets", "projects", "project_files", "drafts", "documents", "api_documents"),
    *("changes", "verdicts", "problem_runs", "function_runs", "environments", *DRAFTED),
)

_FACTS = ("path", "granularity", "direction", "basis", "scene", "block_type", "requirement_basis", "access")
_TITLES = ("namespace", "path")


def fill_from(store: Store, lake: Lake, libraries: Iterable[str], drafting: DraftingRules) -> Filled:
    """Bring the queue up to date with the flags in the lake; libraries whose tables are the same are passed over."""
    total = Filled()
    for library in libraries:
        fingerprint = _fingerprint(lake, library, drafting)
        if filled_from(store, library) != fingerprint:
            total += fill(store, library, collect(lake, library, drafting), fingerprint)
    return total


def _fingerprint(lake: Lake, library: str, drafting: DraftingRules) -> str:
    parts = {name: [*lake.hashes(name, library).values()] for name in _READS}
    return sha256_json([cache_version("annotated_samples"), parts, plain(drafting)])


def collect(lake: Lake, library: str, drafting: DraftingRules) -> Iterator[Flagged]:
    """Yield the flagged instances of a library, family by family in the order of their ids."""
    flags: dict[str, list[Flag]] = defaultdict(list)
    for flag in lake.read("flags", library):
        flags[flag["instance_id"]].append(Flag(FlagKind(flag["kind"]), flag["evidence"]))
    if not flags:
        return
    with_flags = one_of("id", flags)
    rows = {
        family: sorted(read_with_drafted(lake, family.table, library, with_flags), key=lambda row: str(row["id"]))
        for family in INSTANCES
    }

    def values(*columns: str) -> list[str]:
        return sorted({row[name] for each in rows.values() for row in each for name in columns if row.get(name)})

    library_of = _Library(lake, library, values, drafting)
    order = list(FlagKind)
    for family in INSTANCES:
        for row in rows[family]:
            ordered = sorted(flags[row["id"]], key=lambda flag: (order.index(flag.kind), flag.evidence))
            yield library_of.flagged(family, row, tuple(ordered))


class _Library:
    """What is known of the flagged instances of a library; read once, and of long tables only what they name."""

    def __init__(self, lake: Lake, library: str, values: Values, drafting: DraftingRules) -> None:
        def named_by(column: str, key: str = "id") -> pc.Expression:
            return one_of(key, values(column))

        self._snippets = {row["id"]: row for row in lake.read("snippets", library, named_by("snippet_id"))}
        self._projects = {row["id"]: row for row in lake.read("projects", library, named_by("project_id"))}
        drafts = read_with_drafted(lake, "drafts", library, named_by("id", "subject_id"))
        self._drafts = {row["subject_id"]: row for row in drafts}
        self._documents = {row["id"]: row for row in lake.read("api_documents", library, named_by("document_id"))}
        self._proofs = Proofs(lake, library, values)
        files = lake.read("project_files", library, named_by("project_id", "project_id"))
        self._files = {(row["project_id"], row["path"]): row["text"] for row in files}
        self._drafting = drafting

    def flagged(self, family: InstanceFamily, row: AnyRow, flags: tuple[Flag, ...]) -> Flagged:
        """Return an instance as a sample of the queue."""
        description, source = self._description(family, row), self._source(row)
        title = first(row[name] for name in (*_TITLES, "core_token") if name in row)
        view = View(
            title=str(title),
            panes=panes_of(family.name, self._in_file(family, row), description),
            choices=choices_of(family.name, row, self._proofs.built),
            compare=family.compared,
            change=self._proofs.change(row),
            facts=tuple(_facts(row, source)),
            documents=self._proofs.documents(row),
            runs=self._proofs.runs(family, row),
            links=tuple(_links(source)),
        )
        content = reviewed_content(family.name, row, description)
        where = self._kind_of_source(row)
        return Flagged(row["id"], family.name, row["library"], row["version"], str(title), where, flags, content, view)

    def _in_file(self, family: InstanceFamily, row: AnyRow) -> AnyRow:
        """Return an editor scene with what is shown around the cursor."""
        if family.name != Family.SCENE:
            return row
        above, below, _ = cut(cast("SceneRow", row), self._files[row["project_id"], row["path"]])
        return {**row, "contexts_above": above, "contexts_below": below}

    def _description(self, family: InstanceFamily, row: AnyRow) -> str | None:
        if family.described_by is DescribedBy.TITLE:
            return block_description(cast("BlockCompletionRow", row), self._snippets, self._drafting)
        if family.described_by is DescribedBy.DRAFT:
            draft = self._drafts.get(row["id"])
            return draft["text"] if draft else None
        return row[DESCRIPTION] if family.described_by is DescribedBy.ROW else None

    def _source(self, row: AnyRow) -> AnyRow:
        if row.get("snippet_id"):
            return self._snippets[row["snippet_id"]]
        return (
            self._projects[row["project_id"]]
            if "project_id" in row
            else self._documents.get(row.get("document_id") or "", {})
        )

    def _kind_of_source(self, row: AnyRow) -> SnippetSource:
        if row.get("snippet_id"):
            return SnippetSource(self._snippets[row["snippet_id"]]["source"])
        if "project_id" in row:
            return SnippetSource.DOWNSTREAM
        document = self._documents.get(row.get("document_id") or "")
        of_site = document is not None and document["source"] == DocumentSource.SITE
        return SnippetSource.DOCUMENTATION if of_site else SnippetSource.DOCSTRING


def _facts(row: AnyRow, source: AnyRow) -> Iterator[Fact]:
    """Yield what else is worth knowing, of the instance and of its source."""
    for name in _FACTS:
        if row.get(name):
            yield Fact(name.replace("_", " "), str(row[name]))
    named = {"origin": "whose work", "place": "where", "file": "file", "version_statement": "what states the version"}
    named |= {"version_evidence": "how the version is known", "licence": "licence", "attribution": "attribution"}
    for name, label in named.items():
        if source.get(name):
            yield Fact(label, str(source[name]))


def _links(source: AnyRow) -> Iterator[Link]:
    """Yield the places to look at; other schemes than http and https are no links."""
    # The address of a project's file is that of a mirror.
    where = source.get("project_url") if "project_url" in source else source.get("url")
    if where and where.startswith(("https://", "http://")):
        yield Link("source", where)
