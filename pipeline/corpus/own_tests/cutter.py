"""Cutting a test out of its suite: each of its cases becomes a program that stands alone."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.own_tests.fixtures import Fixture, Fixtures, beneath, fixtures_of
from pipeline.corpus.own_tests.functions import (
    Function,
    Owner,
    TestFunction,
    fixture_decorator,
    is_setting_up,
    marks_of,
    members,
    parameters,
    set_up_of_module,
)
from pipeline.corpus.own_tests.methods import Flat, flattened
from pipeline.corpus.own_tests.needs import refuse_unmet
from pipeline.corpus.own_tests.parametrization import Dimension, Option, case_id, cases, dimensions
from pipeline.corpus.own_tests.program import Program, globals_of
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.own_tests.rendering import Edit, operand, render, replace
from pipeline.corpus.own_tests.suite import Suite, SuiteModule, Unparsed, dotted_name

_MARKS = frozenset({"parametrize", "skipif", "filterwarnings", "usefixtures"})
"""Marks that change how a test runs; others are labels."""

_CONTEXTS = frozenset({"raises", "warns", "deprecated_call"})
_STRAIGHT = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Import, ast.ImportFrom)
"""Statements of a fixture that mean the same in the test."""

_INDENT = "    "
_STACK = "stack"
"""The name of what holds the contexts of fixtures open."""


@dataclass(frozen=True, slots=True)
class CutTest:
    """A case of a test as a program: what it needs, then the test itself."""

    test: TestFunction
    case: str
    preamble: str
    code: str

    @property
    def id(self) -> str:
        """Its node id, with the case in brackets."""
        return f"{self.test.id}[{self.case}]" if self.case else self.test.id


@dataclass(frozen=True, slots=True)
class NotCut:
    """A test, or a case of it, that cannot be cut out, and why."""

    id: str
    reason: RejectReason
    detail: str


def cut(test: TestFunction, suite: Suite) -> Iterator[CutTest | NotCut]:
    """Yield the cases of a test as programs, or why one, or all of it, cannot be cut out."""
    try:
        _refuse(test, suite)
        plan = _plan(test, suite)
    except Refused as refused:
        yield NotCut(test.id, refused.reason, str(refused))
        return
    except Unparsed as error:
        yield NotCut(test.id, RejectReason.UNPARSED_SOURCE, f"a file that it needs: {error}")
        return
    chosen, total = cases(plan.expanded, suite.rules)
    if len(chosen) < total:
        detail = f"{len(chosen)} of its {total} cases are taken"
        yield NotCut(f"{test.id}[…]", RejectReason.OVER_QUOTA, detail)
    counts: Counter[str] = Counter()
    for options in chosen:
        case = case_id(options)
        counts[case] += 1
        case += f"#{counts[case]}" if counts[case] > 1 else ""
        key = f"{test.id}[{case}]" if options else test.id
        try:
            if mark := next((option.refused for option in options if option.refused), None):
                raise Refused(RejectReason.SKIPPED, f"its parameters are marked {mark}")
            yield _Case(plan, options, suite, case).cut()
        except Refused as refused:
            yield NotCut(key, refused.reason, str(refused))
        except Unparsed as error:
            yield NotCut(key, RejectReason.UNPARSED_SOURCE, f"a file that it needs: {error}")


@dataclass(frozen=True)
class _Plan:
    """What all cases of a test have in common."""

    test: TestFunction
    fixtures: Fixtures
    expanded: tuple[Dimension, ...]
    flat: Flat | None

    @property
    def is_function(self) -> bool:
        return not self.test.classes or self.flat is not None


def _refuse(test: TestFunction, suite: Suite) -> None:
    """Refuse a test that pytest would not run here, by its marks and those of its class and module."""
    rules = suite.rules
    decorators = [*test.function.decorator_list, *(d for owner in test.classes for d in owner.node.decorator_list)]
    for binding in test.module.bindings.get("pytestmark", ()):
        if isinstance(binding.statement, ast.Assign | ast.AnnAssign) and (value := binding.statement.value):
            decorators += value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
    for name, _ in marks_of(decorators):
        if reason := rules.refused_marks.get(name):
            raise Refused(reason, f"marked {name}")
    own = [node for node in ast.walk(test.function) if isinstance(node, ast.Yield | ast.YieldFrom)]
    nested = {
        id(node)
        for inner in ast.walk(test.function)
        if isinstance(inner, Function | ast.Lambda) and inner is not test.function
        for node in ast.walk(inner)
    }
    if any(id(node) not in nested for node in own):
        raise Refused(RejectReason.NO_CHECK, "a generator, which pytest does not run")


def _plan(test: TestFunction, suite: Suite) -> _Plan:
    function = test.function
    is_static = any(name == "staticmethod" for name, _ in marks_of(function.decorator_list))
    names = parameters(function)[bool(test.classes) and not is_static :]
    direct = list(dimensions(test))
    by_parametrize = {name for dimension in direct for name in dimension.names if name not in dimension.indirect}
    injected = _injected(function, names)
    fixtures = fixtures_of(test, [name for name in names if name not in by_parametrize | injected], suite)
    of_fixtures = [fixture.dimension for name, fixture in fixtures.of_suite.items() if name not in by_parametrize]
    indirect = {name for dimension in direct for name in dimension.indirect}
    varied = [*direct, *(each for each in of_fixtures if each is not None and each.names[0] not in indirect)]
    in_class = any(fixture.in_class for fixture in fixtures.of_suite.values())
    flat = flattened(test) if test.classes and not in_class and not is_static else None
    return _Plan(test, fixtures, tuple(each for each in varied if each.options), flat)


def _injected(function: Function, names: Sequence[str]) -> set[str]:
    """Return the parameters that decorators fill: mocks from the left, examples of hypothesis by name or the right."""
    mocks = 0
    injected: set[str] = set()
    for decorator in function.decorator_list:
        name = dotted_name(decorator)
        if not isinstance(decorator, ast.Call):
            continue
        last = name.rpartition(".")[2]
        if last == "patch" or ".patch." in f".{name}":
            place = 1 if last == "patch" else 2
            has_new = len(decorator.args) > place or any(each.arg == "new" for each in decorator.keywords)
            mocks += not has_new and last not in ("dict", "multiple")
        elif last == "given":
            injected |= {each.arg for each in decorator.keywords if each.arg}
            injected |= set(names[len(names) - len(decorator.args) :]) if decorator.args else set()
        elif last not in ("usefixtures", "parametrize") and decorator.args:
            # A function of the suite that parametrises: `@both_kinds("items", …)`.
            first = decorator.args[0]
            argnames = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
            injected |= {part.strip() for part in argnames.split(",")} & set(names)
    return injected | set(names[:mocks])


@dataclass
class _Case:
    """One case while it is cut out."""

    plan: _Plan
    options: Sequence[Option]
    suite: Suite
    name: str
    edits: dict[ast.stmt, list[Edit]] = field(default_factory=dict)
    head: list[str] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)
    """Names that what was written into the test brings from other modules."""

    def cut(self) -> CutTest:
        test = self.plan.test
        self.program = Program(self.suite, self.edits)
        self.locals = _locals(test.function) | {name for name, _ in self._set_up_names()}
        for dimension, option in zip(self.plan.expanded, self.options, strict=True):
            self._choose(dimension, option)
        self._fixtures()
        code = self._function() if self.plan.is_function else self._class()
        if "pytestmark" in test.module.bindings and not self._is_label(test.module):
            self.program.need(test.module, "pytestmark")
        for name in set_up_of_module(test, self.plan.is_function):
            self.program.need(test.module, name)
        for statement in test.module.tree.body:
            if isinstance(statement, ast.Expr | ast.Assign) and dotted_name(statement.value).endswith("importorskip"):
                self.program.statement(test.module, statement)
        self.program.read_futures(test.module)
        preamble = _preamble(self.program)
        lines = preamble.count("\n") + code.count("\n")
        if lines > self.suite.rules.max_lines:
            raise Refused(RejectReason.TOO_LONG, f"{lines} lines, the limit is {self.suite.rules.max_lines}")
        if problem := _syntax(preamble + code):
            raise Refused(RejectReason.INTERNAL_ERROR, problem)
        if not _asserts(preamble, code, self.suite.rules.asserting):
            raise Refused(RejectReason.NO_CHECK, "it states nothing that could fail")
        if _races(preamble + code):
            raise Refused(
                RejectReason.FLICKERS, "it starts threads and sleeps: its result depends on how busy the machine is"
            )
        refuse_unmet(preamble + code, self.suite.rules.needs)
        return CutTest(test, self.name, preamble, code)

    def _set_up_names(self) -> Iterator[tuple[str, ast.stmt]]:
        for _, statement, _ in self.plan.flat.before if self.plan.flat else ():
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id, statement

    def _is_label(self, module: SuiteModule) -> bool:
        texts = [module.text(binding.statement) for binding in module.bindings["pytestmark"]]
        return not any(name in text for text in texts for name in ("skipif", "filterwarnings", "usefixtures"))

    def _choose(self, dimension: Dimension, option: Option) -> None:
        """Leave one set of parameters: written into the function, or as the only one of the decorator."""
        fixture = self.plan.fixtures.of_suite.get(dimension.names[0])
        if fixture is not None and dimension.decorator is fixture.decorator:
            self._choose_of_fixture(fixture, option)
            return
        module = dimension.module
        values = [(name, value, self._value(module, value)) for name, value in option.values]
        names = {name for _, value, _ in values for name in _names_in(value)}
        if option.values and not dimension.indirect and not names & self.locals:
            self.head += [f"{name} = {text}" for name, _, text in values]
            self.written |= {name for name, _ in option.values}
            self.gone.add(id(dimension.decorator))
            return
        assert isinstance(dimension.decorator, ast.Call)
        text = module.text(dimension.decorator.func)
        more = f", indirect={sorted(dimension.indirect)}" if dimension.indirect else ""
        names_text = ", ".join(dimension.names)
        element = self._value(module, option.element)
        for statement in self._statements_of(dimension.decorator):
            edit = replace(module, dimension.decorator, f'{text}("{names_text}", [{element}]{more})')
            self.edits.setdefault(statement, []).append(edit)

    def _value(self, module: SuiteModule, node: ast.expr) -> str:
        """Return an expression of a module as text, with what it needs taken in."""
        statement = ast.Expr(node, lineno=node.lineno, col_offset=node.col_offset)
        edits, brought = self.program.inside(module, statement)
        text = render(module, *module.span(node), edits)
        text = text if not ("\n" in text and operand(module, node) != module.text(node)) else f"({text})"
        self._need_elsewhere(module, text, brought)
        return text

    def _need_elsewhere(self, module: SuiteModule, text: str, brought: frozenset[str]) -> None:
        """Take in what an expression of any module needs, which is to stand in the test."""
        names = globals_of(text.strip())
        for name in sorted(names - brought):
            self.program.need(module, name)
        if module is not self.plan.test.home:
            self.elsewhere |= names - self.plan.test.home.bindings.keys()
        self.elsewhere |= brought

    def _statements_of(self, decorator: ast.expr) -> Iterator[ast.stmt]:
        test = self.plan.test
        for statement in (test.function, *(owner.node for owner in test.classes)):
            if decorator in statement.decorator_list:
                yield statement

    def _choose_of_fixture(self, fixture: Fixture, option: Option) -> None:
        module, function = fixture.module, fixture.function
        assert isinstance(fixture.decorator, ast.Call)
        uses = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == "request"]
        params = [
            node
            for node in ast.walk(function)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "request"
            and node.attr == "param"
        ]
        edits = self.edits.setdefault(function, [])
        keywords = [each for each in fixture.decorator.keywords if each.arg not in ("params", "ids")]
        names = set(_names_in(option.values[0][1])) if option.values else set()
        if option.values and len(params) == len(uses) and not names & _locals(function):
            text = self._value(module, option.values[0][1])
            value = text if operand(module, option.values[0][1]) == module.text(option.values[0][1]) else f"({text})"
            edits += [replace(module, node, value) for node in params]
            self.written.add(f"request of {fixture.name}")
            arguments = [name for name in parameters(function) if name != "request"]
            edits.append(_header(module, function, function.name, arguments))
        else:
            element = self._value(module, option.element)
            keywords = [
                ast.keyword("params", parse_python(f"[{textwrap.dedent(element)}]", mode="eval").body),
                *keywords,
            ]
        argument_list = ", ".join(f"{each.arg}={ast.unparse(each.value)}" for each in keywords)
        called = (
            f"{module.text(fixture.decorator.func)}({argument_list})"
            if argument_list
            else module.text(fixture.decorator.func)
        )
        edits.append(replace(module, fixture.decorator, called))

    def _fixtures(self) -> None:
        """Take in the fixtures; those that only give a value are called in the test itself."""
        plain: dict[str, Fixture] = {}
        for name, fixture in self.plan.fixtures.of_suite.items():
            if fixture.in_class:
                continue
            needs = {beneath(each) if each == name else each for each in fixture.needs}
            if self._is_plain(fixture) and needs <= plain.keys():
                plain[name] = fixture
            elif needs != set(fixture.needs) or name != fixture.name:
                raise Refused(RejectReason.NAME_CONFLICT, f"the fixture {fixture.name} builds on another of its name")
            else:
                self.program.statement(fixture.module, fixture.function)
                for module, statement in fixture.aliases:
                    self.program.statement(module, statement)
        needed = {
            each for name, fixture in self.plan.fixtures.of_suite.items() if name not in plain for each in fixture.needs
        }
        for name in needed & plain.keys():
            self._as_fixture(name, plain)
        for fixture in plain.values():
            self._call(fixture)

    def _as_fixture(self, name: str, plain: dict[str, Fixture]) -> None:
        """Keep a plain fixture as one, with all that it needs, since a fixture that stays one asks for it."""
        fixture = plain.pop(name, None)
        if fixture is None:
            return
        if name in fixture.needs:
            raise Refused(RejectReason.NAME_CONFLICT, f"the fixture {name} builds on another of its name")
        self.program.statement(fixture.module, fixture.function)
        for needed in fixture.needs:
            self._as_fixture(needed, plain)

    def _is_plain(self, fixture: Fixture) -> bool:
        decorator = fixture.decorator
        keywords = {each.arg for each in decorator.keywords} if isinstance(decorator, ast.Call) else set()
        asks = fixture.asks_request and f"request of {fixture.name}" not in self.written
        is_own = not fixture.aliases and fixture.name == fixture.function.name
        return (
            self.plan.is_function
            and is_own
            and not asks
            and (not fixture.is_generator or self._is_straight(fixture, _without_docstring(fixture.function.body)))
            and "autouse" not in keywords
            and len(fixture.function.decorator_list) == 1
            and isinstance(fixture.function, ast.FunctionDef)
        )

    def _call(self, fixture: Fixture) -> None:
        """Call what was a fixture in the test; one that is a single expression stands there itself."""
        name, module, function = fixture.name, fixture.module, fixture.function
        body = _without_docstring(function.body)
        edits = self.edits.setdefault(function, [])
        is_parameter = name in parameters(self.plan.test.function) or any(
            name in other.needs for other in self.plan.fixtures.of_suite.values()
        )
        self.written.add(name)
        if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None and not fixture.needs:
            value = body[0].value
            if not set(_names_in(value)) & self.locals:
                inner, brought = self.program.inside(module, body[0])
                text = render(module, *module.span(value), [*edits, *inner])
                text = f"({text})" if "\n" in text and operand(module, value) != module.text(value) else text
                self._need_elsewhere(module, text, brought)
                self.head.append(f"{name} = {text}" if is_parameter else text)
                return
        if name not in fixture.needs and self._is_straight(fixture, body):
            self._write_out(fixture, body, is_parameter=is_parameter)
            return
        if fixture.is_generator:
            raise Refused(RejectReason.NAME_CONFLICT, f"the fixture {name} has names of the test")
        maker = f"make_{name}"
        if maker in module.bindings or maker in self.plan.test.module.bindings or maker in self.elsewhere:
            maker = f"{maker}_fixture"
        edits[:] = [each for each in edits if each.end > module.span(fixture.decorator)[1]]
        start = module.offset(function.lineno, function.col_offset)
        edits[:] = [each for each in edits if each.start != start]
        edits.append(_header(module, function, maker, fixture.needs))
        self.program.add(module, function, start, module.span(function)[1], name=maker)
        called = f"{maker}({', '.join(fixture.needs)})"
        self.elsewhere.add(maker)
        self.head.append(f"{name} = {called}" if is_parameter else called)

    def _is_straight(self, fixture: Fixture, body: Sequence[ast.stmt]) -> bool:
        """Say whether a fixture can stand in the test: a row of statements, with names that mean nothing else there."""
        *before, last = body
        context = _context_of(fixture)
        is_value = isinstance(last, ast.Return) and last.value is not None
        if not (is_value or context) or not all(isinstance(s, _STRAIGHT) for s in before):
            return False
        bound = _locals(fixture.function) - {fixture.name, *fixture.needs}
        if context and (renamed := _yielded_alias(context)):
            bound.discard(renamed)
        others: list[ast.AST] = [self.plan.test.function, parse_python("\n".join(self.head))]
        others += [each.function for each in self.plan.fixtures.of_suite.values() if each is not fixture]
        others += [statement for _, statement in self._set_up_names()]
        reserved = self.locals | {name for other in others for name in _names_in(other)} - {_STACK}
        if fixture.is_generator and _STACK in self.locals | fixture.module.bindings.keys():
            return False
        if fixture.name in self.plan.fixtures.of_suite.keys() - parameters(self.plan.test.function):
            reserved.add(fixture.name)
        return reserved.isdisjoint(bound)

    def _write_out(self, fixture: Fixture, body: Sequence[ast.stmt], *, is_parameter: bool) -> None:
        """Write the statements of a fixture into the test, so that its readers see what its value is made of."""
        module, edits = fixture.module, self.edits.setdefault(fixture.function, [])
        texts: list[str] = []
        names: frozenset[str] = frozenset()
        for statement in body:
            inner, brought = self.program.inside(module, statement)
            names |= brought
            if isinstance(statement, ast.With):
                texts += self._entered(fixture, statement, [*edits, *inner], is_parameter=is_parameter)
                continue
            node = statement.value if isinstance(statement, ast.Return) and statement.value else statement
            text = textwrap.dedent(render(module, *module.span(node), [*edits, *inner]))
            if node is statement:
                texts.append(ast.unparse(parse_python(text)))
            elif text != fixture.name:
                value = ast.unparse(parse_python(f"({text})"))
                texts += [f"{fixture.name} = {value}"] if is_parameter else [value] if "(" in value else []
        bound = _locals(fixture.function) | set(fixture.needs)
        self._need_elsewhere(module, "\n".join(texts), names | bound | {_STACK, "ExitStack"})
        self.head += "\n".join(texts).split("\n")

    def _entered(
        self, fixture: Fixture, statement: ast.With, edits: Sequence[Edit], *, is_parameter: bool
    ) -> Iterator[str]:
        """Yield the statements that enter the contexts of a fixture: these end where the program does."""
        module = fixture.module
        self.program.add_import("from contextlib import ExitStack", "ExitStack")
        self.elsewhere.add("ExitStack")
        if f"{_STACK} = ExitStack()" not in self.head:
            yield f"{_STACK} = ExitStack()"

        def text_of(node: ast.expr) -> str:
            return ast.unparse(parse_python(f"({textwrap.dedent(render(module, *module.span(node), edits))})"))

        alias, value = _yielded_alias(statement), _yielded(statement)
        for item in statement.items:
            name = item.optional_vars.id if isinstance(item.optional_vars, ast.Name) else None
            if alias:
                name = fixture.name if is_parameter else None
            entered = f"{_STACK}.enter_context({text_of(item.context_expr)})"
            yield f"{name} = {entered}" if name else entered
        if is_parameter and not alias:
            yield f"{fixture.name} = {text_of(value) if value else 'None'}"

    def _effective_decorators(self, module: SuiteModule, statement: ast.stmt) -> Iterator[str]:
        """Yield the decorators of a test or class that change how it runs."""
        edits = self.edits.get(statement, [])
        for name, decorator in marks_of(getattr(statement, "decorator_list", [])):
            is_mark = ".mark." in f".{dotted_name(decorator)}."
            if id(decorator) in self.gone or (is_mark and name not in _MARKS):
                continue
            if name == "usefixtures" and isinstance(decorator, ast.Call):
                # A fixture that was written into the test is none any more.
                left = [each for each in decorator.args if getattr(each, "value", None) not in self.written]
                if left:
                    self._need(module, text := module.text(decorator.func))
                    yield f"@{text}({', '.join(ast.unparse(each) for each in left)})\n"
                continue
            inner, brought = self.program.inside(
                module, ast.Expr(decorator, lineno=decorator.lineno, col_offset=decorator.col_offset)
            )
            text = render(module, *module.span(decorator), [*edits, *inner])
            self._need(module, text, brought)
            yield f"@{text}\n"

    def _need(self, module: SuiteModule, text: str, available: frozenset[str] = frozenset()) -> None:
        self.program.need_all(module, text, available | self.elsewhere)

    def _body(self, indent: str) -> str:
        """Return the body of the test function, behind what was written in."""
        test, flat = self.plan.test, self.plan.flat
        lines: list[str] = []
        self.brought: frozenset[str] = frozenset()
        for module, statement, edits in flat.before if flat else ():
            inner, brought = self.program.inside(module, statement)
            lines.append(render(module, *module.span(statement), [*edits, *inner], indent))
            self.brought |= brought
        for module, value in flat.named if flat else ():
            self._need_elsewhere(module, module.text(value), frozenset())
        lines += [f"{indent}{line}" for line in self.head]
        body = _without_docstring(test.function.body)
        inner, brought = self.program.inside(test.home, ast.Module(body, []))
        start, end = test.home.span(body[0])[0], test.home.span(body[-1])[1]
        self.brought |= brought
        lines.append(render(test.home, start, end, [*(flat.edits if flat else ()), *inner], indent))
        return "\n".join(lines)

    def _function(self) -> str:
        """Return the test as a function."""
        test, function = self.plan.test, self.plan.test.function
        decorators = [line for owner in test.classes for line in self._effective_decorators(owner.module, owner.node)]
        decorators += self._effective_decorators(test.home, function)
        arguments = [name for name in parameters(function)[bool(test.classes) :] if name not in self.written]
        if self.plan.flat and self.plan.flat.needs_pytest:
            self.program.add_import("import pytest", "pytest")
            self.elsewhere.add("pytest")
        body = self._body(_INDENT)
        word = "async def" if isinstance(function, ast.AsyncFunctionDef) else "def"
        defaults = _defaults(function)
        text = f"{word} {function.name}({', '.join([*arguments, *defaults])}):\n{body}\n"
        self._need(test.home, text, self.brought)
        return "".join(decorators) + text

    def _class(self) -> str:
        """Return the test in its class, with the members that it needs; the bases of the suite become statements."""
        test = self.plan.test
        needed = self._members_needed()
        is_inherited = test.function not in test.classes[0].node.body
        for owner in reversed(test.classes[1:]):
            flag = is_inherited and test.function in owner.node.body
            head = f"{_INDENT}__test__ = False\n" if flag else ""
            text = self._class_text(owner, needed, head)
            self.program.text(owner.module, owner.node, text, frozenset({owner.node.name}))
        return self._class_text(test.classes[0], needed, f"{_INDENT}__test__ = True\n" if is_inherited else "")

    def _class_text(self, owner: Owner, needed: set[int], head: str) -> str:
        node, module = owner.node, owner.module
        decorators = "".join(self._effective_decorators(module, node))
        bound: set[str] = {node.name}
        parts: list[str] = []
        for base in (*node.bases, *(keyword.value for keyword in node.keywords)):
            inner, brought = self.program.inside(module, ast.Expr(base, lineno=base.lineno, col_offset=base.col_offset))
            parts.append(render(module, *module.span(base), inner))
            bound |= brought
        words = [*parts[: len(node.bases)]]
        words += [
            f"{keyword.arg}={text}" if keyword.arg else f"**{text}"
            for keyword, text in zip(node.keywords, parts[len(node.bases) :], strict=True)
        ]
        bases = f"({', '.join(words)})" if words else ""
        bodies: list[str] = []
        for member in node.body:
            if id(member) not in needed:
                continue
            inner, brought = self.program.inside(module, member)
            bound |= brought
            if member is self.plan.test.function:
                bodies.append(self._method(_INDENT))
                bound |= self.brought
                continue
            bodies.append(render(module, *module.span(member), [*self.edits.get(member, ()), *inner], _INDENT))
        body = head + "\n\n".join(bodies)
        text = f"{decorators}class {node.name}{bases}:\n{body or f'{_INDENT}pass'}\n"
        self._need(module, text, frozenset(bound))
        return text

    def _method(self, indent: str) -> str:
        test, function = self.plan.test, self.plan.test.function
        decorators = [f"{indent}{line}" for line in self._effective_decorators(test.home, function)]
        arguments = [name for name in parameters(function) if name not in self.written]
        word = "async def" if isinstance(function, ast.AsyncFunctionDef) else "def"
        body = self._body(indent + _INDENT)
        defaults = _defaults(function)
        header = f"{indent}{word} {function.name}({', '.join([*arguments, *defaults])}):\n"
        return "".join(decorators) + header + body

    def _members_needed(self) -> set[int]:
        """Return the statements in the bodies of the test's classes that it needs, by their ids."""
        test = self.plan.test
        everything = list(members(test.classes))
        by_name = _members_by_name(test.classes)
        names = {f.function for f in self.plan.fixtures.of_suite.values() if f.in_class}
        waiting: list[ast.stmt] = [test.function, *names]
        waiting += [node for _, node in everything if is_setting_up(node) and node is not test.function]
        waiting += [
            node for _, node in everything if "__" in "".join(_bound_in_class(node)) and not isinstance(node, Function)
        ]
        needed: set[int] = set()
        while waiting:
            node = waiting.pop()
            if id(node) in needed:
                continue
            needed.add(id(node))
            if isinstance(node, Function) and is_setting_up(node):
                waiting += by_name.get(node.name, [])
            for each in ast.walk(node):
                used = each.attr if isinstance(each, ast.Attribute) else each.id if isinstance(each, ast.Name) else ""
                waiting += [other for other in by_name.get(used, ()) if not _is_other_test(other, test)]
        return needed


