"""Parametrised tests and fixtures: their cases, each with its values as they stand in the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product

from pipeline.corpus.own_tests.functions import TestFunction, marks_of
from pipeline.corpus.own_tests.rules import OwnTestRules
from pipeline.corpus.own_tests.suite import SuiteModule, dotted_name

_REFUSED = ("skip", "skipif", "xfail")


@dataclass(frozen=True, slots=True)
class Option:
    """One set of parameters of a decorator.

    `values` are expressions by name, where they can be written into the function; `element` is the whole element, and
    `refused` the mark by which pytest skips it.
    """

    id: str
    values: tuple[tuple[str, ast.expr], ...]
    element: ast.expr
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Dimension:
    """A parametrising decorator, of a test, its class or a fixture; `values` stand in `module`.

    `names` are the parameters, `options` the sets of values; none where these are computed. The values of `indirect`
    ones go to fixtures.
    """

    module: SuiteModule
    decorator: ast.expr
    names: tuple[str, ...]
    options: tuple[Option, ...]
    indirect: frozenset[str] = frozenset()


def dimensions(test: TestFunction) -> Iterator[Dimension]:
    """Yield the decorators that parametrise a test, those of its classes among them."""
    places = [(test.home, test.function.decorator_list)]
    places += [(owner.module, owner.node.decorator_list) for owner in test.classes]
    for module, decorators in places:
        for name, decorator in marks_of(decorators):
            if name == "parametrize" and isinstance(decorator, ast.Call):
                yield _dimension(module, decorator)


def _dimension(module: SuiteModule, decorator: ast.Call) -> Dimension:
    arguments = dict(zip(("argnames", "argvalues"), decorator.args, strict=False))
    arguments |= {keyword.arg: keyword.value for keyword in decorator.keywords if keyword.arg}
    names = _names(arguments.get("argnames"))
    elements = elements_of(module, arguments.get("argvalues"))
    options = [_option(element, names) for element in elements or ()] if names else []
    return Dimension(module, decorator, names, tuple(options), _indirect(arguments.get("indirect"), names))


def _indirect(node: ast.expr | None, names: Sequence[str]) -> frozenset[str]:
    """Return the parameters whose values go to fixtures: all of them, or those that a list names."""
    if node is None or (isinstance(node, ast.Constant) and not node.value):
        return frozenset()
    indirect_names = _names(node) if isinstance(node, ast.List | ast.Tuple) else ()
    return frozenset(indirect_names or names)


def fixture_dimension(module: SuiteModule, name: str, decorator: ast.expr) -> Dimension | None:
    """Return how a fixture is parametrised, if it is."""
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else ()
    values = next((keyword.value for keyword in keywords if keyword.arg == "params"), None)
    if values is None:
        return None
    options = [_option(element, (name,)) for element in elements_of(module, values) or ()]
    return Dimension(module, decorator, (name,), tuple(options))


def elements_of(module: SuiteModule, node: ast.expr | None) -> list[ast.expr] | None:
    """Return the elements of a list or tuple that stands in the source, or that a constant of the module holds."""
    if isinstance(node, ast.Name):
        bindings = module.bindings.get(node.id, ())
        statement = bindings[0].statement if len(bindings) == 1 else None
        node = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(node, ast.List | ast.Tuple) or any(isinstance(each, ast.Starred) for each in node.elts):
        return None
    return node.elts


def cases(varied: Sequence[Dimension], rules: OwnTestRules) -> tuple[list[tuple[Option, ...]], int]:
    """Return the combinations of options to cut out, and how many there are in all.

    Where there are too many, those are taken whose hashes are smallest, so that each release gives the same ones.
    """
    total = 1
    for dimension in varied:
        total *= len(dimension.options)
    if total <= rules.cases_per_test:
        return list(product(*(dimension.options for dimension in varied))), total
    few = [sorted(each.options, key=_hash)[: rules.cases_per_test] for each in varied]
    few[4:] = [options[:1] for options in few[4:]]
    chosen = sorted(product(*few), key=lambda each: sha256(case_id(each).encode()).hexdigest())
    return chosen[: rules.cases_per_test], total


def case_id(options: Sequence[Option]) -> str:
    """Return the id of a case, as pytest writes it."""
    return "-".join(option.id for option in options)


def _hash(option: Option) -> str:
    return sha256(option.id.encode()).hexdigest()


def _names(node: ast.expr | None) -> tuple[str, ...]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return tuple(name.strip() for name in node.value.split(",") if name.strip())
    if isinstance(node, ast.List | ast.Tuple):
        names = [each.value for each in node.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        return tuple(names) if len(names) == len(node.elts) else ()
    return ()


def _option(element: ast.expr, names: Sequence[str]) -> Option:
    values, refused, case_id = [element], None, None
    if isinstance(element, ast.Call) and dotted_name(element).rpartition(".")[2] == "param":
        values = element.args
        for keyword in element.keywords:
            if keyword.arg == "marks":
                marks = {each.attr for each in ast.walk(keyword.value) if isinstance(each, ast.Attribute)}
                refused = next((name for name in _REFUSED if name in marks), None)
            elif keyword.arg == "id" and isinstance(keyword.value, ast.Constant):
                case_id = str(keyword.value.value)
    elif len(names) > 1:
        values = element.elts if isinstance(element, ast.Tuple | ast.List) else []
    if any(isinstance(value, ast.Starred) for value in values) or len(values) != len(names):
        values = []
    written = case_id or "-".join(ast.unparse(value) for value in values or [element])
    if len(written) > 80:  # the rest is told apart by a hash
        written = f"{written[:60]}…{sha256(written.encode()).hexdigest()[:12]}"
    return Option(written, tuple(zip(names, values, strict=True)) if values else (), element, refused)
