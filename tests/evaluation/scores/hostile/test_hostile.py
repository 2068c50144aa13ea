"""Hostile answers of each family: none is right, none is left out, and each fools a harness that does not part them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.evaluation.scores.planning import Sources, plan
from pipeline.evaluation.scores.runs import UNJUDGED, CaseRun
from pipeline.evaluation.scores.tasks import Task
from pipeline.execution.sandbox.environment import bare_environment
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation import harness
from pipeline.execution.validation.cases import Case, limits_of, specifications, variables
from pipeline.execution.validation.judging import judge
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.server import Server
from tests.evaluation.scores.hostile.answers import ENDLESS, FUNCTIONS, PROGRAMS, UNREADABLE
from tests.evaluation.scores.hostile.naive import beside_outputs, beside_tests

HEAD = "import textwrap\n\n\ndef solve(text, width):\n"
RIGHT = "return textwrap.wrap(text, width)"
TESTS = """import pytest
from sample import solve

def test_stated_1():
    assert solve('a b c d e', 3) == ['a b', 'c d', 'e']

def test_return_type_1():
    assert isinstance(solve('a b', 3), list)

def test_recorded_1():
    assert solve('ab cd ef', 2) == ['ab', 'cd', 'ef']

def test_recorded_2():
    with pytest.raises(ValueError):
        solve('a b', 0)
