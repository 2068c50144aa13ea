"""Pieces: what is remembered of other files never changes what is read of a file."""

import argparse
import ast
import inspect
import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.api.surface.parse.module_model import ModuleRecord
from pipeline.api.surface.parse.pieces import parse_alone, parse_in_pieces, remembered
from pipeline.api.surface.parse.syntax import functions
from pipeline.api.surface.visit import UnparsedError, visit_file
from tests.api.surface.trees import SURFACE_RULES

HEADS = [
    "",
    "from __future__ import annotations",
    "from typing import Literal, Optional, overload",
    "class Literal: pass",
    "from functools import cached_property, lru_cache",
    "def property(f): return f",
    "TEXT = '''\ndef not_one(): pass\ndef not_two():\n    pass\n'''",
    "TEXT = '''\ndef no_function():\n    print 'this'\n'''",
    "if True:\n    def sure(a): return a",
    "try:\n    import fast\nexcept ImportError:\n    def fast(): pass",
    "setattr(C, name, 1)",
]
FUNCTIONS = [
    "def f(a: Literal['b'], c: 'C' = None) -> Optional['C']:\n    '''Doc.\n\n    More.\n    '''\n    return a",
    "@property\ndef p(self):\n    # a comment\n    return '''\ndef inner(): pass\n'''",
    "@p.setter\ndef p(self, value): self._p = value",
    "@overload\ndef f(a: int) -> 'Literal[1]': ...",
    "def __init__(self, x, **kwargs):\n    self.x = x\n    '''What x is.'''\n    self.y: 'int' = kwargs.pop('y', 1)",
    "def set(self):\n    self.z, other = 1, 2\n    self.x = 3",
    "def old(self):\n    '''\n    .. deprecated:: 1.2\n    '''\n    warnings.warn('use f', DeprecationWarning)",
    "def brackets(a=(\n    1,\n)):\n    return [\na]",
    "async def later(self): await self",
    "@staticmethod\ndef many(*args, b=lambda: 1, **options) -> 'str': return globals()",
    "def print_it():\n    '''\n    print 'this'\n    '''",
    "def two():\n    print 'this'",
    "def two_in_text():\n    return '''\nprint 'this'\n'''",
    "def open_bracket():\n    print (\ny\n)",
    "def open_text():\n    print '''",
]
BELOW = ["", "f = staticmethod(f)", "C.later = f", "del f", "__all__ = ['f', 'C']", "x: int = 1\n'''What x is.'''", ")"]


@st.composite
def sources(draw: st.DrawFn) -> str:
    """Return a module of some functions, some of them in a class, with what they depend on."""
    head = draw(st.lists(st.sampled_from(HEADS), max_size=3))
    free = draw(st.lists(st.sampled_from(FUNCTIONS), max_size=3))
    members = draw(st.lists(st.sampled_from(FUNCTIONS), max_size=4))
    inside = textwrap.indent("\n\n".join(['"""About C."""', *members]), draw(st.sampled_from(["    ", "\t", "  "])))
    below = draw(st.sampled_from(BELOW))
    return "\n\n".join([*head, *free, f"class C(Base):\n{inside}", below]) + "\n"


def read(source: str, known) -> ModuleRecord | str:
    try:
        return visit_file("pkg.part", "pkg/part.py", source.encode(), SURFACE_RULES, parse_function=known)
    except UnparsedError as error:
        return str(error)


@given(st.lists(sources(), min_size=1, max_size=4))
def test_what_is_remembered_changes_no_record(files):
    known = remembered(5)
    for source in [*files, *reversed(files)]:
        assert read(source, known) == read(source, lambda text: None) == read(source, parse_alone)


@given(sources())
def test_of_a_source_that_may_not_parse_it_is_told_whether_it_does(source):
    known = remembered(5)
    try:
        expected = [type(node) for node in ast.parse(source).body]
    except SyntaxError:
        expected = None
    for _ in range(2):
        if expected is None:
            with pytest.raises(SyntaxError):
                parse_in_pieces(source, known, unsure=True)
        else:
            tree, _bodies = parse_in_pieces(source, known, unsure=True)
            assert [type(node) for node in tree.body] == expected


