"""Suites that are made for tests, and what is cut out of them."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.core.rules.load import RULES, load
from pipeline.corpus.own_tests.cutter import CutTest, NotCut, cut
from pipeline.corpus.own_tests.functions import tests_of
from pipeline.corpus.own_tests.rules import OwnTestRules
from pipeline.corpus.own_tests.suite import Suite

RULE = load(RULES / "own_tests.yaml", OwnTestRules).model_copy(update={"enabled": True})


def suite_of(files: Mapping[str, str], rules: OwnTestRules = RULE) -> Suite:
    """Return a suite of the library `demo`."""
    return Suite({path: text.encode() for path, text in files.items()}, ("demo",), rules)


def cut_all(files: Mapping[str, str], rules: OwnTestRules = RULE) -> list[CutTest | NotCut]:
    """Cut all tests of a suite."""
    suite = suite_of(files, rules)
    return [
        each for path in suite.test_files for test in tests_of(suite.module(path), suite) for each in cut(test, suite)
    ]


def program_of(files: Mapping[str, str]) -> CutTest:
    """Return the one program of a suite."""
    (made,) = cut_all(files)
    assert isinstance(made, CutTest), made
    return made


def refusal_of(files: Mapping[str, str], rules: OwnTestRules = RULE) -> NotCut:
    """Return the one refusal of a suite."""
    (made,) = (each for each in cut_all(files, rules) if isinstance(each, NotCut))
    return made
