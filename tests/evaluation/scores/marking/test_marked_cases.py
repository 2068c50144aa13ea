"""Answers that name a required API and never come to use it, run beside those that do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.evaluation.scores.cases import CASES
from pipeline.execution.sandbox.environment import bare_environment
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.cases import Case, Result, specifications
from pipeline.execution.validation.leading_imports import leading_imports
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases

LINES = ["import textwrap\n", "textwrap.fill('a b', width=1)\n"]
TARGET = "".join(LINES)
MIGRATION: dict[str, Any] = {
    "source_code": "import textwrap\ntextwrap.fill('a b', w=1)\n",
    "target_code": TARGET,
    "target_path": "textwrap.fill",
}
SHOWN = "'a\\nb'\n"
EXAMPLE = {
    "preamble": "",
    "checks": [
        {"statement": line, "expected": expected, "options": []}
        for line, expected in zip(LINES, (None, SHOWN), strict=True)
    ],
}
USED = {
    "the reference": TARGET,
    "by another name": "from textwrap import fill as f\nf('a b', **{'width': 1})\n",
    "a star import": "from textwrap import *\nimport textwrap\nfill('a b', width=1)\n",
    "in a function": "import textwrap\ndef f(x: textwrap.fill) -> 'str':\n    return textwrap.fill(x, width=1)\nf('a b')\n",
    "in a decorator": "import textwrap\n@lambda f: textwrap.fill(f(), width=1)\ndef g():\n    return 'a b'\ng\n",
    "in a comprehension": "import textwrap\n[textwrap.fill(x, width=1) for x in ('a b',)][0]\n",
    "in a class": "import textwrap\nclass A:\n    '''Docs.'''\n    x = textwrap.fill('a b', width=1)\nA.x\n",
    "in an f-string": "import textwrap\nf\"{textwrap.fill('a b', width=1)}\"\n",
    "in a pattern": "import textwrap\nmatch textwrap.fill('a b', width=1):\n    case str() as x:\n        print(repr(x))\n",
}  # fmt: skip
UNUSED = {
    "in a branch": f"import textwrap\nif False:\n    {LINES[1]}'a\\nb'\n",
    "in a function that nothing calls": f"import textwrap\ndef f():\n    {LINES[1]}'a\\nb'\n",
    "after a return": f"import textwrap\ndef f():\n    return 'a\\nb'\n    {LINES[1]}f()\n",
    "in a lambda": "import textwrap\nf = lambda: textwrap.fill('a b', width=1)\n'a\\nb'\n",
    "behind an or": "import textwrap\n'a\\nb' or textwrap.fill('a b', width=1)\n",
    "the argument alone": "import textwrap\nx = textwrap.fill('')\nx = dict() and dict(width=1)\n'a\\nb'\n",
    "an import in a branch": "if 0:\n    from textwrap import *\n    import textwrap\n    fill(1, width=1)\n'a\\nb'\n",
}


@pytest.fixture(scope="module")
def rules() -> ValidationRules:
    changed = {"repeats": 1, "fork_from": 1, "time_s": 60.0}
    return load(RULES / "validation.yaml", ValidationRules).model_copy(update=changed)


def run(answers: Mapping[str, Case], rules: ValidationRules) -> dict[str, Result]:
    cases = [replace(case, id=name, import_names=("textwrap",)) for name, case in answers.items()]
    return {result.id: result for result in run_cases(bare_environment(), cases, find_sandbox(), rules)}


def migration(answer: str) -> Case:
    ((_, case),) = CASES[Family.MIGRATION](MIGRATION, answer, EXAMPLE)
    return case


def test_only_an_answer_that_comes_to_use_the_api_passes(rules: ValidationRules) -> None:
    results = run({name: migration(answer) for name, answer in (USED | UNUSED).items()}, rules)
    assert {name for name, result in results.items() if result.outcome is Outcome.PASSED} == set(USED)
    assert {results[name].outcome for name in UNUSED} == {Outcome.FAILED_ASSERTION}
    assert results["in a branch"].detail == "AssertionError: the answer does not come to use fill, textwrap, width"
    assert results["the argument alone"].detail == "AssertionError: the answer does not come to use width"


def test_tracebacks_have_the_lines_of_the_answer(rules: ValidationRules) -> None:
    trying = "import textwrap\ntry:\n    textwrap.fill(\n        None, width=1)\n"
    shown = trying + "except Exception as e:\n    print(*__import__('traceback').extract_tb(e.__traceback__)[:1])\n"
    result = run({"shown": migration(shown)}, rules)["shown"]
    assert "line 2 in <module>" in (result.detail or "")


def test_an_exception_keeps_its_class(rules: ValidationRules) -> None:
    results = run(
        {
            "gone": migration("import textwrap\ntextwrap.fill('a b', width=1, w=2)\n"),
            "name": migration("import textwrap\ntextwrap.fill(width=x)\n"),
            "syntax": migration("import textwrap\ntextwrap.fill(width=(\n"),
        },
        rules,
    )
    assert results["gone"].outcome is Outcome.WRONG_EXCEPTION
    assert results["name"].outcome is Outcome.UNDEFINED_NAME
    assert results["syntax"].outcome is Outcome.SYNTAX_ERROR


def test_only_uses_that_the_reference_reaches_for_certain_are_required(rules: ValidationRules) -> None:
    deferred = "import textwrap\ndef f():\n    return textwrap.fill('a b', width=1)\n"
    both = "import textwrap\nw = textwrap.fill\nif w is None:\n    w('a b', width=1)\n"
    answers = {
        "nothing is certain": (deferred, "import textwrap\nif 0:\n    textwrap.fill('', width=1)\n"),
        "the function alone": (both, "import textwrap\ntextwrap.fill('a b')\nif 0:\n    f(width=1)\n"),
        "but the function is": (both, "import textwrap\nif 0:\n    textwrap.fill('', width=1)\n"),
    }
    cases = {}
    for name, (target, answer) in answers.items():
        example = {"preamble": "", "checks": [{"statement": target, "expected": None, "options": []}]}
        ((_, cases[name]),) = CASES[Family.MIGRATION](MIGRATION | {"target_code": target}, answer, example)
    assert not any("install(" in check["statement"] for check in cases["nothing is certain"].checks)
    passed = {name for name, result in run(cases, rules).items() if result.outcome is Outcome.PASSED}
    assert passed == {"nothing is certain", "the function alone"}


COMPLETION: dict[str, Any] = {
    "granularity": "line",
    "core_token": "seed",
    "masked_code": "import random\nrandom.seed(1)\n[line-mask]\nrandom.seed(3)\n",
    "code": "import random\nrandom.seed(1)\nrandom.seed(2)\nrandom.seed(3)\n",
}
NO_CHECKS: dict[str, Any] = {"preamble": "", "checks": []}
SILENT_CHECKS: list[dict[str, Any]] = [
    {"statement": f"{line}\n", "expected": None, "options": []} for line in COMPLETION["code"].splitlines()
]


@pytest.mark.parametrize(
    "example", [NO_CHECKS, NO_CHECKS | {"checks": SILENT_CHECKS}], ids=["no checks", "silent ones"]
)
def test_of_a_completion_what_stands_in_its_mask_counts(example: dict[str, Any], rules: ValidationRules) -> None:
    answers = {
        "right": "random.seed(2)",
        "on two lines": "x = 2\nrandom.seed(x)",
        "in a branch": "if 0: random.seed(2)",
        "in a function": "def f(): random.seed(2)",
    }
    cases = {name: next(CASES[Family.COMPLETION](COMPLETION, answer, example))[1] for name, answer in answers.items()}
    passed = {name for name, result in run(cases, rules).items() if result.outcome is Outcome.PASSED}
    assert passed == {"right", "on two lines"}


def test_imports_that_stand_first_are_still_loaded_beforehand(rules: ValidationRules) -> None:
    (specification,) = specifications(replace(migration(TARGET), import_names=("textwrap",)), rules, 0)
    assert specification.sent["statements"][0] == LINES[0]
    assert leading_imports(specification.sent, bare_environment().site_packages) == ("textwrap",)
