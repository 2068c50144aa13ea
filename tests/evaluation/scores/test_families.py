"""What is measured of one sample of each family, and that both ways of reading code say the same of real code."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import inspect
import textwrap
from collections import Counter
from itertools import accumulate
from types import ModuleType
from typing import Any

import pytest

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.scores.api import _called_and_bound, _expressions, _tree, _walk, api_hit
from pipeline.evaluation.scores.families import SCORERS
from pipeline.evaluation.scores.filling import filled
from pipeline.evaluation.scores.reading import read
from tests.evaluation.scores.snapshots import BLOCK, CONTEXT, FUNCTION, LINE, MIGRATION, PROBLEM, REPOSITORY_TASK, TOKEN

CALLING = PROBLEM | {"starting_code": "import demo\ndemo.load(1)\n"}
WITH = LINE | {"answer": "with load(1, mode=2) as page:", "core_token": "load"}


@pytest.mark.parametrize(
    ("family", "task", "sample", "values"),
    [
        (Family.COMPLETION, TOKEN, "load ", {"em": 1}),
        (Family.COMPLETION, TOKEN, "demo.load", {"em": 0}),
        (Family.COMPLETION, LINE, "y = load(2)", {"em": 1, "ism": 0, "pm": 0, "cdc": 1, "api_f1": 1}),
        (Family.COMPLETION, LINE, "load(", {"em": 1, "ism": 1, "pm": 0.5, "cdc": 0, "cdc_valid": 0, "cdc_with": None}),
        (Family.COMPLETION, WITH, "load(1, mode=2)", {"cdc": 0, "cdc_with": 0, "cdc_keywords": 1, "cdc_arguments": 1}),
        # Of a block, ISM and PM are 0 where the core token is missing, or the code is not valid.
        (Family.MIGRATION, MIGRATION, "from demo import load\nload(2)\n", {"em": 1, "ism": 1, "pm": 0.75, "cdc": 1}),
        (Family.MIGRATION, MIGRATION, "from demo import fetch\nfetch(1)\n", {"em": 0, "ism": 0, "pm": 0, "cdc": 0}),
        (Family.MIGRATION, MIGRATION, "from demo import load\nload(2\n", {"em": 1, "ism": 0, "pm": 0, "cdc": 0}),
        (Family.FUNCTION, FUNCTION, "page = demo.load(1)\nreturn page", {"em": 1, "ism": 7 / 8, "pm": 7 / 8, "cdc": 1}),
        (Family.FUNCTION, FUNCTION, "return None", {"em": 0, "ism": 0, "cdc": 0}),
        (Family.FUNCTION, TOKEN, "load", {"em": 1}),
        (Family.BLOCK_COMPLETION, BLOCK, "Page page = new Page(1);", {"em": 1, "ism": 0.5, "pm": 0.5}),
        (Family.BLOCK_COMPLETION, BLOCK, "Pages page;", {"em": 0, "ism": 0, "pm": 0}),
        (Family.CONTEXT, CONTEXT, "load(2)", {"api_f1": 1}),
        (Family.CONTEXT, CONTEXT, "load(2)\nx = 2\ny = other()", {"api_f1": 1}),  # cut where the code goes on
        (Family.CONTEXT, CONTEXT, "load(2)\ny = other()", {"api_f1": 2 / 3}),
        (Family.PROBLEM, PROBLEM, "result = demo.load(1)", {"api_hit": 1}),
        (Family.PROBLEM, PROBLEM, "result = demo.save(1)", {"api_hit": 0}),
        (Family.PROBLEM, CALLING, "import demo\ndemo.load(1)\n", {"api_hit": 0}),  # the starting code once more
        (Family.PROBLEM, CALLING, "import demo\ndemo.load(1)\ndemo.load(2)\n", {"api_hit": 1}),
        (Family.REPOSITORY_TASK, REPOSITORY_TASK, "    return self.show()", {"recall": 0.5}),
        (Family.REPOSITORY_TASK, REPOSITORY_TASK, "    # show\n    return 'load'", {"recall": 0}),
        (Family.SCENE, {}, "x", {}),
    ],
)
def test_values(family: Family, task: dict[str, Any], sample: str, values: dict[str, float | None]) -> None:
    found = SCORERS[family](task, sample)
    assert {metric: found[Metric(metric)] for metric in values} == pytest.approx(values)


@pytest.mark.parametrize("name", ["excepting", "elsewhere", "elifs", "finally_done", "case_of"])
def test_a_name_that_begins_like_a_keyword_is_none(name: str) -> None:
    reference = f"{name} = load(1)\n        page = {name}.show()"
    task = FUNCTION | {"answer": reference, "masked_code": "def f():\n        [block-mask]\n"}
    assert {value for value in SCORERS[Family.FUNCTION](task, reference).values() if value is not None} == {1.0}


def test_a_whole_program_is_an_answer_to_a_block() -> None:
    block, whole = (
        f"import demo\ndef solve(number):\n{body}" for body in ("    [block-mask]\n", "    return demo.load(number)\n")
    )
    task: Any = FUNCTION | {"answer": "return demo.load(number)", "masked_code": block}
    assert {value for value in SCORERS[Family.FUNCTION](task, whole).values() if value is not None} == {1.0}
    assert filled(task, whole) == whole
    other = whole.replace("import demo", "import demo, sys")
    assert filled(task, other) == other


def test_what_the_starting_code_calls_is_not_asked_of_the_reference() -> None:
    task = PROBLEM | {"starting_code": "import demo\ndemo.save(1)\n", "api_calls": ["demo.save", "demo.load"]}
    assert SCORERS[Family.PROBLEM](task, "result = demo.load(1)\n")[Metric.API_HIT] == 1


def statements_of(source: bytes) -> list[str]:
    """What `ast.get_source_segment` says of each statement; that reads the whole file for each."""
    begins = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
    places = [
        (begins[node.lineno - 1] + node.col_offset, begins[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt)
    ]
    return [source[begin:end].decode() for begin, end in places]


def test_statements_are_those_that_ast_reads() -> None:
    source = inspect.getsource(textwrap)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    assert statements_of(source.encode()) == [ast.get_source_segment(source, node) for node in nodes]


@pytest.mark.parametrize("module", [textwrap, difflib, dataclasses, ast, inspect])
def test_what_is_read_of_valid_code_is_what_is_read_of_broken_code(module: ModuleType) -> None:
    statements = statements_of(inspect.getsource(module).encode())
    for code in statements:
        whole = read(code)
        assert whole.valid
        assert Counter(whole.expressions) == Counter(_expressions.__wrapped__(code)), code
    assert len(statements) > 100


def test_calls_are_the_same_in_broken_code() -> None:
    code = "import numpy as np\nx = np.zeros(1).sum()\n@f\ndef g(): pass\n"
    assert api_hit(code, ["numpy.zeros", ".sum", "f"]) is True
    assert api_hit(code + "(", ["numpy.zeros", ".sum", "f"]) is True
    assert api_hit("zeros(1)", ["numpy.zeros"], preceding="from numpy import zeros") is True
    assert api_hit("pass", ["numpy.zeros"], preceding="from numpy import zeros\nzeros(1)") is False
    assert len(list(_walk(_tree(code)))) > len(_called_and_bound(code)[0])
