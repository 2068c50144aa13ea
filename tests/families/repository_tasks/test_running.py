"""Tests of a project really run in the sandbox: on its own tree, on other code, and on code that tries to cheat."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.running import Outcome
from pipeline.families.repository_tasks.project import Project, Variant
from pipeline.families.repository_tasks.running import run_variants
from tests.errors import raises
from tests.families.repository_tasks.conftest import FILES, run_tests, tree

PRICES, OF_PRICES = "src/shop/prices.py", "tests/test_prices.py"
TAX, TOTAL, BASKET = (f"{OF_PRICES}::{name}" for name in ("test_tax", "test_total", "test_basket"))
WITHOUT = FILES[PRICES].replace("    return to_cents(price * (1 + rate) * SCALE)\n", "    raise NotImplementedError\n")


def test_all_tests_run_on_the_tree_itself_whatever_the_project_adds_to_calls_of_pytest(shop: Project) -> None:
    [run] = run_variants(shop, [Variant("all")])
    assert run.outcome is Outcome.PASSED
    assert run.collected == 10  # none of the examples
    assert run.outcomes[TAX] is TestOutcome.PASSED
    assert run.outcomes[f"{OF_PRICES}::test_fails"] is TestOutcome.FAILED
    assert run.outcomes[f"{OF_PRICES}::test_skipped"] is TestOutcome.SKIPPED
    assert run.worst is TestOutcome.FAILED
    assert "test_fails" in str(run.detail)


def test_other_code_is_judged_by_the_tests_that_are_named(shop: Project) -> None:
    assert run_tests(shop, [TAX, TOTAL]) == {TAX: TestOutcome.PASSED, TOTAL: TestOutcome.PASSED}
    assert run_tests(shop, [TAX], {PRICES: WITHOUT}) == {TAX: TestOutcome.FAILED}


def test_a_test_that_is_not_there_is_not_run(shop: Project) -> None:
    outcomes = run_tests(shop, [TAX, f"{OF_PRICES}::test_unknown", "tests/test_nowhere.py::test"])
    assert set(outcomes.values()) <= {TestOutcome.NOT_RUN, TestOutcome.PASSED}
    assert outcomes[f"{OF_PRICES}::test_unknown"] is TestOutcome.NOT_RUN


def test_variants_do_not_see_each_other_and_come_in_their_order(shop: Project) -> None:
    variants = [Variant(str(number), [TAX], {PRICES: WITHOUT} if number % 2 else {}) for number in range(5)]
    runs = run_variants(shop, variants, workers=2)
    assert [run.id for run in runs] == list("01234")
    assert [run.worst for run in runs] == [TestOutcome.FAILED if n % 2 else TestOutcome.PASSED for n in range(5)]


def test_other_code_is_written_in_the_encoding_of_its_file(shop: Project) -> None:
    files = FILES | {OF_PRICES: "from shop.money import SIGN\ndef test_sign(): assert SIGN == '\u00e9'\n"}
    made = tree(shop.rules, files)
    text = "# -*- coding: latin-1 -*-\nSIGN = '\u00e9'\n"
    latin = replace(made, files={**made.files, "src/shop/money.py": b"# -*- coding: latin-1 -*-\n", PRICES: b""})
    project = replace(
        shop, tree=replace(latin, files={**latin.files, "src/shop/__init__.py": b"", "tests/conftest.py": b""})
    )
    test = f"{OF_PRICES}::test_sign"
    assert run_tests(project, [test], {"src/shop/money.py": text}) == {test: TestOutcome.PASSED}
    beyond = text.replace("\u00e9", "\u20ac")
    assert run_tests(project, [test], {"src/shop/money.py": beyond}) == {test: TestOutcome.NOT_RUN}


@pytest.mark.parametrize(
    ("code", "outcome"),
    {
        "leaves early": ("import os; os._exit(0)", TestOutcome.NOT_RUN),
        "does not parse": ("def with_tax(:", TestOutcome.NOT_RUN),
        "ends pytest": ("import pytest; pytest.exit('enough', 0)", TestOutcome.NOT_RUN),
        "writes a report": (
            "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'passed\\n-\\n-\\n' + b'0' * 64)\n"
            "    except OSError: pass\nos._exit(0)",
            TestOutcome.NOT_RUN,
        ),
    }.values(),
    ids=["leaves early", "does not parse", "ends pytest", "writes a report"],
)
def test_code_that_breaks_the_run_passes_nothing(shop: Project, code: str, outcome: TestOutcome) -> None:
    runs = run_variants(shop, [Variant("bad", [TAX], {PRICES: code + "\n"}), Variant("good", [TAX])])
    assert runs[0].outcomes == {TAX: outcome}
    assert runs[1].worst is TestOutcome.PASSED


def test_a_test_that_takes_too_long_is_ended_and_the_others_run(shop: Project) -> None:
    slow = "\ndef test_slow():\n    while True:\n        try: time.sleep(30)\n        except Exception: pass\n"
    files = FILES | {OF_PRICES: FILES[OF_PRICES] + slow + "def test_last(): pass\n"}
    hasty = replace(shop, rules=shop.rules.model_copy(update={"test_time_s": 0.5}), tree=tree(shop.rules, files))
    outcomes = run_variants(hasty, [Variant("all")])[0].outcomes
    assert outcomes[f"{OF_PRICES}::test_slow"] is TestOutcome.TIMED_OUT
    assert outcomes[f"{OF_PRICES}::test_last"] is TestOutcome.PASSED
    (ended,) = run_variants(hasty, [Variant("all", first_time_out=True)])
    assert ended.outcomes[TAX] is TestOutcome.PASSED
    assert ended.outcomes[f"{OF_PRICES}::test_slow"] is TestOutcome.TIMED_OUT
    assert (ended.outcome, ended.outcomes[f"{OF_PRICES}::test_last"]) == (Outcome.PASSED, TestOutcome.NOT_RUN)


def test_a_project_that_takes_too_long_is_ended(shop: Project) -> None:
    files = FILES | {"tests/conftest.py": "import time\ntime.sleep(60)\n"}
    hasty = replace(shop, rules=shop.rules.model_copy(update={"time_s": 1.0}), tree=tree(shop.rules, files))
    run = run_variants(hasty, [Variant("all", [TAX])])[0]
    assert (run.outcome, run.outcomes) == (Outcome.TIMED_OUT, {TAX: TestOutcome.TIMED_OUT})


@pytest.mark.parametrize("code", ["while True: pass", "while True:\n    try: [][0]\n    except BaseException: pass"])
def test_a_changed_file_whose_import_never_ends_is_ended(shop: Project, code: str) -> None:
    hasty = replace(shop, rules=shop.rules.model_copy(update={"changed_import_cpu_s": 0.5, "time_s": 20.0}))
    (run,) = run_variants(hasty, [Variant("endless", [TAX], {PRICES: f"{code}\n"})])
    assert run.outcome in (Outcome.WRONG_EXCEPTION, Outcome.TIMED_OUT)
    assert run.worst is not TestOutcome.PASSED


def test_of_more_tests_than_the_rule_takes_the_same_ones_are_taken(shop: Project) -> None:
    few = replace(shop, rules=shop.rules.model_copy(update={"tests": 3}))
    first, second = (list(run_variants(few, [Variant("some")], repeat=n)[0].outcomes) for n in (0, 1))
    assert first == second
    assert len(first) == 3


def test_a_file_that_the_project_lacks_is_refused_before_a_run(shop: Project) -> None:
    with raises(ValueError, "shop-1.0"):
        run_tests(shop, [TAX], {"src/shop/nowhere.py": ""})