PYTHON_2 = "def old():\n    try:\n        return 1\n    except (OSError, IOError), e:\n        raise"
NEVER_PARSES = "def never():\n    return 1 2"


def test_of_python_2_only_the_functions_that_tell_of_it_must_be_seen_to_parse():
    docstring = 'def f():\n    """\n    print "of Python 2"\n    """'
    assert read(f"{docstring}\n\n\n{NEVER_PARSES}", parse_alone) != read(docstring, parse_alone)
    assert isinstance(read(f"{docstring}\n\n\n{NEVER_PARSES}", parse_alone), ModuleRecord)
    assert isinstance(read(f"{NEVER_PARSES}\n\n\n{PYTHON_2}", parse_alone), str)


@pytest.mark.parametrize(
    "example", ["def real(self): pass", "@decorated\n    def real(self): pass", "def other(): pass"]
)
def test_a_function_in_a_string_costs_those_around_it_nothing(example):
    documented = f'class C:\n    """An example:\n\n    {example}\n    """'
    source = f"import os\n\n\n{documented}\n\n    def real(self): pass\n\n    def more(self): pass"
    tree, bodies = parse_in_pieces(source, parse_alone)
    _, class_ = tree.body
    assert ast.dump(class_) == ast.dump(ast.parse(source).body[1])
    assert "def more" not in bodies.rest
    assert example in bodies.rest


@pytest.mark.parametrize("library", [textwrap, inspect, json.decoder, ast, argparse])
def test_the_functions_of_real_modules_stand_alone(library):
    source = inspect.getsource(library)
    whole = [(node.name, node.lineno, node.end_lineno) for node in functions(ast.parse(source).body)]
    tree, bodies = parse_in_pieces(source, parse_alone)
    nodes = list(functions(tree.body))
    assert [(node.name, node.lineno, node.end_lineno) for node in nodes] == whole
    assert all(bodies.of(node).text != source for node in nodes)


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    x = (",
        "def f():\n    '''open",
        "def f(): pass\nx = 1",
        "    def f(self): pass\n  x = 1",
        "    x = 1",
        "def f(:\n    pass",
        "@decorator",
        "class C: pass",
    ],
)
def test_what_is_not_one_function_does_not_stand_alone(text):
    assert parse_alone(text) is None


def test_the_remembered_function_of_another_place_keeps_its_own_lines_and_types():
    known = remembered(8)
    function = "def f(a: Literal['b']):\n    '''Doc.'''\n"
    first = read(f"from typing import Literal\n{function}", known)
    second = read(f"x = 1\n\n\nfrom mine import Literal\n{function}", known)
    assert isinstance(first, ModuleRecord)
    assert isinstance(second, ModuleRecord)
    assert [r.definitions["f"].called[0]["annotation"] for r in (first, second)] == ["Literal['b']", "Literal[b]"]
    assert [r.lines["f"] for r in (first, second)] == [3, 6]


@pytest.mark.parametrize("below", ["", "\n\n    # pass", "\n    # def g(self):\n    #     pass", "  # pass", "; pass"])
@pytest.mark.parametrize("body", ["pass", "return 1", "x = 1\n        y = 2", "'''Doc.'''", "'''Doc.'''\n        pass"])
def test_a_function_ends_where_its_last_statement_does(body, below):
    """The sketch of a method of pandas' interchange protocol was of the comment below it, which ends in `pass`."""
    text = f"    def f(self):\n        {body}{below}"
    known = remembered(5)
    for source in (text, text.replace("self", "cls"), text.replace("Doc", "Other"), text.replace("1", "3"), text):
        found = known(source)
        assert found is not None
        (function,) = functions(ast.parse(found.text).body)
        assert found.last_line == function.end_lineno
