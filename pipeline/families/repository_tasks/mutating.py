"""Mutants of code in a project, run with the project's own tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.mutation.operators import Mutant, mutants_of
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import MutationScore
from pipeline.families.repository_tasks.project import Variant
from pipeline.families.repository_tasks.variant_runs import TestRun


@dataclass(frozen=True, slots=True)
class MutatedCode:
    """Code of a project that is changed in some of its lines, the tests that judge it, and further ones that may."""

    id: str
    path: str
    text: str
    lines: Collection[int]
    tests: Sequence[str]
    further: Sequence[str]


@dataclass(frozen=True, slots=True)
class Noticed:
    """What tests notice of the mutants of code; `tests` are those that judge it, with those that were taken in."""

    tests: tuple[str, ...]
    score: MutationScore


def notice_mutants(
    codes: Iterable[MutatedCode],
    family: Family,
    rules: MutationRules,
    run: Callable[[Sequence[Variant]], Iterable[TestRun]],
) -> dict[str, Noticed]:
    """Run the mutants of code with its tests, and those that these do not notice with further ones; results by id.

    Each run ends at the first test that fails. A mutant that all tests pass for is equivalent where there are as many
    further ones as the rules say; only so large a share of the mutants.
    """
    by_id = {code.id: code for code in codes}
    mutants = {
        (name, number): mutant
        for name, code in by_id.items()
        for number, mutant in enumerate(_mutants(code, rules.mutants[family]))
    }
    first = _run(mutants, {name: code.tests for name, code in by_id.items()}, by_id, run)
    survivors = {key: mutants[key] for key, outcomes in first.items() if outcomes is not None and not outcomes}
    second = _run(survivors, {name: code.further for name, code in by_id.items()}, by_id, run)
    return {name: _noticed(code, first, second, rules) for name, code in by_id.items()}


Key = tuple[str, int]
"""The id of code, and the number of its mutant."""


def _mutants(code: MutatedCode, limit: int) -> list[Mutant]:
    try:
        return mutants_of(code.text, code.lines, limit)
    except SyntaxError:
        return []


def _run(
    mutants: dict[Key, Mutant],
    tests: dict[str, Sequence[str]],
    codes: dict[str, MutatedCode],
    run: Callable[[Sequence[Variant]], Iterable[TestRun]],
) -> dict[Key, list[str] | None]:
    """Return which tests notice each mutant, the first one at least; None where the harness could not run it."""
    variants = {
        f"{name} mutant {number}": Variant(
            f"{name} mutant {number}", tests[name], {codes[name].path: mutant.text}, first_failure=True
        )
        for (name, number), mutant in mutants.items()
        if tests[name]
    }
    runs = {result.id: result for result in run([*variants.values()])} if variants else {}
    return {
        (name, number): _failing(runs[f"{name} mutant {number}"])
        for name, number in mutants
        if f"{name} mutant {number}" in runs
    }


def _failing(run: TestRun) -> list[str] | None:
    """Return the tests that fail; all of them where the program under test broke the run."""
    if run.outcome is Outcome.HARNESS_ERROR:
        return None
    whole = run.outcome is Outcome.PASSED
    failing = [test for test, outcome in run.outcomes.items() if outcome is not TestOutcome.PASSED]
    # After the first failure the others are not run.
    return [test for test in failing if run.outcomes[test] is not TestOutcome.NOT_RUN or not whole] or failing


def _noticed(
    code: MutatedCode,
    first: dict[Key, list[str] | None],
    second: dict[Key, list[str] | None],
    rules: MutationRules,
) -> Noticed:
    ran = {key: failing for key, failing in first.items() if key[0] == code.id and failing is not None}
    # What further tests could not be run with is not known to be noticed or not.
    final = {key: failing or second.get(key, []) for key, failing in ran.items()}
    noticed = {key: failing for key, failing in final.items() if failing is not None}
    chosen = dict.fromkeys(failing[0] for key, failing in noticed.items() if failing and not first[key])
    unnoticed = sum(not failing for failing in noticed.values())
    is_ready = len(code.further) - len(chosen) >= rules.min_further_inputs
    equivalent = min(unnoticed, int(rules.max_equivalent_share * len(noticed))) if is_ready else 0
    score = MutationScore(len(noticed), len(noticed) - unnoticed, equivalent)
    return Noticed((*code.tests, *chosen), score)
