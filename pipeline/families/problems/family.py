"""The family of problems: a function to be written for one release, with tests."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.core.vocabularies.families import Family
from pipeline.execution.validation.cases import Case
from pipeline.families.family import (
    CODE_OF_OTHERS,
    PLACE_OF_CODE,
    TAGS,
    Hidden,
    InstanceFamily,
    Pane,
    Program,
    Proof,
    Proofs,
)
from pipeline.lake.rows import PublishedProblemRow


def _problem(row: PublishedProblemRow) -> Iterator[Proof]:
    program = row["starting_code"] + row["solution"]
    yield Program(row["lock_id"], Case("", "", program, test_file=row["hidden_tests"], module=row["module"]))
    yield Program(row["lock_id"], Case("", "", program, test=row["test"]))


PROBLEMS = InstanceFamily(
    name=Family.PROBLEM,
    stages=("problems", "problems_acceptance"),
    needs=("usages",),
    advice=("no example with a stated output makes a task", "see curation_rules/problems.yaml; or " + CODE_OF_OTHERS),
    reference="solution",
    setting="gitchameleon-greedy",
    scoring=("api_calls", "starting_code", "solution"),
    running=("test", "hidden_tests", "module", "lock_id"),
    place=PLACE_OF_CODE,
    question=("library", "version", "problem", "starting_code", "solution"),
    hidden=Hidden("target_entity"),
    judged=("version", "path", "problem", "starting_code", "solution", "test", "hidden_tests", *TAGS),
    edited=("problem", "starting_code", "solution", "test", "hidden_tests", *TAGS),
    panes=(
        Pane("problem", "Problem", "text"),
        Pane("starting_code", "Starting code"),
        Pane("solution", "Solution"),
        Pane("test", "Visible test"),
        Pane("hidden_tests", "Hidden tests"),
    ),
    own_runs=True,
    environments="problem_environments",
    proofs=Proofs(("starting_code", "solution", "test", "hidden_tests", "module", "lock_id"), _problem),
)
