"""Mutants of code in a project, run with the project's own tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.mutation.operators import HALF_ANSWERS, Mutant, mutants_of
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import MutationScore
from pipeline.families.repository_tasks.project import Variant
from pipeline.families.repository_tasks.variant_runs import TestRun


@dataclass(frozen=True, slots=True)
class MutatedCode:
    """Code of a project that is changed in some of its lines, and the tests that may judge it, the most telling first.

    As many as `least` judge it, where there are so many, and more where fewer would notice fewer mutants.
    """

    id: str
    path: str
    text: str
    lines: Collection[int]
    tests: Sequence[str]
    least: int


@dataclass(frozen=True, slots=True)
class Noticed:
    """The tests that are chosen to judge code, how many of its mutants they notice, and the others."""

    tests: tuple[str, ...]
    score: MutationScore
    unnoticed: Sequence[Mutant] = ()

    def half_answers(self, rules: MutationRules) -> str | None:
        """Return where tests pass although a part of the code is left out, if in more places than the rules allow."""
        passing = [mutant for mutant in self.unnoticed if mutant.operator in HALF_ANSWERS]
        if len(passing) <= rules.max_half_answers:
            return None
        return "tests pass without " + ", ".join(f"a {mutant.operator} of line {mutant.line}" for mutant in passing)


def notice_mutants(
    codes: Iterable[MutatedCode],
    family: Family,
    rules: MutationRules,
    run: Callable[[Sequence[Variant]], Iterable[TestRun]],
) -> dict[str, Noticed]:
    """Run all tests of code on each of its mutants, and choose those that judge it; results by id.

    A mutant that the harness could not run counts for nothing. One that all tests pass for is equivalent where more
    tests tried than were chosen, by as many as the rules say; only so large a share of the mutants. None is that leaves
    a part of the code out.
    """
    tried = [(code, _variants(code, rules.mutants[family])) for code in codes]
    variants = [variant for _, of_code in tried for _, variant in of_code]
    runs = {result.id: result for result in run(variants)} if variants else {}
    return {
        code.id: _noticed(code, [(mutant, runs[variant.id]) for mutant, variant in of_code], rules)
        for code, of_code in tried
    }


def choose_tests(tests: Sequence[str], kills: Iterable[Collection[str]], least: int) -> list[str]:
    """Return the tests that judge code: all mutants are noticed that any test notices; `kills` has the tests by mutant.

    Each is the one that notices most of the mutants that those before it do not, the first of `tests` where several do.
    Others follow in the order of `tests` until there are `least`: mutants are not all that can be wrong.
    """
    remaining = [frozenset(killing) for killing in kills if killing]
    chosen: list[str] = []
    while remaining:
        chosen.append(max(tests, key=lambda test: sum(test in killing for killing in remaining)))
        remaining = [killing for killing in remaining if chosen[-1] not in killing]
    others = [test for test in tests if test not in chosen]
    return [*chosen, *others[: max(0, least - len(chosen))]]


def _variants(code: MutatedCode, limit: int) -> list[tuple[Mutant, Variant]]:
    """Return the mutants of code, and what is to be run of each."""
    try:
        mutants = mutants_of(code.text, code.lines, limit) if code.tests else []
    except SyntaxError:
        return []
    return [
        (mutant, Variant(f"{code.id} mutant {number}", code.tests, {code.path: mutant.text}, first_time_out=True))
        for number, mutant in enumerate(mutants)
    ]


def _killing(run: TestRun) -> list[str]:
    """Return the tests that notice a mutant; all of them where it broke the run, as by an import that never ends."""
    if run.outcome is not Outcome.PASSED:
        return list(run.outcomes)
    failing = [test for test, outcome in run.outcomes.items() if outcome is not TestOutcome.PASSED]
    # After a test that runs out of time the others are not run; where none ran, the tests could not be imported.
    return [test for test in failing if run.outcomes[test] is not TestOutcome.NOT_RUN] or failing


def _noticed(code: MutatedCode, ran: Iterable[tuple[Mutant, TestRun]], rules: MutationRules) -> Noticed:
    kills = [(mutant, _killing(run)) for mutant, run in ran if run.outcome is not Outcome.HARNESS_ERROR]
    chosen = choose_tests(code.tests, [killing for _, killing in kills], code.least)
    unnoticed = [mutant for mutant, killing in kills if not killing]
    alike = sum(mutant.operator not in HALF_ANSWERS for mutant in unnoticed)
    is_ready = len(code.tests) - len(chosen) >= rules.min_further_inputs
    equivalent = min(alike, int(rules.max_equivalent_share * len(kills))) if is_ready else 0
    return Noticed(tuple(chosen), MutationScore(len(kills), len(kills) - len(unnoticed), equivalent), unnoticed)
