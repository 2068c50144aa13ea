"""Docstrings lose the indentation of the source, as `inspect.cleandoc` takes it off."""

import ast
import inspect

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.api.surface.parse.cleaning import clean_docstring, read_docstring


@given(st.text("ab \t\n\f\r", max_size=40))
@example("\n    First.\n\n        More.\n    ")
@example("First.\n  \n      \n    More.\n")
@example("First.\n    More.\n\n    Yet more.\n     Deeper.\n    \n\n\n    End.\n    ")
@example("First.\n    More.\n  Less.\n")
@example("First.\n\f  More.\n  \fYet more.\n")
def test_it_is_what_inspect_gives(text):
    assert clean_docstring(text) == inspect.cleandoc(text.rstrip())


@pytest.mark.parametrize(
    ("text", "expected"), [("Top.\n    More.\n      Deeper.\n    ", "Top.\nMore.\n  Deeper."), ("  \n", ""), ("", "")]
)
def test_the_margin_is_that_of_the_lines_below_the_first(text, expected):
    assert clean_docstring(text) == expected


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ('"""Doc."""', 1),
        ('"""\n\n    Doc.\n    """', 3),
        ('"""\\\nDoc."""', 2),
        ('"""\\\n\nDoc.\n"""', 3),
        ('"\\nDoc."', 1),
        ('"""\\n\n\nDoc."""', 1),
    ],
)
def test_a_docstring_begins_in_the_line_of_its_first_words(source, line):
    """Also where a line goes on after a backslash, or an escape stands for the end of one."""
    (statement,) = ast.parse(source).body
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Constant)
    assert read_docstring(statement.value, source)[1] == line
