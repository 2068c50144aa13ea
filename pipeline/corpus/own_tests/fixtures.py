"""Fixtures of a test: found in its class, its module and the conftest files above, with what they need in turn."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.own_tests.functions import Function, TestFunction, fixture_decorator, members, parameters
from pipeline.corpus.own_tests.parametrization import Dimension, fixture_dimension
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.own_tests.suite import Suite, SuiteModule, dotted_name


@dataclass(frozen=True, slots=True)
class Fixture:
    """A fixture of the suite; `aliases` are statements that give it the name by which it is asked for."""

    name: str
    module: SuiteModule
    function: Function
    decorator: ast.expr
    in_class: bool = False
    aliases: tuple[tuple[SuiteModule, ast.stmt], ...] = ()

    @property
    def needs(self) -> list[str]:
        """The fixtures that it asks for."""
        return [name for name in parameters(self.function)[self.in_class :] if name != "request"]

    @property
    def asks_request(self) -> bool:
        """Whether it uses `request`."""
        return any(isinstance(node, ast.Name) and node.id == "request" for node in ast.walk(self.function))

    @property
    def dimension(self) -> Dimension | None:
        """How it is parametrised."""
        return fixture_dimension(self.module, self.name, self.decorator)

    @property
    def is_generator(self) -> bool:
        """Whether it yields its value, and so cleans up behind the test."""
        return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(self.function))


@dataclass
class Fixtures:
    """The fixtures that a test needs, each before those that need it; `built_in` are those of pytest itself.

    One that another overrides, which builds on it, has the key `beneath(name)`.
    """

    of_suite: dict[str, Fixture] = field(default_factory=dict)
    built_in: set[str] = field(default_factory=set)


def beneath(name: str) -> str:
    """Return the key of a fixture that one of its own name builds on."""
    return f"{name} beneath"


def fixtures_of(test: TestFunction, names: list[str], suite: Suite) -> Fixtures:
    """Return the fixtures that a test asks for, by its parameters, its marks, or because they are automatic.

    Errors: Refused, where a fixture is not in the suite and no part of pytest.
    """
    finder = _Finder(test, suite)
    for name in [*_automatic(test, suite), *_used(test), *names]:
        finder.add(name, ())
    return finder.fixtures


class _Finder:
    def __init__(self, test: TestFunction, suite: Suite) -> None:
        self.test = test
        self.suite = suite
        self.fixtures = Fixtures()

    def add(self, name: str, way: tuple[str, ...]) -> None:
        """Take in a fixture behind those that it needs; `way` leads to it."""
        if name in self.fixtures.of_suite or name in self.fixtures.built_in:
            return
        if name in way:
            raise Refused(RejectReason.NAME_CONFLICT, f"the fixture {name} builds on another of its name")
        fixture, rules = _find(name, self.test, self.suite), self.suite.rules
        if fixture is None and name in rules.built_in_fixtures:
            self.fixtures.built_in.add(name)
            return
        if fixture is None:
            reason = rules.refused_names.get(name, RejectReason.NO_FIXTURE)
            raise Refused(reason, f"the fixture {name} is neither in the suite nor a part of pytest")
        if name in fixture.needs:
            self._add(beneath(name), _above(fixture, self.suite), (*way, name))
        self._add(name, fixture, way)

    def _add(self, key: str, fixture: Fixture, way: tuple[str, ...]) -> None:
        if isinstance(fixture.function, ast.AsyncFunctionDef):
            detail = f"the fixture {fixture.name} is asynchronous: a plugin of pytest runs it"
            raise Refused(RejectReason.NO_FIXTURE, detail)
        for needed in fixture.needs:
            if needed != fixture.name or key != needed:
                self.add(needed, (*way, fixture.name))
        self.fixtures.of_suite[key] = fixture


def _above(fixture: Fixture, suite: Suite) -> Fixture:
    """Return the fixture that one of its name builds on: the nearest above its module."""
    for module in suite.conftests(fixture.module.path):
        if fixture_above := _in_module(fixture.name, fixture.name, module, suite):
            return fixture_above
    raise Refused(RejectReason.NAME_CONFLICT, f"the fixture {fixture.name} builds on another of its name")


def _find(name: str, test: TestFunction, suite: Suite) -> Fixture | None:
    for owner, node in members(test.classes):
        if isinstance(node, Function) and (decorator := fixture_decorator(node)) and _name_of(node, decorator) == name:
            return Fixture(name, owner.module, node, decorator, in_class=True)
    for module in (test.module, *suite.conftests(test.module.path)):
        if fixture := _in_module(name, name, module, suite):
            return fixture
    return None


def _in_module(
    name: str, bound: str, module: SuiteModule, suite: Suite, aliases: tuple[tuple[SuiteModule, ast.stmt], ...] = ()
) -> Fixture | None:
    """Return the fixture of a name in a module, which may have imported it or given it a second name."""
    if len(aliases) > 8:  # names that lead in a circle
        return None
    if named := _by_name(bound, module):
        return Fixture(name, module, *named, aliases=aliases)
    for binding in reversed(module.bindings.get(bound, ())):
        statement = binding.statement
        if binding.imported is not None:
            target = suite.target(module, binding)
            if target is not None and target.name is not None:
                return _in_module(name, target.name, target.module, suite, aliases)
            return None
        if isinstance(statement, Function) and (decorator := fixture_decorator(statement)):
            return Fixture(name, module, statement, decorator, aliases=aliases)
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
            return _in_module(name, statement.value.id, module, suite, (*aliases, (module, statement)))
        return None
    for star in module.stars:
        inner = suite.star(module, star)
        if (
            inner is not None
            and inner is not module
            and (fixture_of_star := _in_module(name, bound, inner, suite, aliases))
        ):
            return fixture_of_star
    return None


def _by_name(bound: str, module: SuiteModule) -> tuple[Function, ast.expr] | None:
    """Return the fixture of a module whose decorator states a name: `@pytest.fixture(name="x")`."""
    for statement in module.tree.body:
        decorator = fixture_decorator(statement)
        if not isinstance(statement, Function) or decorator is None or statement.name == bound:
            continue
        if _name_of(statement, decorator) == bound:
            return statement, decorator
    return None


def _automatic(test: TestFunction, suite: Suite) -> Iterator[str]:
    """Yield the fixtures that every test of the class, the module or a folder has; those for doctests do not count.

    Nor do those that only filter warnings: a warning fails no test by itself.
    """
    for module in (*reversed(list(suite.conftests(test.module.path))), test.module):
        yield from _automatic_in(module)
    for _, node in members(test.classes):
        if (name := _automatic_name(node)) is not None:
            yield name


@functools.lru_cache(16)  # tests come module by module
def _automatic_in(module: SuiteModule) -> tuple[str, ...]:
    return tuple(name for node in module.tree.body if (name := _automatic_name(node)) is not None)


def _automatic_name(node: ast.stmt) -> str | None:
    decorator = fixture_decorator(node)
    if not isinstance(node, Function) or not isinstance(decorator, ast.Call):
        return None
    if "doctest_namespace" in parameters(node) or all(_filters_warnings(each) for each in node.body):
        return None
    is_automatic = any(
        keyword.arg == "autouse" and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
        for keyword in decorator.keywords
    )
    return _name_of(node, decorator) if is_automatic else None


def _used(test: TestFunction) -> Iterator[str]:
    """Yield the fixtures that marks ask for: `usefixtures("tmp_db")`."""
    decorators = [*test.function.decorator_list, *(d for owner in test.classes for d in owner.node.decorator_list)]
    for decorator in decorators:
        if isinstance(decorator, ast.Call) and dotted_name(decorator).endswith("usefixtures"):
            yield from (str(each.value) for each in decorator.args if isinstance(each, ast.Constant))


def _filters_warnings(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and dotted_name(statement.value).startswith("warnings.")


def _name_of(node: Function, decorator: ast.expr) -> str:
    for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    return node.name