def _asserts(preamble: str, code: str, asserting: re.Pattern[str]) -> bool:
    """Return whether a test has an assertion, an expected exception, or a call of what asserts for it."""
    tree, before = parse_python(code), parse_python(preamble)
    helpers = {
        node.name
        for node in before.body
        if isinstance(node, Function) and any(_states(each, asserting) for each in ast.walk(node))
    }
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    bases = {name for node in classes for base in node.bases for name in _names_in(base)}
    places = [tree, *(node for node in before.body if isinstance(node, ast.ClassDef) and node.name in bases)]
    return any(
        _states(node, asserting) or (isinstance(node, ast.Call) and dotted_name(node) in helpers)
        for place in places
        for node in ast.walk(place)
    )


def _races(text: str) -> bool:
    """Say whether a program starts threads and sleeps until others are done, which a busy machine makes too short."""
    words = {getattr(node, "id", getattr(node, "attr", None)) for node in ast.walk(parse_python(text))}
    return words >= {"sleep", "Thread"}


def _states(node: ast.AST, asserting: re.Pattern[str]) -> bool:
    if isinstance(node, ast.Call):
        last = dotted_name(node).rpartition(".")[2] or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
        return last in _CONTEXTS or bool(asserting.search(last))
    return isinstance(node, ast.Assert)


