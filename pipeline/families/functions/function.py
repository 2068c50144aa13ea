"""A task function and its tests, by rules or by a model."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.functions import TestKind
from pipeline.families.passed_parameters import PassedParameters, passed_parameters
from pipeline.families.problems.apis.needs import NEEDS_API, NEEDS_LIBRARY
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ApiDocumentRow

_KINDS = {kind.value: kind for kind in TestKind}


@dataclass(frozen=True, slots=True)
class Function:
    """A program with complete imports whose function `name` is the task, right for a version of a library.

    `path` is the core API, `hidden` what no text about the function may give away: its name, and those of its
    parameters that the version changed. `docstrings` bear on it, the most telling first, and `document` is what the
    documentation says of it by parts; `apis` are names of the library's functions.
    """

    library: str
    version: str
    path: str
    program: str
    name: str
    parameters: tuple[str, ...]
    hidden: tuple[str, ...]
    docstrings: tuple[str, ...]
    document: ApiDocumentRow | None = None
    apis: frozenset[str] = frozenset()

    @property
    def id(self) -> str:
        """The function's id: of the same program in another version it is another."""
        return content_id("function", self.library, self.version, self.path, self.program)

    @property
    def passed(self) -> PassedParameters:
        """The parameters of the core API that the program passes."""
        return passed_parameters(self.program, self.parameters, self.path.rpartition(".")[2], self.document)

    @property
    def module(self) -> str:
        """The name under which tests import the program."""
        return f"function_{self.id}"


@dataclass(frozen=True, slots=True)
class Tests:
    """A pytest module that tests a function, and the kind of each of its tests by name.

    The tests that a program needs the library, or its core API, are of no kind.
    """

    __test__ = False  # for pytest

    text: str
    kinds: Mapping[str, TestKind]

    @property
    def counts(self) -> Mapping[TestKind, int]:
        """The number of tests by kind, without zeros."""
        return Counter(self.kinds.values())

    @property
    def missing_kinds(self) -> tuple[TestKind, ...]:
        """The kinds of which there is no test."""
        return tuple(kind for kind in TestKind if kind not in self.counts)

    @property
    def trivial(self) -> str | None:
        """What a body could do in every test without the library: return one value, or an argument as it is.

        None where nothing does, or where a test compares otherwise than `… == value` and `… is value`.
        """
        tests = [node for node in parse_python(self.text).body if isinstance(node, ast.FunctionDef)]
        answers = [
            _answers(statement)
            for test in tests
            if self.kinds.get(test.name) not in (None, TestKind.RETURN_TYPE)
            for statement in ast.walk(test)
            if isinstance(statement, ast.Assert)
        ]
        return min(frozenset.intersection(*answers), default=None) if answers else None


def name_of(kind: TestKind, number: int) -> str:
    """Return the name of a test, which has its kind; numbers begin with 1 in each kind."""
    return f"test_{kind}_{number}"


def read_tests(text: str) -> Tests:
    """Read the kinds of the tests of a pytest module from their names.

    Errors: ValueError for a test whose name tells no kind.
    """
    names = [node.name for node in parse_python(text).body if isinstance(node, ast.FunctionDef)]
    kinds = {name: _kind(name) for name in names if name.startswith("test_") and name not in (NEEDS_API, NEEDS_LIBRARY)}
    return Tests(text, kinds)


def _answers(statement: ast.Assert) -> frozenset[str]:
    """Return trivial bodies that might pass a test."""
    match statement.test:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[value]):
            arguments = left.args if isinstance(left, ast.Call) else []
            text = ast.unparse(value)
            same = [number for number, argument in enumerate(arguments, 1) if ast.unparse(argument) == text]
            return frozenset([f"return {text} whatever it gets", *(f"return argument {n} as it is" for n in same)])
    return frozenset()


def _kind(name: str) -> TestKind:
    label = name.removeprefix("test_").rpartition("_")[0]
    if label not in _KINDS:
        raise ValueError(f"{name}: no test of one of the kinds {', '.join(_KINDS)}")
    return _KINDS[label]
