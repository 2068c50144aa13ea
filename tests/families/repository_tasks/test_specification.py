"""Requirements in words, from docstrings in each style and from signatures."""

from __future__ import annotations

import ast

import pytest

from pipeline.families.repository_tasks.specification import Requirement, input_code, parsed, requirement_of

SAID = {
    "sphinx": (
        "def f(self, path, mode='r'): pass",
        "Open a file for reading.\n\n:param path: where it is\n:param mode: how it is opened\n:return: the file",
        "Open a file for reading.",
        ":param path: where it is.\n:param mode: how it is opened. Default 'r'.\n:return: the file.",
    ),
    "numpy": (
        "def f(values: list, *more, key=None, **rest) -> int: pass",
        "Count values.\n\nParameters\n----------\nvalues : list of int\n    What is counted.\n\nReturns\n-------\nint\n    How many.\n\nExamples\n--------\n>>> f([1])\n1",
        "Count values.\n\nExamples:\n\n    >>> f([1])\n    1",
        ":param values: list of int. What is counted.\n:param *more:\n:param key: Default None.\n:param **rest:\n:return: int. How many.",
    ),
    "exceptions": (
        "def f(part: int) -> str: pass",
        "Replace it.\n\n:param part: the part\n:raises TypeError: if it is none",
        "Replace it.",
        ":param part: int. the part.\n:return: str.\n:raises TypeError: if it is none.",
    ),
    "signature alone": (
        "async def f(cls, a: int = 1, /) -> str: pass",
        "Say it.",
        "Say it.",
        ":param a: int. Default 1.\n:return: str.",
    ),
    "example whose last prompt is empty": (
        "def f(text): pass",
        "Remove comments.\n\n>>> f('a <!-- b -->')\n'a '\n>>>\n",
        "Remove comments.\n\nExamples:\n\n    >>> f('a <!-- b -->')\n    'a '",
        ":param text:",
    ),
    "prompts that hold only a comment": (
        "def f(text): pass",
        "Remove comments.\n\n>>> import cut\n>>>\n>>> # all of them\n>>> f('a <!-- b -->')\n'a '\n>>>\n",
        "Remove comments.\n\nExamples:\n\n    >>> import cut\n\n    >>> f('a <!-- b -->')\n    'a '",
        ":param text:",
    ),
    "examples that a colon announces, and code that may be the body": (
        "def f(text): pass",
        "Cut a text, for example:\n\n>>> f('a b')\n['a', 'b']\n\nRoughly the same as::\n\n    def f(text):\n        return text.split()\n",
        "Cut a text, for example:\n\nRoughly the same as:\n\nExamples:\n\n    >>> f('a b')\n    ['a', 'b']",
        ":param text:",
    ),
    "what leads up to an example that goes elsewhere": (
        "def f(text): pass",
        "Cut a text.\n\nFor example:\n\n>>> f('a b')  # doctest: +SKIP\n['a', 'b']\n\nIt must be bytes.",
        "Cut a text.\n\nIt must be bytes.\n\nExamples:\n\n    >>> f('a b')\n    ['a', 'b']",
        ":param text:",
    ),
    "examples alone": ("def f(x): pass", ">>> f(1)\n1", "", ":param x:"),
    "nothing taken": ("def f(self) -> None: pass", "Say it.", "Say it.", ""),
    "no docstring": ("def f(x): pass", "", "", ":param x:"),
}


@pytest.mark.parametrize(("code", "docstring", "functionality", "arguments"), SAID.values(), ids=SAID)
def test_what_is_said(code: str, docstring: str, functionality: str, arguments: str) -> None:
    [node] = ast.parse(code).body
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    assert requirement_of(docstring, node) == Requirement(functionality, arguments)


@pytest.mark.parametrize("said", ["Plain.", 'With """quotes""" and \\ in it.', 'Ends with a quote"', "Line\nand line."])
def test_the_prompt_is_python_and_says_the_requirement(said: str) -> None:
    code = input_code(["    def f(self):"], "        ", Requirement(said, ":param x: y."))
    node = parsed([*code.split("\n"), "        pass"])
    assert ast.get_docstring(node) == f"{said}\nInput-Output Arguments\n:param x: y."


INDENTED = {
    "not": "def f(x):\n  return x",
    "a docstring further to the left": "    def f(x):\n        '''say\nit'''\n        return x",
    "tabs": "\tdef f(x):\n\t\treturn x",
}


@pytest.mark.parametrize("code", INDENTED.values(), ids=INDENTED)
def test_a_function_is_read_however_it_is_indented(code: str) -> None:
    node = parsed(code.split("\n"))
    assert (node.name, node.lineno) == ("f", 1)
    assert node.body[-1].lineno == code.count("\n") + 1


@pytest.mark.parametrize("lines", [["x = 1"], ["def f(:"]])
def test_what_is_no_function_is_a_syntax_error(lines: list[str]) -> None:
    with pytest.raises(SyntaxError):
        parsed(lines)