def _preamble(program: Program) -> str:
    future = f"from __future__ import {', '.join(sorted(program.futures))}\n" if program.futures else ""
    imports = "".join(f"{line}\n" for line in sorted(program.imports))
    texts = [piece.text.rstrip() for piece in program.ordered()]
    pieces = "".join(f"\n\n{text}\n" if "\n" in text else f"\n{text}\n" for text in texts)
    text = f"{future}{imports}{pieces}"
    return f"{text}\n\n" if text else ""


def _members_by_name(classes: tuple[Owner, ...]) -> dict[str, list[ast.stmt]]:
    """Return the statements in the bodies of classes by the names that they bind, with overridden methods."""
    namesakes: dict[str, list[tuple[Owner, ast.stmt]]] = defaultdict(list)
    for other in classes:
        for node in other.node.body:
            if isinstance(node, Function):
                namesakes[node.name].append((other, node))
    by_name: dict[str, list[ast.stmt]] = defaultdict(list)
    for owner, node in members(classes):
        for name in _bound_in_class(node):
            by_name[name].append(node)
        if isinstance(node, Function):  # overridden ones are reached by super()
            same = [each for other, each in namesakes[node.name] if other != owner]
            by_name[node.name] += [each for each in same if each not in by_name[node.name]]
    return by_name


