"""What mutants give for the inputs of a task, of which those that the harness could not run tell nothing."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.families.problems import recording
from pipeline.families.problems.program import write
from pipeline.families.problems.stated_values import Outcome as Stated
from pipeline.families.problems.tasks import CaseOf, tasks_of
from pipeline.lake.stage import Reject
from tests.families.problems.examples import MUTATION, RULES_OF_PROBLEMS, example

CASES = [CaseOf(("1",), Stated(value="2"))]


@pytest.mark.parametrize(("outcome", "counted"), [(Outcome.TIMED_OUT, True), (Outcome.HARNESS_ERROR, False)])
def test_a_mutant_that_prints_nothing_differs_unless_the_harness_could_not_run_it(
    monkeypatch: pytest.MonkeyPatch, outcome: Outcome, counted: bool
) -> None:
    (task,) = tasks_of(example(">>> from lib import take\n>>> take(1) + 1\n2\n"), {"lib"}).tasks
    written = write(task, {"take"}, RULES_OF_PROBLEMS)

    def record(tried: Sequence[Any], *_: Any) -> list[Any]:
        assert tried
        return [SimpleNamespace(outcome=outcome, output="") for _ in tried]

    monkeypatch.setattr(recording, "record", record)
    monkeypatch.setattr(recording, "hurried", lambda runner, rules: runner)
    program: Any = recording.Mutated("p", task, written, CASES)
    nothing: Any = None
    (kills,) = recording.kills_of([program], Family.PROBLEM, nothing, nothing, MUTATION)
    assert not isinstance(kills, Reject)
    assert bool(kills) is counted
    assert all(killing == {("1",)} for killing in kills)
