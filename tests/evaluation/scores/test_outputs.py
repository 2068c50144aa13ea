"""Programs of predictions, and the outputs that are asked of them, by worked examples and by running real ones."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.evaluation.scores.controls import control, fails_for_certain
from pipeline.evaluation.scores.filling import MaskedCode, beyond, body_in, filled, solved
from pipeline.evaluation.scores.tasks import Task
from pipeline.execution.sandbox.environment import bare_environment
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases
from pipeline.families.completions_and_migrations.expected_outputs import Example, expected_outputs
from pipeline.lake.rows import SnippetCheck

BLOCK: MaskedCode = {
    "granularity": "block",
    "core_token": "wrap",
    "masked_code": "from textwrap import [token-mask]\ndef f(text):\n    [block-mask]\n    return lines\n",
}
WANTED = "from textwrap import wrap\ndef f(text):\n    lines = wrap(text)\n    if lines:\n        lines.pop()\n    return lines\n"


@pytest.mark.parametrize(
    "sample",
    [
        "lines = wrap(text)\n    if lines:\n        lines.pop()",  # as it stood behind the margin
        "lines = wrap(text)\nif lines:\n    lines.pop()",  # as a text of its own
        "    lines = wrap(text)\n    if lines:\n        lines.pop()\n",  # as it stood, with the margin
        "\n        lines = wrap(text)\n        if lines:\n            lines.pop()\n\n",
    ],
)
def test_a_sample_may_be_indented_in_several_ways(sample: str) -> None:
    assert filled(BLOCK, sample) == WANTED


@pytest.mark.parametrize(
    ("masked", "granularity", "sample", "program"),
    [
        ("import m\nm.[token-mask](1)\n[token-mask] = 2\n", "token", " load\n", "import m\nm.load(1)\nload = 2\n"),
        ("x = 1\n[line-mask]  # why\n[token-mask]\n", "line", "y = 2", "x = 1\ny = 2  # why\nwrap\n"),
        ("if x:\n    [line-mask]\n", "line", "", "if x:\n    \n"),
        ("if x:\n    [line-mask]\n", "line", "f(", "if x:\n    f(\n"),
        ("[line-mask]\n", "line", "[token-mask]", "[token-mask]\n"),
    ],
)
def test_filling(masked: str, granularity: str, sample: str, program: str) -> None:
    task: MaskedCode = {"granularity": granularity, "core_token": "wrap", "masked_code": masked}
    assert filled(task, sample) == program


def test_a_body_takes_the_place_of_lines() -> None:
    text = "def f():\n    a = 1\n    return a\n\n\nx\x0c = 2\n"
    assert body_in(text, "    return 2\n", (2, 3)) == "def f():\n    return 2\n\n\nx\x0c = 2\n"
    assert body_in(text, "    a = 1\n    return a", (2, 3)) == text


@pytest.mark.parametrize(
    "body",
    [
        "        if x:\n            y()\n        return x\n",
        "if x:\n    y()\nreturn x",
        "if x:\n            y()\n        return x\n",
        "    if x:\n        y()\n    return x\n",
        "\n# why\n        if x:\n            y()\n        return x\n",
    ],
)
def test_a_body_stands_where_the_old_one_stood(body: str) -> None:
    text = "class A:\n    def f():\n# why\n        return 1\n\nB = 1\n"
    program = body_in(text, body, (3, 4))
    ran = [line for line in program.split("\n") if line.strip() and "#" not in line]
    kept = ["        if x:", "            y()", "        return x"]
    assert ran == ["class A:", "    def f():", *kept, "B = 1"]


STARTING = "import textwrap\n\n\ndef solve(text):\n"
BODY = "    return textwrap.wrap(text)\n"


@pytest.mark.parametrize(
    ("sample", "program"),
    [
        (BODY, STARTING + BODY),
        (STARTING + BODY, STARTING + BODY),
        (f"\n{STARTING}    # wraps\n{BODY}", f"\n{STARTING}    # wraps\n{BODY}"),
        ("from textwrap import wrap\ndef solve(text): return wrap(text)", None),
        ("    return (", STARTING + "    return ("),
        ("", ""),
    ],
)
def test_a_solution_goes_on_or_is_the_whole_program(sample: str, program: str | None) -> None:
    assert solved(STARTING, sample) == (sample if program is None else program)


@pytest.mark.parametrize("documentation", ["", '    """Wrap."""\n'])
@pytest.mark.parametrize(
    ("sample", "body"),
    [
        ("return textwrap.wrap(text)", "    return textwrap.wrap(text)"),
        ("if text:\n    return []\nreturn text", "    if text:\n        return []\n    return text"),
        ("if text:\n        return []\n    return text", "    if text:\n        return []\n    return text"),
        ("\t\treturn 1", "    return 1"),
        ("yield text", "    yield text"),
        ("for part in text:\n    yield part", "    for part in text:\n        yield part"),
        ("raise ValueError(text)", "    raise ValueError(text)"),
        ("import sys\nsys.exit(text)", "    import sys\n    sys.exit(text)"),
        ("if text:\n    raise ValueError(text)", "    if text:\n        raise ValueError(text)"),
    ],
)
def test_a_body_is_indented_as_that_of_the_function(documentation: str, sample: str, body: str) -> None:
    starting = STARTING + documentation
    if not documentation and sample.startswith("\t"):
        assert solved(starting, sample) == starting + sample, "it is valid as it stands"
    else:
        assert solved(starting, sample) == starting + body


@pytest.mark.parametrize(
    ("starting", "sample", "program"),
    [
        ("async def solve(text):\n", "await text", "async def solve(text):\n    await text"),
        (
            "class A:\n    def solve(self):\n",
            "raise ValueError",
            "class A:\n    def solve(self):\n        raise ValueError",
        ),
        ("class A:\n", "def solve(self):\n    pass", "class A:\n    def solve(self):\n        pass"),
    ],
    ids=["await", "method", "class"],
)
def test_a_body_is_moved_into_its_definition(starting: str, sample: str, program: str) -> None:
    assert solved(starting, sample) == program


@pytest.mark.parametrize(
    "sample",
    [
        "solve = str.split",
        "from textwrap import wrap as solve",
        "if 1:\n    def solve(text):\n        raise ValueError(text)",
    ],
)
def test_a_program_that_binds_the_function_is_no_body(sample: str) -> None:
    assert solved(STARTING, sample) == sample


@pytest.mark.parametrize(
    "starting", ["import textwrap\n", "def double(x):\n    return 2 * x\n", "def double(x): return 2 * x\n"]
)
def test_a_statement_follows_starting_code_that_is_complete(starting: str) -> None:
    assert solved(starting, "raise ValueError(1)") == f"{starting}raise ValueError(1)"


def test_what_lies_beyond_the_starting_code() -> None:
    assert beyond(STARTING, BODY) == BODY.strip("\n")
    assert beyond(STARTING, STARTING + BODY).strip("\n") == BODY.strip("\n")


PREAMBLE = "from textwrap import dedent, wrap\n"
CHECKS: list[Any] = [
    {"statement": "lines = wrap('a b', 1)\n", "expected": None, "options": []},
    {"statement": "lines\n", "expected": "['a', 'b']\n", "options": []},
    {"statement": "len(lines)\n", "expected": "2\n", "options": []},
]
REFERENCE = PREAMBLE + "".join(check["statement"] for check in CHECKS)


def expected_of(program: str) -> list[tuple[str, str | None]]:
    found = expected_outputs(PREAMBLE, CHECKS, REFERENCE, program)
    return [(check["statement"], check["expected"]) for check in found or ()]


@pytest.mark.parametrize(
    ("program", "asked"),
    [
        (REFERENCE, [(PREAMBLE, None), *((check["statement"], check["expected"]) for check in CHECKS)]),
        (
            PREAMBLE + "print(['a', 'b'])\nlen('ab')\n",
            [(PREAMBLE, None), ("if True:\n    print(['a', 'b'])\n    len('ab')\n", "...['a', 'b']\n2\n")],
        ),
        (
            PREAMBLE + "both = 'a b'\nlines = wrap(both, 1)\nlines\nlen(lines)\n",
            [
                (PREAMBLE, None),
                ("if True:\n    both = 'a b'\n    lines = wrap(both, 1)\n", None),
                ("lines\n", "['a', 'b']\n"),
                ("len(lines)\n", "2\n"),
            ],
        ),
        ("", [("if True:\n    pass\n", "......['a', 'b']\n2\n")]),
        # what no parser of ours reads may still run under another Python, and is asked for the outputs all the same
        ("lines = (", [("lines = (\n", "......['a', 'b']\n2\n")]),
    ],
)
def test_stated_outputs(program: str, asked: list[tuple[str, str | None]]) -> None:
    assert expected_of(program) == asked


def test_an_exception_that_is_stated_is_all_that_is_asked() -> None:
    raised = "Traceback (most recent call last):\nValueError: no\n"
    checks: list[SnippetCheck] = [
        {"statement": "f()\n", "expected": "1\n", "options": []},
        {"statement": "g()\n", "expected": raised, "options": []},
    ]
    found = expected_outputs("", checks, "f()\ng()\n", "h()\n")
    assert found == [{"statement": "if True:\n    h()\n", "expected": raised, "options": ["ELLIPSIS"]}]


def test_without_outputs_a_program_only_has_to_run() -> None:
    assert expected_outputs("", [], "f()\n", "g()\n") is None
    assert expected_outputs("", CHECKS, "lines = (", "g()\n") is None


@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        (REFERENCE, Outcome.PASSED),
        (PREAMBLE + "print(['a', 'b'])\nprint(2)\n", Outcome.PASSED),
        (PREAMBLE + "text = 'a b'\nlines = wrap(text, width=1)\nlines\nlen(lines)\n", Outcome.PASSED),
        (PREAMBLE + "lines = wrap('a b', 3)\nlines\nlen(lines)\n", Outcome.FAILED_ASSERTION),
        (PREAMBLE + "lines = wrapped('a b', 1)\nlines\nlen(lines)\n", Outcome.UNDEFINED_NAME),
        (PREAMBLE + "pass\n", Outcome.FAILED_ASSERTION),
        ("", Outcome.FAILED_ASSERTION),
        ("lines = (", Outcome.SYNTAX_ERROR),
    ],
)
def test_programs_run_as_they_should(program: str, outcome: Outcome) -> None:
    checks = expected_outputs(PREAMBLE, CHECKS, REFERENCE, program) or ()
    rules = load(RULES / "validation.yaml", ValidationRules).model_copy(update={"repeats": 1})
    (result,) = run_cases(bare_environment(), [Case("a", "", program, checks)], find_sandbox(), rules)
    assert result.outcome == outcome, result.detail


def completion(granularity: str, masked_code: str, answer: str = "") -> Task:
    row = {"granularity": granularity, "masked_code": masked_code, "answer": answer}
    return Task("a", Family.COMPLETION, row, ())


SHOWING = {"checks": CHECKS}
SILENT = {"checks": [check | {"expected": None} for check in CHECKS]}
RAISING = {"checks": [CHECKS[0] | {"expected": "Traceback (most recent call last):\nValueError\n"}]}


@pytest.mark.parametrize(
    ("task", "example", "certain"),
    [
        (completion("token", "from m import [token-mask]\n"), SILENT, True),
        (completion("token", "import m\nx = m.[token-mask](1)\n"), SILENT, True),
        (completion("token", "import m\ndef f():\n    m.[token-mask](1)\n"), SILENT, False),
        (completion("token", "import m\nx and m.[token-mask](1)\n"), SILENT, False),
        (completion("token", "import m\nm.[token-mask] = 1\n"), SILENT, False),
        (completion("token", "from m import [token-mask]\n"), RAISING, False),
        (completion("line", "[line-mask]\n", "lines"), SHOWING, True),
        (completion("line", "[line-mask]\n", "line"), SHOWING, False),
        (completion("line", "[line-mask]\n    lines\n", "if lines:"), SHOWING, False),
        (completion("line", "[line-mask]\n", "lines = wrap('a b', 1)"), SHOWING, False),
        (completion("block", "[block-mask]\n", "lines\nlen(lines)"), SHOWING, True),
        (completion("block", "[block-mask]\n", "lines\nlen(lines)"), SILENT, False),
        (Task("a", Family.MIGRATION, {}, ()), SHOWING, True),
        (Task("a", Family.MIGRATION, {}, ()), SILENT, False),
    ],
)
def test_controls_that_need_no_run(task: Task, example: Example, certain: bool) -> None:
    assert control(task)
    assert fails_for_certain(task, example) is certain


def test_what_leaves_out_a_header_is_a_header() -> None:
    header = completion("line", "[line-mask]\n    x = 1\n", "with f() as x:")
    left_out = control(header)
    assert left_out == "if True:"
    assert (
        filled({"granularity": "line", "masked_code": header.row["masked_code"], "core_token": "f"}, left_out)
        == "if True:\n    x = 1\n"
    )
