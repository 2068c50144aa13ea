"""Files are cut into parts that can stand alone with what they need of the file."""

from __future__ import annotations

import argparse
import ast
import configparser
import dataclasses
import enum
import inspect
import json.decoder
import logging
import textwrap
import typing
from types import ModuleType

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.corpus.snippets.code_sample_rules import CodeSampleRules
from pipeline.corpus.snippets.cut import parts_of
from pipeline.corpus.snippets.pieces import Piece, pieces_of_file
from pipeline.corpus.snippets.rules import SnippetRules
from pipeline.corpus.usages.text import source_of

SAMPLE_RULES = load(RULES / "snippets.yaml", SnippetRules).samples


def pieces(text: str, rules: CodeSampleRules = SAMPLE_RULES) -> list[Piece]:
    text = textwrap.dedent(text).lstrip("\n")
    return list(pieces_of_file(text, ast.parse(text), {"lib"}, rules))


def parts(text: str, max_run_lines: int = 30) -> list[tuple[str, tuple[int, int]]]:
    body = ast.parse(textwrap.dedent(text).lstrip("\n")).body
    return [(str(part.style), part.lines) for part in parts_of(body, max_run_lines)]


CUT = {
    "functions": ("def f(): ...\n\n\n@cache\ndef g():\n    pass\n", [("function", (1, 1)), ("function", (4, 6))]),
    "imports and docstrings are none": ('"""Doc."""\nimport a\nfrom b import c\n"text"\n', []),
    "runs": ("x = 1\ny = 2\n\nz = 3\ndef f(): ...\nw = 4\n", [("statements", (1, 4)), ("function", (5, 5)), ("statements", (6, 6))]),
    "imports part runs": ("x = 1\nimport a\ny = 2\n", [("statements", (1, 1)), ("statements", (3, 3))]),
    "methods": ("class A(B):\n    x = 1\n\n    def m(self): ...\n\n    async def n(self): ...\n", [("class_body", (1, 2)), ("method", (4, 4)), ("method", (6, 6))]),
    "a method first": ("@d\nclass A:\n    # c\n    @p\n    def m(self):\n        pass\n", [("method", (1, 6))]),
    "on one line": ("class A: x = 1\n", [("class_body", (1, 1))]),
    "classes in classes": ("class A:\n    x = 1\n    class B:\n        y = 1\n        def m(self): ...\n", [("class_body", (1, 2)), ("class_body", (3, 4)), ("method", (5, 5))]),
    "text of a class": ('class A:\n    """Doc."""\n    def m(self): ...\n    """of m"""\n    def n(self): ...\n', [("class_body", (1, 2)), ("method", (3, 3)), ("method", (5, 5))]),
}  # fmt: skip


@pytest.mark.parametrize("name", CUT)
def test_a_file_is_cut_at_its_definitions(name: str) -> None:
    text, expected = CUT[name]
    assert parts(text) == expected


def test_runs_of_statements_are_bounded_and_lines_stay_whole() -> None:
    assert parts("a = 1\nb = 2\nc = 3\nd = 4\n", 2) == [("statements", (1, 2)), ("statements", (3, 4))]
    assert parts("a = 1\nb = 2; c = 3\n", 1) == [("statements", (1, 1)), ("statements", (2, 2))]


