"""What is followed as a project's tests run: lines by function and test, and calls, also through decorators."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.running import Outcome
from pipeline.families.repository_tasks.project import Project, Variant
from pipeline.families.repository_tasks.running import run_variants
from pipeline.families.repository_tasks.trace import Executions, executions_of, flaky, passing, read_files
from pipeline.families.repository_tasks.variant_runs import TestRun
from tests.families.repository_tasks.conftest import FILES, tree
from tests.families.repository_tasks.test_running import BASKET, OF_PRICES, PRICES, TAX


def traced(project: Project, repeat: int = 0) -> TestRun:
    return run_variants(project, [Variant("all", trace=True)], repeat=repeat)[0]


def seen(project: Project, run: TestRun) -> dict[str, Executions]:
    files, unread, _ = read_files(project.tree, project.sources)
    assert not unread
    found = executions_of(run, passing([run]), project.sources, files)
    named = {(file.path, one.first_line): one.namespace for file in files.values() for one in file.functions}
    return {named[place]: what for place, what in found.items()}


def line(text: str) -> int:
    return FILES[PRICES].split("\n").index(text) + 1


@pytest.fixture
def of_shop(shop: Project) -> dict[str, Executions]:
    return seen(shop, traced(shop))


def test_a_function_is_reached_by_the_tests_that_execute_it(of_shop: dict[str, Executions]) -> None:
    short = {test.split("::")[1] for test in of_shop["shop.prices.with_tax"].tests}
    assert short == {"test_tax", "test_no_tax", "test_wrong_rate", "test_total", "test_basket", "test_type"}
    assert "shop.prices.never" not in of_shop


def test_lines_are_those_that_the_test_executed(of_shop: dict[str, Executions]) -> None:
    raising, returning = (
        line('        raise ValueError("no rate")'),
        line("    return to_cents(price * (1 + rate) * SCALE)"),
    )
    tests = of_shop["shop.prices.with_tax"].tests
    assert returning in tests[TAX]
    assert raising not in tests[TAX]
    wrong = tests[f"{OF_PRICES}::test_wrong_rate"]
    assert raising in wrong
    assert returning not in wrong


def test_fixtures_are_a_part_of_the_test(of_shop: dict[str, Executions]) -> None:
    assert set(of_shop["shop.prices.Basket.__init__"].tests) == {BASKET}


def test_calls_are_seen_through_properties_and_decorators(of_shop: dict[str, Executions]) -> None:
    assert set(of_shop["shop.prices.with_tax"].called) == {"shop.money.rounded"}
    assert {"shop.prices.with_tax", "shop.money.rounded"} <= of_shop["shop.prices.total"].called.keys()
    assert "shop.prices.total" in of_shop["shop.prices.Basket.sum"].called


def test_what_threads_do_is_not_followed(of_shop: dict[str, Executions]) -> None:
    assert set(of_shop["shop.prices.Basket.add"].tests) == {BASKET}


def test_another_seed_sees_the_same(shop: Project) -> None:
    first, second = traced(shop), traced(shop, 1)
    assert flaky([first, second]) == [f"{OF_PRICES}::test_seed"]
    both = [seen(shop, run) for run in (first, second)]
    assert both[0]["shop.prices.total"] == both[1]["shop.prices.total"]


def test_a_test_that_hangs_on_random_numbers_differs_with_another_seed(shop: Project) -> None:
    drawn = "import random\ndef test_random(): assert random.random() > 0.5\n"
    project = replace(shop, tree=tree(shop.rules, {**FILES, "tests/test_random.py": drawn}))
    runs = [traced(project), traced(project, 1)]
    assert flaky(runs) == [f"{OF_PRICES}::test_seed", "tests/test_random.py::test_random"]


def test_a_test_with_too_many_calls_is_ended(shop: Project) -> None:
    busy = "\ndef test_busy():\n    for _ in range(10**9): with_tax(1)\n"
    files = FILES | {OF_PRICES: FILES[OF_PRICES] + busy}
    rules = shop.rules.model_copy(update={"test_calls": 1000})
    run = traced(replace(shop, rules=rules, tree=tree(rules, files)))
    assert run.outcomes[f"{OF_PRICES}::test_busy"] is TestOutcome.TIMED_OUT
    assert run.outcomes[TAX] is TestOutcome.PASSED


def test_a_long_loop_is_left_alone_and_its_lines_are_known(shop: Project) -> None:
    loop = "\ndef busy(n):\n    for i in range(n):\n        i += 1\n    return n\n"
    files = FILES | {PRICES: FILES[PRICES] + loop}
    files[OF_PRICES] += "\nfrom shop.prices import busy\ndef test_loop(): assert busy(200000)\n"
    project = replace(shop, tree=tree(shop.rules, files))
    run = traced(project)
    assert run.outcomes[f"{OF_PRICES}::test_loop"] is TestOutcome.PASSED
    assert len(seen(project, run)["shop.prices.busy"].tests[f"{OF_PRICES}::test_loop"]) >= 2


def told(**outcomes: TestOutcome) -> TestRun:
    return TestRun("", Outcome.PASSED, None, outcomes, len(outcomes), None, 0.0)


def test_only_what_passes_each_time_passes() -> None:
    first = told(a=TestOutcome.PASSED, b=TestOutcome.PASSED, c=TestOutcome.FAILED)
    second = told(a=TestOutcome.PASSED, b=TestOutcome.FAILED, c=TestOutcome.FAILED)
    assert passing([first, second]) == ["a"]
    assert flaky([first, second]) == ["b"]


def test_files_that_do_not_parse_are_told(shop: Project) -> None:
    files = FILES | {"src/shop/new.py": "def f(:\n", "src/shop/odd.py": "# -*- coding: nothing -*-\n"}
    read, unread, _ = read_files(tree(shop.rules, files), ["src/shop/new.py", "src/shop/odd.py", PRICES])
    assert list(read) == [PRICES]
    assert "SyntaxError" in unread["src/shop/new.py"]
    assert "PEP 263" in unread["src/shop/odd.py"]
