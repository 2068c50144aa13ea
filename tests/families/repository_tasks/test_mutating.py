"""Mutants of code in a project: tests are chosen so that as many as can be are noticed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.running import Outcome
from pipeline.families.repository_tasks.mutating import MutatedCode, choose_tests, notice_mutants
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
    ("tests", "least", "judging", "killed", "equivalent"),
    [
        (["small", "large", "edge"], 1, ["large", "edge"], 10, 0),
        # What no mutant needs follows in the order of the tests, until there are enough.
        (["none", "small", "again", "large", "edge"], 4, ["large", "edge", "none", "small"], 10, 0),
        (["small", "large", "none", "again"], 2, ["large", "small"], 9, 2),
        (["small", "large", "none"], 2, ["large", "small"], 9, 0),
        (["none"], 3, ["none"], 0, 0),
        ([], 3, [], 0, 0),
    ],
)
def test_tests_are_chosen_by_the_mutants_that_they_notice(
    tests: Sequence[str], least: int, judging: Sequence[str], killed: int, equivalent: int
) -> None:
    code = MutatedCode("f", "f.py", TEXT, range(2, 5), tests, least)
    found = notice_mutants([code], Family.SCENE, RULES, lambda variants: [ran(each) for each in variants])["f"]
    assert list(found.tests) == list(judging)
    assert (found.score.killed, found.score.equivalent) == (killed, equivalent)
    assert found.score.mutants == (11 if tests else 0)


@pytest.mark.parametrize(
    ("kills", "least", "chosen"),
    [
        ([], 0, ""),
        ([], 2, "ab"),
        (["c"], 2, "ca"),
        (["c", "", "c"], 1, "c"),
        # One that notices two before one that notices one; of two alike the first.
        (["bc", "c", "a"], 0, "ca"),
        (["ab", "ba"], 0, "a"),
        (["a", "b", "c", "d"], 2, "abcd"),
    ],
)
def test_the_choice_is_greedy_and_in_order(kills: Sequence[str], least: int, chosen: str) -> None:
    assert choose_tests("abcd", [set(each) for each in kills], least) == list(chosen)


def test_no_larger_share_counts_as_equivalent() -> None:
    """Where all tests pass for most mutants, it is the tests that are weak."""
    code = MutatedCode("f", "f.py", TEXT, range(2, 5), ["none"] * 4, 1)
    rules = RULES.model_copy(update={"max_equivalent_share": 0.25})
    found = notice_mutants([code], Family.SCENE, rules, lambda variants: [ran(each) for each in variants])["f"]
    assert found.score.equivalent == 2
    assert found.score.mutants - found.score.killed > 2


def test_a_mutant_that_breaks_the_run_is_noticed_and_one_that_the_harness_could_not_run_does_not_count() -> None:
    code = MutatedCode("f", "f.py", TEXT, {3}, ["small"], 1)
    for outcome, counted in ((Outcome.TIMED_OUT, True), (Outcome.HARNESS_ERROR, False)):

        def broken(variants: Sequence[Variant], outcome: Outcome = outcome) -> list[TestRun]:
            lost = {"small": TestOutcome.NOT_RUN}
            return [TestRun(each.id, outcome, None, lost, 0, None, 0.0) for each in variants]

        score = notice_mutants([code], Family.SCENE, RULES, broken)["f"].score
        assert score.killed == score.mutants
        assert bool(score.mutants) is counted


def test_after_a_test_that_runs_out_of_time_the_others_count_as_not_run() -> None:
    code = MutatedCode("f", "f.py", TEXT, {3}, ["small", "large", "edge"], 1)

    def late(variants: Sequence[Variant]) -> list[TestRun]:
        assert all(each.first_time_out for each in variants)
        ends = {"small": TestOutcome.PASSED, "large": TestOutcome.TIMED_OUT, "edge": TestOutcome.NOT_RUN}
        return [TestRun(each.id, Outcome.PASSED, None, ends, 3, None, 0.0) for each in variants]

    assert notice_mutants([code], Family.SCENE, RULES, late)["f"].tests == ("large",)


def test_code_that_does_not_parse_has_no_mutants() -> None:
    code = MutatedCode("f", "f.py", "def f(:\n", {1}, ["small"], 1)
    assert notice_mutants([code], Family.SCENE, RULES, lambda _: [])["f"].score.mutants == 0
