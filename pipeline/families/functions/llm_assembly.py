"""Tests by a model as a pytest module: allowed contents, names, and each test as a module of its own."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.functions import TestKind
from pipeline.corpus.snippets.names import free_names
from pipeline.families.functions.function import name_of, read_tests
from pipeline.families.functions.writers import Untested
from pipeline.families.llm_code_checks import BadCode, names_used, read_code
from pipeline.families.llm_programs import incomplete
from pipeline.llm.tasks.forms import FunctionTest
from pipeline.llm.tasks.rules import FunctionTestsRules

_TYPE_CHECKS = frozenset({"isinstance", "issubclass", "type"})


@dataclass(frozen=True, slots=True)
class Assembled:
    """A pytest module, the kinds of the tests that were added by name, and a module for each of these alone."""

    text: str
    kinds: Mapping[str, TestKind]
    apart: Mapping[str, str]


def body_problem(test: FunctionTest, function: Untested, rules: FunctionTestsRules) -> str | None:
    """Return the problem of one test's code before it runs; None without one."""
    try:
        tree = read_code(test.code, rules.max_characters)
    except BadCode as error:
        return str(error)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if function.function not in names:
        return f"it does not call {function.function}"
    if names_refused := sorted(set(_imported(tree)) & rules.not_imported):
        return f"it imports {', '.join(names_refused)}, which looks at the program and not at what it gives"
    if names_refused := sorted(names_used(tree) & rules.not_used):
        return f"it uses {', '.join(names_refused)}, which looks at the program and not at what it gives"
    if function.module in _imported(tree):
        imported = f"only {function.function} is sure to be there, and that is imported already"
        return f"it imports {function.module}, of which {imported}"
    if names_refused := sorted(set(_identifiers(tree)) & set(function.hidden)):
        return f"it uses {', '.join(names_refused)}, which is what the function is to find: state the result instead"
    if test.kind is TestKind.RETURN_TYPE and not names & _TYPE_CHECKS:
        return "it looks at no type: use isinstance or type"
    return None


def assemble(tests: Sequence[FunctionTest], function: Untested) -> Assembled:
    """Append tests to those of a function, each under a name with its kind.

    Errors: SyntaxError, RecursionError of code that `body_problem` refuses.
    """
    numbers = Counter(read_tests(function.tests).kinds.values())
    kinds: dict[str, TestKind] = {}
    apart: dict[str, str] = {}
    for test in tests:
        numbers[test.kind] += 1
        name = name_of(test.kind, numbers[test.kind])
        kinds[name], apart[name] = test.kind, _function(name, test.code)
    head = function.tests.rstrip("\n") or _import_of(function)
    return Assembled(
        "\n\n\n".join([_with_pytest(head, apart.values()), *apart.values()]) + "\n",
        kinds,
        {name: f"{_with_pytest(_import_of(function), [text])}\n\n\n{text}\n" for name, text in apart.items()},
    )


def repeated(assembled: Assembled) -> bool:
    """Say whether two tests of a module are the same."""
    tests = [node for node in parse_python(assembled.text).body if isinstance(node, ast.FunctionDef)]
    return len({ast.unparse(ast.Module(test.body, [])) for test in tests}) < len(tests)


def unbound(assembled: Assembled) -> str | None:
    """Say which names the tests use that neither they nor the head of the module define; None where there are none."""
    return next((names for text in assembled.apart.values() if (names := incomplete(text))), None)


def _import_of(function: Untested) -> str:
    return f"from {function.module} import {function.function}"


def _with_pytest(head: str, functions: Collection[str]) -> str:
    """Return the head of a module, which imports pytest where tests use it."""
    used = any("pytest" in free_names(text) for text in functions)
    return f"import pytest\n{head}" if used and "import pytest\n" not in f"{head}\n" else head


def _function(name: str, code: str) -> str:
    """Return a test function of its statements, or of a whole function that was written in their place."""
    body = parse_python(code).body
    if len(body) == 1 and isinstance(body[0], ast.FunctionDef):
        body = body[0].body
    empty = parse_python(f"def {name}(): pass")
    function = empty.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = body or [ast.Pass()]
    return ast.unparse(empty)


def _imported(tree: ast.AST) -> Iterator[str]:
    """Yield the first names of modules that are imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Name) and node.id == "__import__":
            yield node.id


def _identifiers(tree: ast.AST) -> Iterator[str]:
    """Yield the names of a library that code may use; a builtin of the same name is not of a library."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name) and not hasattr(builtins, node.id):
            yield node.id
        elif isinstance(node, ast.alias):
            yield from node.name.split(".")
