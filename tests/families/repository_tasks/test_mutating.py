"""Mutants of code in a project: noticed by its tests, else by further ones, which are taken in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.running import Outcome
from pipeline.families.repository_tasks.mutating import MutatedCode, notice_mutants
from pipeline.families.repository_tasks.project import Variant
from pipeline.families.repository_tasks.variant_runs import TestRun
from tests.families.problems.examples import MUTATION

TEXT = "def f(a):\n    if a > 1:\n        return a + 1\n    return 0\n"
RULES = MUTATION.model_copy(update={"mutants": dict.fromkeys(MUTATION.mutants, 50), "min_further_inputs": 2})
ASSERTIONS = {"small": "f(0) == 0", "large": "f(5) == 6", "edge": "f(1) == 0", "none": "True", "again": "f(0) == 0"}


def ran(variant: Variant) -> TestRun:
    """Run the tests of a variant in this process, up to the first that fails."""
    (text,) = variant.replacements.values()
    namespace: dict[str, object] = {}
    exec(text, namespace)
    outcomes = dict.fromkeys(variant.tests, TestOutcome.NOT_RUN)
    for test in variant.tests:
        outcomes[test] = TestOutcome.PASSED if eval(ASSERTIONS[test], namespace) else TestOutcome.FAILED
        if outcomes[test] is TestOutcome.FAILED and variant.first_failure:
            break
    return TestRun(variant.id, Outcome.PASSED, None, outcomes, len(outcomes), None, 0.0)


@pytest.mark.parametrize(
    ("tests", "further", "judging", "killed", "equivalent"),
    [
        (["small", "large", "edge"], [], ["small", "large", "edge"], 8, 0),
        (["small", "large"], ["none", "again"], ["small", "large"], 7, 2),
        (["small", "large"], ["none"], ["small", "large"], 7, 0),
        (["small"], ["none", "edge", "large"], ["small", "edge", "large"], 8, 0),
        (["none"], [], ["none"], 0, 0),
    ],
)
def test_mutants_are_noticed(
    tests: Sequence[str], further: Sequence[str], judging: Sequence[str], killed: int, equivalent: int
) -> None:
    code = MutatedCode("f", "f.py", TEXT, range(2, 5), tests, further)
    found = notice_mutants([code], Family.SCENE, RULES, lambda variants: [ran(each) for each in variants])["f"]
    assert list(found.tests) == list(judging)
    assert (found.score.mutants, found.score.killed, found.score.equivalent) == (9, killed, equivalent)


def test_no_larger_share_counts_as_equivalent() -> None:
    """Where further tests pass, too, for most mutants, it is the tests that are weak."""
    code = MutatedCode("f", "f.py", TEXT, range(2, 5), ["none"], ["none", "again", "none"])
    rules = RULES.model_copy(update={"max_equivalent_share": 0.25})
    found = notice_mutants([code], Family.SCENE, rules, lambda variants: [ran(each) for each in variants])["f"]
    assert found.score.equivalent == 2
    assert found.score.mutants - found.score.killed > 2


def test_a_mutant_that_breaks_the_run_is_noticed_and_one_that_the_harness_could_not_run_does_not_count() -> None:
    code = MutatedCode("f", "f.py", TEXT, {3}, ["small"], ["large"])
    for outcome, counted in ((Outcome.TIMED_OUT, True), (Outcome.HARNESS_ERROR, False)):

        def broken(variants: Sequence[Variant], outcome: Outcome = outcome) -> list[TestRun]:
            lost = {"small": TestOutcome.NOT_RUN}
            return [TestRun(each.id, outcome, None, lost, 0, None, 0.0) for each in variants]

        score = notice_mutants([code], Family.SCENE, RULES, broken)["f"].score
        assert score.killed == score.mutants
        assert bool(score.mutants) is counted


def test_a_mutant_that_further_tests_could_not_be_run_with_does_not_count() -> None:
    code = MutatedCode("f", "f.py", TEXT, range(2, 5), ["small", "large"], ["none", "again"])

    def broken(variants: Sequence[Variant]) -> list[TestRun]:
        runs = [ran(each) for each in variants]
        return [replace(each, outcome=Outcome.HARNESS_ERROR) if "again" in each.outcomes else each for each in runs]

    score = notice_mutants([code], Family.SCENE, RULES, broken)["f"].score
    assert (score.mutants, score.killed, score.equivalent) == (7, 7, 0)


def test_code_that_does_not_parse_has_no_mutants() -> None:
    code = MutatedCode("f", "f.py", "def f(:\n", {1}, ["small"], [])
    assert notice_mutants([code], Family.SCENE, RULES, lambda _: [])["f"].score.mutants == 0
