"""Functions without a docstring become tasks where a model writes what they are to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pipeline.core.vocabularies.projects import RequirementBasis
from pipeline.core.vocabularies.review import RejectReason
from pipeline.families.repository_tasks.llm_specifications import Required, RequirementWriter, Undocumented
from pipeline.families.repository_tasks.project_context import ProjectContext
from pipeline.families.repository_tasks.specification import required
from pipeline.families.repository_tasks.tasks import repository_tasks_stage
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.llm.writers import Refusal
from tests.families.problems.examples import MUTATION
from tests.families.repository_tasks.conftest import trace


@pytest.fixture(scope="module")
def traced(project_context: ProjectContext) -> Output:
    return trace(project_context)


def make(project_context: ProjectContext, traced: Output, writer: RequirementWriter | None = None) -> Output:
    tables: Any = {name: list(rows) for name, rows in traced.by_table.items()}
    return repository_tasks_stage(tables, project_context=project_context, mutation=MUTATION, writer=writer)


@pytest.fixture(scope="module")
def tasks(project_context: ProjectContext, traced: Output) -> Output:
    return make(project_context, traced)


def by_name(rows: Any) -> dict[str, Any]:
    return {row["namespace"]: row for row in rows}


@dataclass
class Requirements:
    """Answers for every function that it is asked about, or why not."""

    refusal: Refusal | None = None
    asked: list[str] = field(default_factory=list)

    def require(self, functions: Sequence[Undocumented]) -> list[Required]:
        self.asked += [function.namespace for function in functions]
        told = ("Round a value to whole cents.", {"value": "what to round"}, "the cents")
        return [Required(None if self.refusal else required(one.node, *told), self.refusal) for one in functions]


NOT_TAKEN = Refusal("it copies the body", False, "model-1", "0" * 64, 3, 90, 70)


@pytest.mark.parametrize(
    ("refusal", "reason", "notes"),
    [
        (None, None, []),
        (replace(NOT_TAKEN, waiting=True), RejectReason.DRAFT_WAITING, []),
        (NOT_TAKEN, RejectReason.NO_TEXT, [RejectReason.DRAFT_REFUSED]),
    ],
    ids=["written", "waiting", "refused"],
)
def test_a_model_writes_what_functions_without_a_docstring_are_to_do(
    project_context: ProjectContext,
    traced: Output,
    tasks: Output,
    refusal: Refusal | None,
    reason: Any,
    notes: list[Any],
) -> None:
    short = replace(project_context, rules=project_context.rules.model_copy(update={"min_body_lines": 1, "tasks": 4}))
    writer = Requirements(refusal)
    output = make(short, traced, writer)
    assert len(writer.asked) == 1, "as many as there are places"
    made = by_name(output.tables["repository_tasks"])
    before = by_name(tasks.tables["repository_tasks"])
    assert {name: made[name] for name in before} == before, "the documented ones stay"
    assert [note.reason for note in output.notes] == notes
    (asked,) = (row["id"] for row in traced.tables["traced_functions"] if row["namespace"] == writer.asked[0])
    refused = {reject.key: reject.reason for reject in output.rejects}
    if refusal is None:
        for name in set(made) - set(before):
            assert made[name]["requirement_basis"] is RequirementBasis.MODEL
            assert made[name]["functionality"] == "Round a value to whole cents."
            table("repository_tasks").check(made[name])
    else:
        assert refused[asked] is reason


def test_documented_functions_fill_all_places_without_a_model(project_context: ProjectContext, traced: Output) -> None:
    few = replace(project_context, rules=project_context.rules.model_copy(update={"min_body_lines": 1, "tasks": 3}))
    writer = Requirements()
    make(few, traced, writer)
    assert writer.asked == []
