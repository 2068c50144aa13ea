"""Mutants: one change each, of every operator that fits, within the lines that may be changed."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.execution.mutation.operators import mutants_of

MADE = {
    "a < b": {"a <= b"},
    "a == b": {"a != b"},
    "a + b": {"a - b"},
    "'%s' % a": {"'' % a"},
    "a and b": {"a or b"},
    "not a": {"a"},
    "1": {"2"},
    "'text'": {"''"},
    "''": {"'x'"},
    "True": {"False"},
    "a[b:c]": {"a[:c]", "a[b:]"},
    "f(a, b)": {"f(b)", "f(a)", "f(b, a)", "a"},
    "f(key=a)": {"f()"},
    "list(a)": {"list()", "a", "tuple(a)"},
    "a.method()": {"a"},
    "b if a else c": {"b if not a else c"},
    "f'{a + 1}'": set(),
}


@pytest.mark.parametrize("expression", MADE)
def test_an_expression_is_changed_in_each_way_that_fits(expression: str) -> None:
    made = {ast.unparse(ast.parse(mutant.text)) for mutant in mutants_of(f"x = {expression}\n", {1}, 50)}
    assert made == {ast.unparse(ast.parse(f"x = {other}\n")) for other in MADE[expression]}


STATEMENTS = {
    "def f(a):\n    '''Text.'''\n    return a\n": {"def f(a):\n    '''Text.'''\n    return None\n"},
    "if a:\n    b = c\nelif d:\n    b = e\n": {
        "if not a:\n    b = c\nelif d:\n    b = e\n",
        "pass\n",
        "if a:\n    b = c\nelif not d:\n    b = e\n",
        "if a:\n    b = c\npass\n",
    },
    "try:\n    import a\nexcept KeyError:\n    pass\n": {"try:\n    import a\nexcept NotImplementedError:\n    pass\n"},
    "raise KeyError(a)\n": {"raise NotImplementedError(a)\n", "raise KeyError()\n", "raise a\n", "pass\n"},
    "a[b] = c\n": {"pass\n"},
    "x: 'int' = a\n": set(),
}


@pytest.mark.parametrize("text", STATEMENTS)
def test_statements_are_changed_and_taken_out(text: str) -> None:
    made = {ast.unparse(ast.parse(mutant.text)) for mutant in mutants_of(text, range(1, 10), 50)}
    assert made == {ast.unparse(ast.parse(other)) for other in STATEMENTS[text]}


PROGRAM = """# ünïcödé in front of what is changed
def first(a, b):
    return a + b * 2


def second(items):
    for item in items:
        if item > 3 and not item == 7:
            yield "ü", item - 1
        else:
            items.append(sorted(items, key=len)[1:2])
"""


@given(st.sets(st.integers(1, 12)), st.integers(0, 40))
def test_mutants_differ_within_the_lines_alone_and_operators_take_turns(lines: set[int], limit: int) -> None:
    before = PROGRAM.split("\n")
    mutants = mutants_of(PROGRAM, lines, limit)
    assert len(mutants) <= limit
    assert len({mutant.text for mutant in mutants}) == len(mutants)
    for mutant in mutants:
        after = mutant.text.split("\n")
        assert mutant.text != PROGRAM
        assert mutant.line in lines
        if len(after) == len(before):
            changed = {number for number, (one, other) in enumerate(zip(before, after, strict=True), 1) if one != other}
            assert changed <= lines
    operators = [mutant.operator for mutant in mutants_of(PROGRAM, range(1, 13), 100)]
    if lines >= set(range(1, 12)):
        assert {mutant.operator for mutant in mutants} == set(operators) or len(mutants) == limit


def test_a_draw_is_the_same_every_time() -> None:
    assert mutants_of(PROGRAM, range(1, 13), 7) == mutants_of(PROGRAM, range(1, 13), 7)
