"""A small library with instances of both tables, made by the real stages, for the tests of flags and acceptance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Granularity, Language, SnippetSource, VersionEvidence
from pipeline.execution.validation.rules import ValidationRules
from pipeline.families.completions_and_migrations.foreign import LibraryNames
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.stage import instances_stage
from pipeline.lake.rows import (
    BlockCompletionRow,
    ChangeRow,
    CompletionRow,
    DraftRow,
    MigrationRow,
    RefusedDraftRow,
    ReleaseRow,
    SnippetRow,
    VerdictRow,
)
from pipeline.llm.rules import DraftingRules
from pipeline.llm.stage import drafting_stage
from pipeline.quality.flags.subjects import READS
from tests.families.completions_and_migrations.rows import (
    CODEMODS,
    LIBRARY,
    START,
    TAGGING,
    change,
    document,
    life,
    probe,
    releases,
    snippet,
    usages,
    verdict,
)

STATED = [{"statement": "x", "expected": "7\n", "options": []}]
OLD = snippet("x = fetch(1)\nprint(x, 1)\n", "lib.fetch", "1.0", "1.1", checks=STATED)
NEW = snippet("x = load(1)\nprint(x, 1)\n", "lib.load", "2.0", checks=STATED)
POST = snippet("import org.lib.Page;\n\nPage page = new Page(1);\npage.show();\n", "", "2.0") | {
    "path": None,
    "language": Language.JAVA,
    "source": SnippetSource.STACK_OVERFLOW,
    "version_evidence": VersionEvidence.TEXT,
    "version_statement": "title: lib 2.0",
    "origin": "stack_overflow:1",
    "place": "1/2",
    "url": "https://example.org/a/2",
    "title": "Show a page",
    "licence": "CC-BY-SA-4.0",
    "purl": None,
}
RENAMED = change(ChangeKind.RENAMED, "lib.fetch", "1.1", "2.0", new="lib.load", confidence=1.0)

FOREIGN = {LIBRARY: LibraryNames(("org.lib",))}
EXECUTABLE_SOURCES = load(RULES / "validation.yaml", ValidationRules).executable_sources


@dataclass(frozen=True)
class World:
    """The tables of a library in which lib.fetch of 1.0 and 1.1 is lib.load in 2.0, and all was run as it should."""

    completions: list[CompletionRow]
    migrations: list[MigrationRow]
    drafts: list[DraftRow]
    snippets: list[SnippetRow]
    changes: list[ChangeRow]
    releases: list[ReleaseRow] = field(
        default_factory=lambda: releases("0.9", "1.0", "1.1", "2.0", start=START - timedelta(days=30))
    )
    verdicts: list[VerdictRow] = field(default_factory=list)
    block_completions: list[BlockCompletionRow] = field(default_factory=list)
    refused_drafts: list[RefusedDraftRow] = field(default_factory=list)

    def but(self, **tables: Any) -> World:
        """The same with other tables."""
        return replace(self, **tables)

    def with_run(self, subject: str, version: str, outcome: Outcome, detail: str | None = None) -> World:
        """The same with another verdict, in place of the one on the same subject and version."""
        kept = [row for row in self.verdicts if (row["subject_id"], row["version"]) != (subject, version)]
        return replace(self, verdicts=[*kept, verdict(subject, version, outcome, detail=detail)])

    def tables(self, **others: Sequence[Any]) -> Any:
        """The tables that flags are made from; those that are not given have no rows."""
        return {name: getattr(self, name, []) for name in READS} | others

    def one(self, table: str, version: str) -> Any:
        """The only instance of a table at a version."""
        (row,) = (row for row in getattr(self, table) if row["version"] == version)
        return row


def world() -> World:
    """Make the library."""
    snippets, rows = [OLD, NEW, POST], releases("0.9", "1.0", "1.1", "2.0", start=START - timedelta(days=30))
    lives = [life("lib.fetch", "1.0", "1.1", removed_in="2.0"), life("lib.load", "2.0", "2.0", introduced=True)]
    result = [use for row in (OLD, NEW) for use in usages(row, {"fetch": "lib.fetch", "load": "lib.load"})]
    masking = load(RULES / "masking.yaml", MaskingRules).model_copy(update={"granularities": (Granularity.TOKEN,)})
    tables = instances_stage(
        {
            "releases": rows,
            "snippets": snippets,
            "usages": result,
            "symbols": [],
            "changes": [RENAMED],
            "behaviours": [],
            "lifecycles": lives,
        },
        TAGGING,
        masking,
        FOREIGN,
        CODEMODS,
        EXECUTABLE_SOURCES,
    ).tables
    documents = [
        document("lib.fetch", "Get the page of it.", "1.0", "1.1"),
        document("lib.load", "Get a page of it.", "2.0"),
    ]
    completions, migrations = list(tables["completions"]), list(tables["migrations"])
    drafting = load(RULES / "drafting.yaml", DraftingRules)
    drafts = drafting_stage(
        {"completions": completions, "migrations": migrations, "snippets": snippets, "documents": documents}, drafting
    ).tables["drafts"]
    blocks = list(tables["block_completions"])
    return World(completions, migrations, list(drafts), snippets, [RENAMED], rows, _runs(), blocks)


def _runs() -> list[Any]:
    return [
        *(verdict(OLD["id"], version) for version in ("1.0", "1.1")),
        verdict(OLD["id"], "2.0", Outcome.API_MISSING),
        verdict(NEW["id"], "2.0"),
        verdict(NEW["id"], "1.1", Outcome.API_MISSING),
        probe("lib.fetch", "1.1", Outcome.PASSED),
        probe("lib.fetch", "2.0", Outcome.API_MISSING),
        probe("lib.load", "2.0", Outcome.PASSED),
        probe("lib.load", "1.1", Outcome.API_MISSING),
    ]
