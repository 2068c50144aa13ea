"""Examples as the snippets stage reads them from docstrings."""

from __future__ import annotations

from typing import Any

from pipeline.core.rules.load import RULES, load
from pipeline.corpus.snippets.extract import extract
from pipeline.execution.mutation.rules import MutationRules
from pipeline.families.problems.rules import ProblemRules
from pipeline.lake.rows import SnippetRow
from pipeline.llm.rules import DraftingRules
from tests.families.completions_and_migrations.rows import snippet

DRAFTING = load(RULES / "drafting.yaml", DraftingRules)
SPELLED_NAME = DRAFTING.spelled_name
RULES_OF_PROBLEMS = load(RULES / "problems.yaml", ProblemRules)
MUTATION = load(RULES / "mutation.yaml", MutationRules)


def example(
    docstring: str, path: str = "lib.take", first: str = "1.1", last: str | None = None, **columns: Any
) -> SnippetRow:
    """The snippet of the one example in a docstring."""
    (found,) = extract(docstring, 40)
    row: SnippetRow = snippet(found.code, path, first, last, checks=list(found.checks), **columns)
    return row
