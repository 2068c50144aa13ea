"""Mutants run with tests that somebody wrote, or with stated outputs: no further inputs tell which are equivalent."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice

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
    mutants = [mutant.text for mutant in mutants_of(reference.code, lines, rules.mutants[family])]
    own = replace(reference, cover=False)
    return scores_of([own], [[replace(own, code=text) for text in mutants]], environment, runner, rules)[0]


def scores_of(
    references: Sequence[Case],
    mutants: Sequence[Sequence[Case]],
    environment: Environment,
    runner: Runner,
    rules: MutationRules,
) -> list[MutationScore]:
    """Run the mutants of references together; return how many of each are killed, none known as equivalent.

    Of a reference that does not pass itself in the time of a mutant none counts: they would be killed by time alone.
    """
    quick = hurried(runner, rules)
    groups = [[reference, *own] if own else [] for reference, own in zip(references, mutants, strict=True)]
    cases = [replace(case, id=f"{case.id} mutant {number}") for group in groups for number, case in enumerate(group)]
    results = iter(run_cases(environment, cases, quick.sandbox, quick.rules, quick.workers, memory=quick.memory))
    scores = []
    for group in groups:
        outcomes = [result.outcome for result in islice(results, len(group))]
        able = [outcome for outcome in outcomes[1:] if outcome is not Outcome.HARNESS_ERROR]
        killed = sum(outcome is not Outcome.PASSED for outcome in able)
        scores.append(MutationScore(len(able), killed) if outcomes[:1] == [Outcome.PASSED] else MutationScore())
    return scores