"""
CHECKS: list[Any] = [
    {"statement": "from textwrap import wrap\n", "expected": None, "options": []},
    {"statement": "wrap('a b c', 3)\n", "expected": "['a b', 'c']\n", "options": []},
]
REFERENCE = "from textwrap import wrap\nwrap('a b c', 3)\n"
SOURCES = Sources(
    {"s": {"id": "s", "preamble": "", "code": REFERENCE, "checks": CHECKS}},
    {"lock": {"import_names": ["textwrap", "pytest"]}},
    {},
    None,
)
ROWS: Mapping[Family, Any] = {
    Family.PROBLEM: {
        "starting_code": HEAD,
        "hidden_tests": TESTS,
        "test": "assert solve('a b c', 3) == ['a b', 'c']\n",
        "module": "sample",
        "lock_id": "lock",
    },
    Family.FUNCTION: {
        "granularity": "block",
        "masked_code": f"{HEAD}    [block-mask]\n",
        "core_token": "wrap",
        "tests": TESTS,
        "module": "sample",
        "lock_id": "lock",
    },
    Family.MIGRATION: {
        "target_snippet_id": "s",
        "target_rewrite_id": None,
        # No name is required, so that the answers are run.
        "source_code": "",
        "target_path": "lib.nothing",
        "target_code": REFERENCE,
        "target_lock_id": "lock",
    },
}


def program(attack: tuple[str, str]) -> str:
    """Return a whole program, which answers a problem as well as the block of a function."""
    beside, body = attack
    return f"{beside}\n{HEAD}{textwrap.indent(body, '    ')}\n"


ANSWERS = {
    Family.PROBLEM: {name: program(attack) for name, attack in FUNCTIONS.items()},
    Family.FUNCTION: {name: program(attack) for name, attack in FUNCTIONS.items()},
    Family.MIGRATION: PROGRAMS,
}
RIGHT_ANSWERS = {Family.PROBLEM: f"    {RIGHT}\n", Family.FUNCTION: RIGHT, Family.MIGRATION: REFERENCE}


@pytest.fixture(scope="module")
def rules() -> ValidationRules:
    changed = {"repeats": 1, "time_s": 3.0, "memory_mib": 1024}
    return load(RULES / "validation.yaml", ValidationRules).model_copy(update=changed)


def cases_of(family: Family, answers: Mapping[str, str]) -> dict[str, Case]:
    """Return the cases of answers, several of each: all their tests count."""
    found: dict[str, Case] = {}
    for name, answer in answers.items():
        for run in plan(Task("t", family, ROWS[family], ()), answer, SOURCES):
            assert isinstance(run, CaseRun)
            found[f"{name}, {run.metric}"] = run.case
    return found


def forked(cases: Mapping[str, Case], rules: ValidationRules) -> Iterator[tuple[str, Outcome]]:
    """Run cases as forks of one server, without the fresh process in which failures are confirmed.

    Right answers, whose names begin with "right", have a minute: the machine may be busy, and they must end.
    """
    hurried = limits_of(Case("", "", ""), rules)
    patient = replace(hurried, time_s=60.0)
    server: Server | None = None
    for name, case in cases.items():
        (specification,) = specifications(case, rules, 0)
        limits = patient if name.startswith("right") else hurried
        if server is None:
            server = Server(bare_environment(), find_sandbox(), patient, variables(rules, 0))
            load = ["textwrap", "pytest"]
            assert server.start(harness.opening([specification.sent], load, last=False)).problem is None
        try:
            seen = server.run(specification.sent, limits)
        except (harness.NoAnswer, OSError):
            server.end()
            server = None
            yield name, Outcome.SANDBOX_VIOLATION
            continue
        if not seen.clean:
            server.end()
            server = None
        yield name, judge(seen, specification.judge).outcome
    if server:
        server.end()


@pytest.mark.parametrize("family", list(ANSWERS))
def test_no_hostile_answer_passes_or_is_left_out(family: Family, rules: ValidationRules) -> None:
    answers = {"right": RIGHT_ANSWERS[family], **ANSWERS[family]}
    if family is Family.MIGRATION:
        answers |= UNREADABLE
    assert len(answers) > 60
    outcomes = dict(forked(cases_of(family, answers), rules))
    right = {name for name, outcome in outcomes.items() if outcome is Outcome.PASSED}
    assert right == {name for name in outcomes if name.startswith("right, ")}
    assert [name for name, outcome in outcomes.items() if outcome in UNJUDGED] == []


def test_answers_that_never_end_are_wrong_in_bounded_time(rules: ValidationRules) -> None:
    answers = {name: program(attack) for name, attack in ENDLESS.items()}
    cases = {name: case for name, case in cases_of(Family.PROBLEM, answers).items() if name.endswith(", pass")}
    outcomes = dict(forked(cases, rules))
    assert len(outcomes) == len(ENDLESS)
    assert not {Outcome.PASSED, *UNJUDGED} & set(outcomes.values()), outcomes


@pytest.mark.slow(2)
@pytest.mark.parametrize("family", list(ANSWERS))
def test_every_hostile_answer_is_wrong_in_a_fresh_process_too(family: Family, rules: ValidationRules) -> None:
    cases = [*cases_of(family, ANSWERS[family]).values()]
    results = run_cases(bare_environment(), cases, find_sandbox(), rules, workers=2)
    assert not {Outcome.PASSED, *UNJUDGED} & {result.outcome for result in results}


@pytest.mark.slow(2)
@pytest.mark.parametrize("family", list(ANSWERS))
def test_each_fools_a_harness_that_has_the_tests_beside_the_answer(family: Family, rules: ValidationRules) -> None:
    scripts = naive_scripts(family, {"wrong": WRONG[family], **ANSWERS[family]}, rules.options)
    long = rules.model_copy(update={"time_s": 60.0})
    outcomes = dict(forked({name: Case("", "", script) for name, script in scripts.items()}, long))
    held = {name for name, outcome in outcomes.items() if outcome is Outcome.FAILED_ASSERTION}
    assert held == {"wrong"}


WRONG = {
    Family.PROBLEM: "    return ['wrong']\n",
    Family.FUNCTION: "return ['wrong']",
    Family.MIGRATION: "print(['wrong'])\n",
}


def naive_scripts(family: Family, answers: Mapping[str, str], options: Sequence[str]) -> dict[str, str]:
    """Return the scripts of the naive harness for answers."""
    cases = {name: case for name, case in cases_of(family, answers).items() if name.endswith(", pass")}
    if family is Family.MIGRATION:
        scripts = {name: beside_outputs([*map(dict, case.checks)], tuple(options)) for name, case in cases.items()}
    else:
        scripts = {name: beside_tests(case.code, TESTS) for name, case in cases.items()}
    return {name.removesuffix(", pass"): script for name, script in scripts.items()}
