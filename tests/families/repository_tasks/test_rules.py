"""The shipped rules: which files are tests, which groups of requirements are for them."""

from __future__ import annotations

import pytest

from pipeline.execution.sandbox.supervise import Limits
from pipeline.families.repository_tasks.rules import RepositoryRules


@pytest.mark.parametrize(
    ("path", "is_test", "holds_tests", "is_aside"),
    [
        ("tests/test_a.py", True, True, False),
        ("a/tests/helpers.py", True, False, False),
        ("a/b_test.py", True, True, False),
        ("conftest.py", True, False, False),
        ("flask/testing.py", False, False, False),
        ("a/latest.py", False, False, False),
        ("docs/test_docs.py", True, True, True),
        ("examples/shop/tests/test_shop.py", True, True, True),
    ],
)
def test_files(rules: RepositoryRules, path: str, is_test: bool, holds_tests: bool, is_aside: bool) -> None:
    assert (rules.is_test(path), rules.holds_tests(path), rules.is_aside(path)) == (is_test, holds_tests, is_aside)


@pytest.mark.parametrize(
    ("group", "file", "rank"),
    [
        ("tests", "pyproject.toml", 0),
        ("Test", "PKG-INFO", 0),
        ("testenv", "tox.ini", 0),
        ("tests_require", "setup.py", 0),
        (None, "tests/requirements.txt", 0),
        ("dev", "requirements-dev.txt", 1),
        ("testenv:docs", "tox.ini", None),
        ("docs", "docs/requirements.txt", None),
        (None, "requirements.txt", None),
    ],
)
def test_groups(rules: RepositoryRules, group: str | None, file: str, rank: int | None) -> None:
    assert rules.rank(group, file) == rank


@pytest.mark.parametrize(("name", "needed"), [("pytest_cov", False), ("MyPy", False), ("pytest-asyncio", True)])
def test_what_tests_need(rules: RepositoryRules, name: str, needed: bool) -> None:
    assert rules.is_needed(name) is needed


def test_limits_bound_a_whole_run(rules: RepositoryRules) -> None:
    assert isinstance(rules.limits, Limits)
    assert rules.limits.time_s == rules.time_s > rules.test_time_s
