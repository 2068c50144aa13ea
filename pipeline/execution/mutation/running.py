"""Mutants run with tests that somebody wrote, where no inputs can be told from expectations."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.mutation.operators import mutants_of
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import MutationScore
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner


def hurried(runner: Runner, rules: MutationRules) -> Runner:
    """Return a runner for mutants: each runs once, and for as long as the rules allow."""
    return replace(runner, rules=runner.rules.model_copy(update={"repeats": 1, "time_s": rules.time_s}))


def score_by_tests(
    reference: Case,
    lines: Collection[int],
    family: Family,
    environment: Environment,
    runner: Runner,
    rules: MutationRules,
) -> MutationScore:
    """Return how many mutants of a case's code, changed in some lines, its tests kill; none is known as equivalent."""
    mutants = mutants_of(reference.code, lines, rules.mutants[family])
    cases = [
        replace(reference, id=f"{reference.id} mutant {number}", code=mutant.text, cover=False)
        for number, mutant in enumerate(mutants)
    ]
    quick = hurried(runner, rules)
    results = run_cases(environment, cases, quick.sandbox, quick.rules, quick.workers, memory=quick.memory)
    able = [result for result in results if result.outcome is not Outcome.HARNESS_ERROR]
    return MutationScore(len(able), sum(result.outcome is not Outcome.PASSED for result in able))