def _syntax(text: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Parsing alone lets `await` and `return` through wherever they stand.
            compile(text, "<program>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return f"the program does not parse: line {getattr(error, 'lineno', 0)}: {getattr(error, 'msg', error)}"
    return None


def _header(module: SuiteModule, function: Function, name: str, arguments: Sequence[str]) -> Edit:
    """Return the edit that writes the first line of a function anew."""
    start = module.offset(function.lineno, function.col_offset)
    body = function.body[0]
    first = module.span(body)[0]
    line = module.starts[body.lineno - 1] if body.lineno > function.lineno else first
    if getattr(body, "decorator_list", None):
        line = module.starts[body.decorator_list[0].lineno - 1]  # type: ignore[attr-defined]
    text = f"def {name}({', '.join([*arguments, *_defaults(function)])}):"
    return Edit(
        start, line, f"{text}\n" if line != first or (line > start and body.lineno > function.lineno) else f"{text} "
    )


def _defaults(function: Function) -> list[str]:
    """Return the parameters that have a default, as they are written."""
    plain = [*function.args.posonlyargs, *function.args.args]
    with_default = plain[len(plain) - len(function.args.defaults) :]
    named = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return [
        f"{argument.arg}={ast.unparse(default)}"
        for argument, default in (*zip(with_default, function.args.defaults, strict=True), *named)
        if default is not None
    ]


def _context_of(fixture: Fixture) -> ast.With | None:
    """Return the statement that a fixture ends with, if that only gives its value inside of contexts."""
    last = fixture.function.body[-1]
    if not isinstance(last, ast.With) or len(last.body) != 1 or not isinstance(last.body[0], ast.Expr):
        return None
    yields = [node for node in ast.walk(fixture.function) if isinstance(node, ast.Yield | ast.YieldFrom)]
    plain = all(item.optional_vars is None or isinstance(item.optional_vars, ast.Name) for item in last.items)
    return last if plain and yields == [last.body[0].value] and isinstance(yields[0], ast.Yield) else None


def _yielded(context: ast.With) -> ast.expr | None:
    """Return what a fixture gives inside of its contexts."""
    last = context.body[0]
    return last.value.value if isinstance(last, ast.Expr) and isinstance(last.value, ast.Yield) else None


def _yielded_alias(context: ast.With) -> str | None:
    """Return the name that a fixture has for its only context, if it gives just that."""
    value, name = _yielded(context), context.items[0].optional_vars
    is_same = isinstance(value, ast.Name) and isinstance(name, ast.Name) and value.id == name.id
    return name.id if is_same and isinstance(name, ast.Name) and len(context.items) == 1 else None


def _locals(function: Function) -> set[str]:
    """Return the names that a function binds: its parameters, and what is assigned or imported in it."""
    names = {each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, Function | ast.ClassDef | ast.ExceptHandler) and node is not function and node.name:
            names.add(node.name)
    return names


def _names_in(node: ast.AST) -> Iterator[str]:
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if is_docstring and len(body) > 1 else body


def _bound_in_class(node: ast.stmt) -> list[str]:
    if isinstance(node, Function | ast.ClassDef):
        return [node.name]
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]


def _is_other_test(node: ast.stmt, test: TestFunction) -> bool:
    return (
        isinstance(node, Function)
        and node.name.startswith("test")
        and node.name != test.function.name
        and not fixture_decorator(node)
    )
