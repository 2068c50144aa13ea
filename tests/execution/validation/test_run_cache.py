"""What ran once is not run again, unless something that decides how it comes out has changed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.processes import Launch
from pipeline.execution.sandbox.sandbox import Program, Sandbox
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.run_cache import RunCache, case_key, remembered, run_key
from pipeline.execution.validation.running import run_cases
from tests.errors import raises

CASES = [
    Case("passes", "import json\n", "json.dumps(2)\n", import_names=("json",), cover=True),
    Case("misses", "import json\n", "json.nothing\n", import_names=("json",)),
    Case("waits", "", "import time\ntime.sleep(60)\n"),
]


class Idle(Sandbox):
    """A sandbox of the same kind in which nothing may be run."""

    __slots__ = ("_kind",)

    def __init__(self, kind: str) -> None:
        self._kind = kind

    @property
    def kind(self) -> str:
        return self._kind

    def launch(self, program: Program) -> AbstractContextManager[Launch]:
        raise AssertionError(f"run again: {program.argv}")


@pytest.fixture
def memory(tmp_path: Path) -> RunCache:
    return RunCache(tmp_path / "runs.sqlite")


def test_the_second_time_nothing_runs_but_what_was_too_slow(
    memory: RunCache, environment: Environment, sandbox: Sandbox, rules: ValidationRules
) -> None:
    hurried = rules.model_copy(update={"time_s": 1.0, "repeats": 2})
    first = run_cases(environment, CASES, sandbox, hurried, memory=memory)
    assert [result.outcome for result in first] == [Outcome.PASSED, Outcome.API_MISSING, Outcome.TIMED_OUT]
    renamed = [replace(case, id=f"again {case.id}") for case in CASES[:2]]
    again = run_cases(environment, renamed, Idle(sandbox.kind), hurried, memory=memory)
    assert again == [replace(result, id=f"again {result.id}") for result in first[:2]]
    with raises(AssertionError, "run again"):
        run_cases(environment, CASES[2:], Idle(sandbox.kind), hurried, memory=memory)


def test_what_decides_a_result_is_in_its_key(
    environment: Environment, sandbox: Sandbox, rules: ValidationRules
) -> None:
    case, place = CASES[0], run_key(environment)
    keys = {
        case_key(case, place, sandbox, rules),
        case_key(replace(case, code="json.dumps(3)\n"), place, sandbox, rules),
        case_key(replace(case, checks=[{"statement": 0, "kind": "value", "expected": "8"}]), place, sandbox, rules),
        case_key(replace(case, cover=False), place, sandbox, rules),
        case_key(case, {**place, "lock_id": "another"}, sandbox, rules),
        case_key(case, place, Idle("another"), rules),
        case_key(case, place, sandbox, rules.model_copy(update={"repeats": rules.repeats + 1})),
    }
    assert len(keys) == 7
    assert case_key(replace(case, id="other"), place, sandbox, rules) in keys


@pytest.mark.parametrize("known", [[], [0], [1, 2], [0, 1, 2]])
def test_results_stand_in_the_order_of_their_keys(memory: RunCache, known: Sequence[int]) -> None:
    results = [Result(f"case {n}", Outcome.PASSED, f"detail {n}", 0.5, n) for n in range(3)]
    keys = ["a", "b", "c"]
    memory.keep({keys[n]: results[n] for n in known})
    asked: list[int] = []

    def run(places: list[int]) -> list[Result]:
        asked.extend(places)
        return [results[place] for place in places]

    assert remembered(memory, keys, Result, run) == results
    assert asked == [n for n in range(3) if n not in known]
