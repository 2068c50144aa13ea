"""Expressions are written as `ast.unparse` writes them, also where a shorter way is taken."""

import ast

import pytest

from pipeline.api.surface.parse.syntax import children, written


@pytest.mark.parametrize(
    "source",
    ["a", "a.b.c", "a.b(c, 'd', 1, None, e=True)", "a(b(c), u'd')", "a(*b, **c)", "a(1.5, 1e999)", "a(-1, [b])", "a(b)(c)",
     "a(b, c=d[e])", "'x\\ny'", "1 .real", "a(...)", "a(b'c')", "a()"],
)  # fmt: skip
def test_an_expression_is_written_as_unparse_writes_it(source):
    node = ast.parse(source, mode="eval").body
    assert written(node) == ast.unparse(node)


def test_children_are_all_but_signs():
    node = ast.parse("f(a, *b, c=d + 1)", mode="eval").body
    assert isinstance(node, ast.Call)
    kinds = [type(child).__name__ for child in children(node)]
    assert kinds == ["Name", "Name", "Starred", "keyword"]
    assert children(node.func) == []
    assert [type(child).__name__ for child in children(ast.parse("a + b", mode="eval").body)] == ["Name", "Name"]
