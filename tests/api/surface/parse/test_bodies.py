"""Bodies: what is read with them left out is what is read of the whole file."""

import argparse
import ast
import dataclasses
import inspect
import json
import logging
import re
import tarfile
import textwrap
import typing
import unittest.mock
from collections import abc

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.api.surface.parse import bodies as module
from pipeline.api.surface.parse import pieces
from pipeline.api.surface.parse.pieces import parse_alone, parse_in_pieces, without_bodies
from pipeline.api.surface.parse.syntax import functions
from pipeline.api.surface.visit import UnparsedError, visit_file
from tests.api.surface.trees import SURFACE_RULES, rows
from tests.errors import raises

SOURCE = '''
def one(a={1: 2}): return a
def two(a,
        b=":"  # a comment with a colon:
        ) -> "int":  # another
    # first
    return a
def three():
    """Doc

    string"""
    x = """
not indented
"""
    return x
class C:
    def __init__(self):
        self.a = 1
    async def four(self, *,
                   key=lambda: 1): await self
    def five(self):
        "only a docstring"
    def six(self): "é"; return "é"
    @overload
    def seven(self): ...
if x:
\tdef eight():
\t\tif x:
\t\t\treturn 8
'''


def read(source: str) -> dict[str, list[str]]:
    tree, found = parse_in_pieces(source, parse_alone)
    return {f.name: [ast.unparse(s) for s in found.statements(f)] for f in functions(tree.body)}


def whole(source: str) -> dict[str, list[str]]:
    return {f.name: [ast.unparse(s) for s in f.body] for f in functions(ast.parse(source).body)}


def without_docstring(body: list[str]) -> list[str]:
    constant = body and isinstance(ast.parse(body[0]).body[0], ast.Expr) and body[0][0] in "'\""
    return body[1:] if constant else body


def test_a_body_that_was_left_out_is_read_from_its_lines():
    expected = {name: without_docstring(body) for name, body in whole(SOURCE).items()}
    assert read(SOURCE) == expected
    assert without_bodies(SOURCE) != SOURCE


@pytest.mark.parametrize("library", [textwrap, inspect, json.decoder, ast, abc, module])
def test_bodies_of_real_modules(library):
    source = inspect.getsource(library)
    assert read(source) == {name: without_docstring(body) for name, body in whole(source).items()}


@pytest.mark.parametrize("library", [argparse, dataclasses, inspect, logging, tarfile, typing, unittest.mock])
def test_a_file_says_the_same_with_and_without_its_bodies(library, monkeypatch):
    source = inspect.getsource(library).encode()
    pruned = visit_file("pkg", "pkg/__init__.py", source, SURFACE_RULES)
    monkeypatch.setattr(pieces, "without_bodies", lambda text: text)
    assert pruned == visit_file("pkg", "pkg/__init__.py", source, SURFACE_RULES)
    assert len(pruned.definitions) > 20


STATEMENTS = st.sampled_from(
    ["return 1", "x = '''\n  odd\n'''", "if a:\n    return b", "# a comment", "pass", "...", "a; b = 2", "'text'"]
)


@given(st.lists(STATEMENTS, min_size=1, max_size=4), st.booleans(), st.sampled_from(["", "    ", "\t"]))
def test_any_body_is_read_back(statements, documented, indentation):
    body = [*(["'''Doc.'''"] if documented else []), *statements, "return None"]
    lines = textwrap.indent("\n".join(body), "    ", lambda line: not line.startswith(("  odd", "'''\n")))
    source = f"def f(a):\n{lines}\n"
    if indentation:
        source = "class C:\n" + "\n".join(
            line if line in {"  odd", "'''"} else indentation + line for line in source.split("\n")
        )
    try:
        expected = whole(source)
    except SyntaxError:
        return
    assert read(source) == {name: without_docstring(found) for name, found in expected.items()}


@pytest.mark.parametrize(
    "body",
    ["print 'two'", "try:\n        x\n    except E, e:\n        pass", "raise E, 'x'", "exec 'x' in d"],
)
def test_python_2_inside_a_function_is_seen(body):
    with raises(UnparsedError) as error:
        visit_file("pkg", "pkg/__init__.py", f"def f():\n    {body}\n".encode(), SURFACE_RULES)
    assert str(error.value).startswith(("line 2: ", "line 4: "))


def test_a_file_whose_rest_does_not_parse_is_reported_where_it_is_wrong():
    with raises(UnparsedError, "line 4"):
        visit_file("pkg", "pkg/__init__.py", b"def f():\n    return 1\n\nx = = 1\n", SURFACE_RULES)


def test_warnings_are_found_in_bodies_that_were_left_out():
    found = rows("""
        class C:
            def old(self):
                "Doc."
                with lock:
                    warnings.warn("use new", DeprecationWarning)
            def sometimes(self, x):
                if x:
                    warnings.warn("not x", DeprecationWarning)
                return x
            def __new__(cls):
                warnings.warn("C is gone soon", DeprecationWarning)
    """)
    marked = {path: bool(row["deprecation"]) for path, row in found.items()}
    assert marked == {"pkg": False, "pkg.C": True, "pkg.C.old": True, "pkg.C.sometimes": False}


def test_a_replaced_object_does_not_lend_its_marks_to_another():
    """An import that a later one replaced had the `id` of an object made after it, which then counted as plain."""
    source = "".join(f"try:\n    import a{n}\nexcept E:\n    pass\nfrom x import a{n}\n" for n in range(50))
    record = visit_file("pkg", "pkg/__init__.py", source.encode(), SURFACE_RULES)
    assert not any(definition.plain_import for definition in record.definitions.values())


LINES = ("warnings.warn('x')", "if x: warn(x)", "self._deprecate(x)", "warn", "x = warn(1)", "# warn(", "", "pass")


@given(st.lists(st.sampled_from(LINES), min_size=1), st.sampled_from([" ", "\n    ", '\n    """warn("""\n    ']))
def test_lines_that_begin_with_a_call_are_those_that_a_pattern_finds_in_the_whole_body(
    lines: list[str], between: str
) -> None:
    pattern = re.compile(r"\n([ \t]*)[\w.]*(?:warn|eprecat)[\w.]*\(")
    rest = "\n    ".join([*lines, "return x"]) if "\n" in between else lines[0]
    body = parse_alone(f"def warn(x):{between}{rest}")
    # a body of one line may be nothing but a comment
    assume(body is not None)
    assert body is not None
    assert body.beginning_with_calls(("warn", "eprecat")) == body.search(pattern)


def test_a_line_of_the_head_is_none_of_the_body() -> None:
    body = parse_alone("def f(a=\n    warn(1)): return warn(2)")
    assert body is not None
    assert body.calls(("warn",)) is False
