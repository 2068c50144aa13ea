"""Mutants of code in a project, run with the project's own tests."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from pipeline.mutation import MutationRules, MutationScore, mutants_of
from pipeline.repository.project import Project, Variant
from pipeline.repository.running import TestRun
from pipeline.terms import Family, Outcome, TestOutcome

FURTHER_TESTS = 20
"""Tests at most that are run on mutants beside those of a row: where these notice too little, some are taken in."""


@dataclass(frozen=True, slots=True)
class MutatedCode:
    """Code of a project that is changed in some of its lines, and the tests that may notice that."""

    id: str
    path: str
    text: str
    lines: Collection[int]
    tests: Sequence[str]


def mutant_variants(code: MutatedCode, family: Family, rules: MutationRules) -> list[Variant]:
    """Return the project with each mutant of the code; none where the file does not parse."""
    try:
        mutants = mutants_of(code.text, code.lines, rules.mutants[family])
    except SyntaxError:
        return []
    return [
        Variant(f"{code.id} mutant {number}", code.tests, {code.path: mutant.text})
        for number, mutant in enumerate(mutants)
    ]


def hurried(project: Project, rules: MutationRules) -> Project:
    """Return a project whose tests have as much time as the rules allow a mutant."""
    return replace(project, rules=project.rules.model_copy(update={"test_time_s": rules.time_s}))


def kills_of(runs: Sequence[TestRun]) -> list[frozenset[str]]:
    """Return for each mutant the tests that notice it; one that the harness could not run is left out."""
    able = [run for run in runs if run.outcome is not Outcome.HARNESS_ERROR]
    return [frozenset(test for test, outcome in run.judged.items() if _is_noticed(run, outcome)) for run in able]


def _is_noticed(run: TestRun, outcome: TestOutcome) -> bool:
    # A program that ends the process of the tests has failed all of them.
    return run.outcome is not Outcome.PASSED or outcome is not TestOutcome.PASSED


def noticing(tests: Sequence[str], further: Sequence[str], killing: Sequence[Collection[str]]) -> list[str]:
    """Return tests with those of the further ones, as few as it takes, that notice mutants which they do not."""
    chosen = [*tests]
    left = [kills for kills in killing if kills and not any(test in kills for test in chosen)]
    while left:
        able = [test for test in further if any(test in kills for kills in left)]
        if not able:
            break
        best = max(able, key=lambda test: sum(test in kills for kills in left))
        chosen.append(best)
        left = [kills for kills in left if best not in kills]
    return chosen


def score_of(
    tests: Collection[str], every: Collection[str], killing: Sequence[Collection[str]], rules: MutationRules
) -> MutationScore:
    """Return which mutants some tests notice; one that none of `every` test notices is equivalent.

    That needs so many further tests as the rules say.
    """
    killed = sum(any(test in kills for test in tests) for kills in killing)
    unnoticed = sum(not kills for kills in killing)
    is_known = len(set(every) - set(tests)) >= rules.min_further_inputs
    return MutationScore(len(killing), killed, unnoticed if is_known else 0)
