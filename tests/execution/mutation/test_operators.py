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
    "a and b": {"a or b", "a", "b"},
    "a or b or c": {"a and b and c", "b or c", "a or c", "a or b"},
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
    "b if a else c": {"b if not a else c", "b if True else c", "b if False else c"},
    "[a for a in b if c]": {
        "[a for a in __import__('itertools').islice(b, 1) if c]",
        "[a for a in b if True]",
    },
    "[a, b]": {"[a]"},
    "(a, b)": {"(a,)"},
    "{a: b}": {"{}"},
    "lambda a, b=c: d": {"lambda a, b: d"},
    "f'{a + 1}'": set(),
}


@pytest.mark.parametrize("expression", MADE)
def test_an_expression_is_changed_in_each_way_that_fits(expression: str) -> None:
    made = {ast.unparse(ast.parse(mutant.text)) for mutant in mutants_of(f"x = {expression}\n", {1}, 50)}
    assert made == {ast.unparse(ast.parse(f"x = {other}\n")) for other in MADE[expression]}


STATEMENTS = {
    "def f(a):\n    '''Text.'''\n    return a\n": {"def f(a):\n    '''Text.'''\n    return None\n"},
    "if a:\n    b = c\n": {
        "if not a:\n    b = c\n",
        "if True:\n    b = c\n",
        "if False:\n    b = c\n",
    },
    "if a:\n    b = c\nelif d:\n    b = e\n": {
        "if not a:\n    b = c\nelif d:\n    b = e\n",
        "if True:\n    b = c\nelif d:\n    b = e\n",
        "if False:\n    b = c\nelif d:\n    b = e\n",
        "if a:\n    pass\nelif d:\n    b = e\n",
        "if a:\n    b = c\nelif not d:\n    b = e\n",
        "if a:\n    b = c\nelif True:\n    b = e\n",
        "if a:\n    b = c\nelif False:\n    b = e\n",
    },
    "if a:\n    b = c\nelse:\n    d = c\n    b = d\n": {
        "if not a:\n    b = c\nelse:\n    d = c\n    b = d\n",
        "if True:\n    b = c\nelse:\n    d = c\n    b = d\n",
        "if False:\n    b = c\nelse:\n    d = c\n    b = d\n",
        "if a:\n    pass\nelse:\n    d = c\n    b = d\n",
        "if a:\n    b = c\nelse:\n    pass\n",
    },
    "for a in b:\n    c = a\n": {
        "for a in __import__('itertools').islice(b, 1):\n    c = a\n",
        "for a in b:\n    pass\n",
    },
    # The change stands in the header, so that `continue` and `break` stay what they are.
    "while a:\n    if b: continue\n": {
        "for __ in [0][:bool(a)]:\n    if b: continue\n",
        "while False:\n    if b: continue\n",
        "while not a:\n    if b: continue\n",
        "while a:\n    pass\n",
        "while a:\n    if not b: continue\n",
        "while a:\n    if True: continue\n",
        "while a:\n    if False: continue\n",
        "while a:\n    if b: pass\n",
    },
    "while (a\n       and b):\n    c = a\n": {
        f"while {other}:\n    c = a\n" for other in ("not (a and b)", "False", "a or b", "a", "b")
    }
    | {"while a and b:\n    pass\n"},
    "def f(a):\n    if a:\n        return\n    raise a\n": {
        "def f(a):\n    if a:\n        pass\n    raise a\n",
        "def f(a):\n    if a:\n        return\n    pass\n",
        "def f(a):\n    if not a:\n        return\n    raise a\n",
        "def f(a):\n    if True:\n        return\n    raise a\n",
        "def f(a):\n    if False:\n        return\n    raise a\n",
    },
    "try:\n    import a\nexcept KeyError:\n    b = a\nfinally:\n    c = a\n": {
        "try:\n    import a\nexcept NotImplementedError:\n    b = a\nfinally:\n    c = a\n",
        "try:\n    import a\nexcept KeyError:\n    pass\nfinally:\n    c = a\n",
        "try:\n    import a\nexcept KeyError:\n    b = a\nfinally:\n    pass\n",
    },
    "match a:\n    case b:\n        c = a\n": {"match a:\n    case b:\n        pass\n"},
    "raise KeyError(a)\n": {"raise NotImplementedError(a)\n", "raise KeyError()\n", "raise a\n", "pass\n"},
    "a[b] = c\n": {"pass\n"},
    "x: 'int' = a\n": set(),
    # An order that does not compile is none, and `self` has its place.
    "def f(self, a: 'int', b, *, c=d): pass\n": {
        "def f(self, b, a: 'int', *, c=d): pass\n",
        "def f(self, a: 'int', b, *, c): pass\n",
    },
    "def f(a=b, c=d): pass\n": {"def f(a, c=d): pass\n"},
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
        elif not item:
            items.clear()
            return
        else:
            items.append(sorted(items, key=len)[1:2])
"""


@given(st.sets(st.integers(1, 15)), st.integers(0, 40))
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
    operators = [mutant.operator for mutant in mutants_of(PROGRAM, range(1, 16), 100)]
    if lines >= set(range(1, 15)):
        assert {mutant.operator for mutant in mutants} == set(operators) or len(mutants) == limit


def test_what_half_an_answer_looks_like_is_drawn_before_the_rest() -> None:
    operators = [mutant.operator for mutant in mutants_of(PROGRAM, range(1, 16), 3)]
    assert sorted(operators) == ["branch", "exit", "loop"]


def test_what_is_around_a_changed_statement_stays_as_it_is() -> None:
    text = "# ä\n@a\ndef f(b):\n    return b\n\n\nif (\n  a): b = 1 # no newline at the end"
    for mutant in mutants_of(text, {4}, 9):
        assert mutant.text.replace("None", "b") == text
    assert {mutant.text[-22:] for mutant in mutants_of(text, {8}, 9)} == {"# no newline at the end"[-22:]}
    assert mutants_of(text, {5}, 9) == []


def test_a_draw_is_the_same_every_time() -> None:
    assert mutants_of(PROGRAM, range(1, 16), 7) == mutants_of(PROGRAM, range(1, 16), 7)