NEEDS = {
    "nothing": ("import lib\ndef f():\n    import lib\n    lib.g()\n", ""),
    "its imports": ("import os\nimport lib\nimport sys as s, json as j\ndef f():\n    return lib.g(j)\n", "import lib\nimport json as j\n"),
    "of one statement only the names": ("from lib import a, b as c, d\ndef f(a): return c(d)\n", "from lib import b as c, d\n"),
    "packages and their modules": ("import lib\nimport lib.sub\nimport lib.sub.deep as deep\ndef f(): lib.sub.g()\n", "import lib\nimport lib.sub\n"),
    "constants, and what they need": ("import lib, os\nA = os.sep\nB = [A,\n     lib.x]\nC = 1\ndef f(): return lib.g(B)\n", "import lib, os\nA = os.sep\nB = [A,\n     lib.x]\n"),
    "constants that come later": ("import lib\ndef f(): return lib.g(A)\nA: int = 1\n", "import lib\nA: int = 1\n"),
    "the constant as it is then": ("import lib\nA = 1\nclass C: x = lib.g(A)\nA = 2\n", "import lib\nA = 1\n"),
    "no long constants": ("import lib\nA = [\n  1,\n  2,\n  3,\n  4,\n  5,\n]\ndef f(): return lib.g(A)\n", "import lib\n"),
    "no other functions": ("import lib\ndef h(): ...\ndef f(): return lib.g(h())\n", "import lib\n"),
    "conditions": ("try:\n    import lib\nexcept ImportError:\n    lib = None\ndef f(): return lib.g()\n", "try:\n    import lib\nexcept ImportError:\n    lib = None\n"),
    "imports of long conditions": ("if x:\n    pass\n    pass\n    pass\n    pass\n    pass\n    from lib import g\ndef f(): return g()\n", "from lib import g\n"),
    "not the start of a script": ("import lib\ndef f(): return lib.g(h)\nif __name__ == '__main__':\n    from os import h\n    f()\n", "import lib\n"),
    "star imports": ("from lib import *\nfrom os import *\ndef f(): return g()\n", "from lib import *\nfrom os import *\n"),
    "names that builtins hide": ("from lib import open\ndef f(): return open(1)\n", "from lib import open\n"),
    "class heads": ("import lib\nclass A(lib.B):\n    '''Doc.'''\n    def m(self):\n        return lib.g()\n", "import lib\nclass A(lib.B):\n"),
    "heads of heads": ("import lib\nclass A:\n    x = 1\n    class B(\n        object\n    ):\n        y = 1\n        def m(self): return lib.g()\n", "import lib\nclass A:\n    class B(\n        object\n    ):\n"),
    "what the method reads": ("import lib\nclass A:\n    x = 1\n    def __init__(self, a):\n        self.a = lib.g(a)\n    def m(self):\n        return self.a.h()\n", "import lib\nclass A:\n    def __init__(self, a):\n        self.a = lib.g(a)\n"),
    "no __init__ that is not read": ("import lib\nclass A:\n    x = 1\n    def __init__(self, a):\n        self.a = lib.g(a)\n    def m(self):\n        return lib.h()\n", "import lib\nclass A:\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", NEEDS)
def test_a_part_has_its_preamble(name: str) -> None:
    text, expected = NEEDS[name]
    functions = [p for p in pieces(text) if p.style in ("function", "method") and "__init__" not in p.code]
    piece = (functions or pieces(text))[-1]
    assert piece.preamble == expected
    compile(source_of({"preamble": piece.preamble, "code": piece.code}), "<piece>", "exec")


def test_constants_go_before_imports_where_not_all_fits() -> None:
    text = "import lib\nA = 1\nclass C:\n    x = 1\n    def __init__(self):\n        self.a = lib.f()\n    def m(self):\n        return self.a, A\n"
    fitting = [
        pieces(text, SAMPLE_RULES.model_copy(update={"max_preamble_lines": lines}))[-1].preamble
        for lines in (5, 4, 3, 2)
    ]
    initialiser = "class C:\n    def __init__(self):\n        self.a = lib.f()\n"
    assert fitting == [
        f"import lib\nA = 1\n{initialiser}",
        f"import lib\n{initialiser}",
        "A = 1\nclass C:\n",
        "A = 1\nclass C:\n",
    ]


MENTIONS = {
    "import lib\ndef f(): return lib.g()\n": ["def f(): return lib.g()\n"],
    "import other\ndef f(): return other.g()\n": [],
    "import lib\ndef f(): ...\n": [],
    "from lib import g as h\nX = h()\ndef f(): return X.y\n": ["X = h()\n", "def f(): return X.y\n"],
    "def f():\n    from lib import g\n    return g()\n": ["def f():\n    from lib import g\n    return g()\n"],
    "from .lib import g\ndef f(): return g()\n": [],
    "from lib import *\ndef f(): return 1\n": ["def f(): return 1\n"],
}


@pytest.mark.parametrize("text", MENTIONS)
def test_only_parts_that_could_use_the_library_are_cut(text: str) -> None:
    assert [piece.code for piece in pieces(text)] == MENTIONS[text]


@pytest.mark.parametrize("module", [argparse, configparser, dataclasses, enum, json.decoder, logging, typing])
def test_every_part_of_a_real_file_parses_with_its_preamble(module: ModuleType) -> None:
    """The names that a function of the standard library takes from its file are there, or are its own definitions."""
    text = inspect.getsource(module)
    tree = ast.parse(text)
    roots = {"re", "sys", "os", "functools", "collections", "inspect", "abc"}
    result = list(pieces_of_file(text, tree, roots, SAMPLE_RULES))
    assert len(result) > 5 or module is json.decoder
    for piece in result:
        whole = ast.parse(piece.preamble + piece.code)
        assert text.split("\n")[piece.line] == piece.code.split("\n")[0]
        used = {node.id for node in ast.walk(whole) if isinstance(node, ast.Name)}
        imported = {alias.asname or alias.name.partition(".")[0] for alias in _imports(tree)} & used & roots
        assert imported <= {alias.asname or alias.name.partition(".")[0] for alias in _imports(whole)}


def _imports(tree: ast.Module) -> list[ast.alias]:
    return [alias for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
