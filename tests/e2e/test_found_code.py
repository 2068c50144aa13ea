"""Code of others goes through every stage of analysis beside docstrings, without being run."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pipeline.api.history.stage import lifecycle_stage
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Language, SnippetSource
from pipeline.corpus.snippets.stage import snippets_stage
from pipeline.corpus.usages.stage import usage_stage
from pipeline.corpus.usages.text import source_of
from pipeline.execution.validation.runs import plan_runs
from pipeline.families.completions_and_migrations.stage import instances_stage
from pipeline.lake.schema import table
from pipeline.lake.stage import Output, as_tables
from pipeline.llm.stage import drafting_stage
from pipeline.quality.all_rules import CurationRules
from pipeline.quality.flags.flags import flags_stage
from pipeline.quality.flags.subjects import READS
from tests.corpus.snippets.rows import sample_row
from tests.corpus.usages.rows import LIB, surfaces

RULES = CurationRules.read()
RELEASES, SURFACE = surfaces(
    {
        "1": LIB,
        "2": {**LIB, "lib/sub.py": LIB["lib/sub.py"].replace('"helper"', '"helper", "assist"') + "def assist(): ...\n"},
    }
)
FOUND = [
    sample_row("from lib.sub import assist\n\n\ndef work(things):\n    for thing in things:\n        assist()\n    return things\n", "2"),
    sample_row("from lib import make\n\nX = make(1)\nprint(X.plain())\n", "2", SnippetSource.GITHUB),
    sample_row(">>> from lib import find\n>>> find('a')\n1\n", "2", SnippetSource.STACK_OVERFLOW),
    sample_row("import lib\nlib.things()\n", "2", SnippetSource.DOCUMENTATION),
    sample_row('import org.lib.Maker;\nvar x = new Maker();\nx.make();\n', "9-jre", SnippetSource.STACK_OVERFLOW, language=Language.JAVA, place="1/2"),
]  # fmt: skip


@pytest.fixture(scope="module")
def tables() -> dict[str, list[Any]]:
    """The tables of the library from snippets to flags, each checked against its declaration."""
    known = {"releases": RELEASES, "symbols": list(SURFACE.tables["symbols"])}
    known["documents"] = list(SURFACE.tables["documents"])

    def take(made: Output) -> None:
        for name, rows in made.by_table.items():
            for row in rows:
                table(name).check(row)
            known[name] = list(rows)

    def of(*names: str) -> Any:
        return {name: known[name] for name in names}

    quality = RULES.quality.licences
    take(
        snippets_stage(
            {**of("releases", "documents", "symbols"), "code_samples": FOUND},
            rules=RULES.snippets,
            files=RULES.python_files,
            licences=quality,
            usage=RULES.usage,
        )
    )
    take(usage_stage(of("releases", "snippets", "symbols"), rules=RULES.usage))
    take(
        lifecycle_stage(
            {
                "releases": known["releases"],
                "symbols": known["symbols"],
                "importable_names": SURFACE.tables["importable_names"],
            },
            RULES.lifecycle,
        )
    )
    take(
        instances_stage(
            of("releases", "snippets", "usages", "symbols", "changes", "lifecycles"),
            tagging=RULES.lifecycle,
            rules=RULES.masking,
            foreign={},
            codemods=RULES.codemods,
            executable_sources=RULES.validation.executable_sources,
        )
    )
    completions, migrations = known["completions"], known["migrations"]
    fails = RULES.quality.fails_in_target
    take(
        drafting_stage(
            {
                "completions": completions,
                "migrations": migrations,
                "snippets": known["snippets"],
                "documents": known["documents"],
            },
            RULES.drafting,
        )
    )
    take(flags_stage(as_tables({name: known.get(name, []) for name in READS}), RULES.flags, fails, RULES.drafting))
    return known  # fmt: skip


def test_every_source_comes_to_completions(tables: dict[str, list[Any]]) -> None:
    sources = {row["id"]: row["source"] for row in tables["snippets"]}
    counted = Counter(str(sources[row["snippet_id"]]) for row in tables["completions"])
    assert set(counted) == {"downstream", "github", "stack_overflow", "documentation"}
    assert all(row["masked_code"] != row["code"] for row in tables["completions"])


def test_a_completion_holds_what_the_file_gave_with_it(tables: dict[str, list[Any]]) -> None:
    codes = {row["id"]: source_of(row) for row in tables["snippets"]}
    assert all(row["code"] == codes[row["snippet_id"]] for row in tables["completions"])
    new = [row for row in tables["completions"] if row["path"] == "lib.sub.assist" and row["granularity"] == "line"]
    assert [(row["libevolutioneval_tag"], row["answer"]) for row in new] == [("introduced", "assist()")]
    assert "from lib.sub import [token-mask]" in new[0]["masked_code"]


def test_only_what_stands_alone_is_planned_to_run(tables: dict[str, list[Any]]) -> None:
    sources = {row["id"]: row["source"] for row in tables["snippets"]}
    planned = {
        name: tables[name] for name in ("releases", "snippets", "completions", "migrations", "changes", "symbols")
    }
    runs = plan_runs(**planned, executable_sources=RULES.validation.executable_sources)
    assert {str(sources[run.subject_id]) for run in runs if run.subject_id in sources} == {
        "stack_overflow",
        "documentation",
    }
    assert "9-jre" not in {run.version for run in runs}


def test_what_is_refused_is_counted() -> None:
    made = snippets_stage({"releases": RELEASES, "documents": [], "symbols": SURFACE.tables["symbols"], "code_samples": [sample_row("x = 1\n"), *FOUND]}, RULES.snippets, RULES.python_files, frozenset(), RULES.usage)  # fmt: skip
    assert Counter(reject.reason for reject in made.rejects) == {RejectReason.LICENCE: 6}
