"""Problems that a model wrote about changes become rows or rejects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.mutation.score import MutationScore
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.stage import Runner
from pipeline.families.problems.drafted import Text, Unwritten, WrittenProblem
from pipeline.families.problems.library import Library
from pipeline.families.problems.running import OpenEnvironment
from pipeline.families.problems.writing import write_problems
from pipeline.llm.tasks.rules import ProblemDraftRules
from tests.families.completions_and_migrations.rows import TAGGING, change
from tests.families.problems.changed_world import GOOD, KIND, TABLES, USAGE
from tests.families.problems.examples import MUTATION, RULES_OF_PROBLEMS, SPELLED_NAME
from tests.families.problems.stores import Store, environment_row

TEXT = Text(*(str(GOOD["lib.narrow"][name]) for name in
              ("statement", "starting_code", "solution", "visible_test", "hidden_tests", "other_solution")))  # fmt: skip


class Copyist:
    """Writes the same problem about every change."""

    def __init__(self, rules: ProblemDraftRules) -> None:
        self.rules = rules

    def write(self, wanted: Sequence[Unwritten], places: Mapping[str, OpenEnvironment]) -> list[WrittenProblem]:
        return [WrittenProblem(TEXT, (), None, "m", f"p{number}", 10, 20) for number, _ in enumerate(wanted)]


def place(version: str) -> OpenEnvironment:
    environment: Any = type("Built", (), {"python_version": "3.11"})()
    return OpenEnvironment(environment_row(version, environment), cast(Environment, environment))


def test_the_same_program_for_two_changes_is_one_problem_and_one_reject(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pipeline.families.problems.writing.score_by_tests", lambda *_: MutationScore(4, 4))
    changes = [
        change(ChangeKind.PARAMETER_REMOVED, "lib.narrow", "1.0", "1.1", parameter=name,
               gitchameleon_category="argument_or_attribute")
        for name in ("fill", "colour")
    ]  # fmt: skip
    others = {name: rows for name, rows in TABLES.items() if name not in ("snippets", "rewrites", "changes")}
    library = Library(**others, changes=changes, tagging=TAGGING, usage=USAGE)
    runner = Runner(
        cast(EnvironmentStore, Store({})), cast(Sandbox, None), load(RULES / "validation.yaml", ValidationRules), 1
    )
    writer = Copyist(KIND.model_copy(update={"max_per_path": 2}))
    places = {version: place(version) for version in ("1.0", "1.1")}
    made = write_problems(library, [], [], places, RULES_OF_PROBLEMS, MUTATION, writer, SPELLED_NAME, runner)
    assert [row["nano_usd"] for row in made.problems] == [20]
    (reject,) = made.rejects
    assert (reject.reason, reject.key != made.problems[0]["change_id"]) == (RejectReason.DUPLICATE, True)
    assert reject.detail.endswith(": the same program as another problem")
