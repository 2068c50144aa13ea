"""Test functions of a module as pytest collects them, with the classes around them, and what their decorators say."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.corpus.own_tests.suite import Suite, SuiteModule, dotted_name

Function = ast.FunctionDef | ast.AsyncFunctionDef

_SETTING_UP = frozenset(
    {"setUp", "setup", "setup_method", "setUpClass", "setup_class", "asyncSetUp"}
    | {"tearDown", "teardown", "teardown_method", "tearDownClass", "teardown_class", "asyncTearDown"}
)
_AROUND_MODULES = frozenset({"setup_module", "setUpModule", "teardown_module", "tearDownModule"})
_AROUND_FUNCTIONS = frozenset({"setup_function", "teardown_function"})


@dataclass(frozen=True, slots=True)
class Owner:
    """A class of the suite: where it stands."""

    module: SuiteModule
    node: ast.ClassDef


@dataclass(frozen=True, slots=True)
class TestFunction:
    """A test as pytest collects it.

    `module` is the file in which it is collected, `classes` are its class and the bases of that in the suite, nearest
    first, and `home` is where the function itself stands.
    """

    module: SuiteModule
    home: SuiteModule
    function: Function
    classes: tuple[Owner, ...] = ()

    @property
    def name(self) -> str:
        """Its name below the file, as in a node id of pytest."""
        return "::".join([*(owner.node.name for owner in self.classes[:1]), self.function.name])

    @property
    def id(self) -> str:
        """Its node id."""
        return f"{self.module.path}::{self.name}"


def tests_of(module: SuiteModule, suite: Suite) -> Iterator[TestFunction]:
    """Yield the tests of a file, those that a class inherits from others of the suite among them; each name once."""
    tests: dict[str, TestFunction] = {}
    for node in module.tree.body:
        if isinstance(node, Function) and node.name.startswith("test") and not fixture_decorator(node):
            tests[node.name] = TestFunction(module, module, node)
        elif isinstance(node, ast.ClassDef):
            classes, bases = hierarchy(Owner(module, node), suite)
            is_unittest = any(base.rpartition(".")[2].endswith("TestCase") for base in bases)
            if is_unittest or (node.name.startswith("Test") and not _has_constructor(node)):
                for owner, function in members(classes):
                    if isinstance(function, Function) and function.name.startswith("test"):
                        test = TestFunction(module, owner.module, function, classes)
                        tests.setdefault(test.name, test)
    yield from tests.values()


def hierarchy(owner: Owner, suite: Suite) -> tuple[tuple[Owner, ...], tuple[str, ...]]:
    """Return a class with its bases in the suite, nearest first, and the dotted names of bases from elsewhere."""
    inside, outside = [owner], []
    for base in owner.node.bases:
        parent = _class_at(owner.module, base, suite)
        if parent is None or parent == owner:
            outside.append(dotted_name(base))
        else:
            more, others = hierarchy(parent, suite)
            inside += [each for each in more if each not in inside]
            outside += others
    return tuple(inside), tuple(outside)


def _class_at(module: SuiteModule, base: ast.expr, suite: Suite) -> Owner | None:
    """Return the class of the suite that a base names."""
    name = base.id if isinstance(base, ast.Name) else None
    if name is None and isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name):
        bindings = module.bindings.get(base.value.id, ())
        if bindings and bindings[-1].imported is not None:
            target = suite.target(module, bindings[-1])
            if target is not None and target.name is None:
                module, name = target.module, base.attr
    while name is not None and (bindings := module.bindings.get(name, ())):
        last = bindings[-1]
        if last.imported is None:
            return Owner(module, last.statement) if isinstance(last.statement, ast.ClassDef) else None
        target = suite.target(module, last)
        if target is None or target.name is None:
            return None
        module, name = target.module, target.name
    return None


def members(classes: tuple[Owner, ...]) -> Iterator[tuple[Owner, ast.stmt]]:
    """Yield the statements in the bodies of classes; of methods that override each other the nearest alone."""
    overridden: set[str] = set()
    for owner in classes:
        last = {node.name: node for node in owner.node.body if isinstance(node, Function)}
        for node in owner.node.body:
            if not isinstance(node, Function) or (last[node.name] is node and node.name not in overridden):
                yield owner, node
        overridden |= last.keys()


def set_up_of_module(test: TestFunction, as_function: bool) -> list[str]:
    """Return the functions of a test's module that pytest runs around it; those of functions not around a method."""
    names = _AROUND_MODULES | _AROUND_FUNCTIONS if as_function and not test.classes else _AROUND_MODULES
    return [name for name in sorted(names) if name in test.module.bindings]


def is_setting_up(node: ast.stmt) -> bool:
    """Say whether a method runs before or after each test of its class."""
    return isinstance(node, Function) and node.name in _SETTING_UP


def fixture_decorator(node: ast.stmt) -> ast.expr | None:
    """Return the decorator that makes a function a fixture."""
    for decorator in getattr(node, "decorator_list", ()):
        if dotted_name(decorator).rpartition(".")[2] in ("fixture", "yield_fixture"):
            expression: ast.expr = decorator
            return expression
    return None


def marks_of(decorators: list[ast.expr]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the name of each mark, or other decorator, with its node: `parametrize`, `skipif`, `network`."""
    for decorator in decorators:
        yield dotted_name(decorator).rpartition(".")[2], decorator


def parameters(function: Function) -> list[str]:
    """Return the names of a function's parameters that have no default."""
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    required = plain[: len(plain) - len(arguments.defaults)]
    named = [each for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if not default]
    return [each.arg for each in (*required, *named)]


def _has_constructor(node: ast.ClassDef) -> bool:
    return any(isinstance(each, Function) and each.name in ("__init__", "__new__") for each in node.body)
