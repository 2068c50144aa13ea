"""Which names a program evaluates for certain, by worked examples: `x` is one that it does, `y` one that it may not."""

from __future__ import annotations

import ast

import pytest

from pipeline.families.completions_and_migrations.certain_nodes import certain_nodes

PROGRAMS = {
    "a statement": "x()\n",
    "branches": "if x:\n    y\nelse:\n    y\n",
    "a branch that is always taken": "if True:\n    x\n",
    "a script's own": "if __name__ == '__main__':\n    x\n",
    "a loop over items": "for each in (1, 2):\n    x\n",
    "a loop over what may be empty": "for each in x:\n    y\n",
    "a condition": "1 if x else y\nx and y\nx < x < y\n",
    "deferred": "lambda: y\n(y for each in x)\n[y for each in x]\n",
    "a function that is called": "def f():\n    x\n    if 1 < 2:\n        return\n    y\nf()\n",
    "a function that is not": "def f(a=x):\n    y\n",
    "a generator": "def f():\n    y\n    yield\nf()\n",
    "a function that is decorated": "@x\ndef f():\n    y\nf()\n",
    "a function of two bodies": "def f():\n    y\ndef f():\n    y\nf()\n",
    "a function that calls itself": "def f():\n    f()\n    x\nf()\n",
    "handlers": "try:\n    y\nexcept E:\n    y\n",
    "no handler": "try:\n    x\nfinally:\n    x\n",
    "a context": "with x:\n    x\nwith pytest.raises(x):\n    y\n",
    "a class": "class A(x):\n    x\n    def f(self):\n        y\n",
    "values": "a: y = x\nassert x, y\nx.b = x\n",
}


@pytest.mark.parametrize("case", PROGRAMS)
def test_what_a_program_evaluates_for_certain(case: str) -> None:
    tree = ast.parse(PROGRAMS[case])
    every = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "x"]
    certain = [node for node in certain_nodes(tree) if isinstance(node, ast.Name)]
    assert not any(node.id == "y" for node in certain)
    assert {(node.lineno, node.col_offset) for node in every} == {
        (node.lineno, node.col_offset) for node in certain if node.id == "x"
    }
