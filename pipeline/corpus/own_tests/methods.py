"""Test methods as functions: `self` goes, what `setUp` sets becomes variables, `assertX` becomes an assertion."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from pipeline.corpus.own_tests.functions import (
    Function,
    Owner,
    TestFunction,
    fixture_decorator,
    is_setting_up,
    members,
)
from pipeline.corpus.own_tests.rendering import Edit, operand, replace
from pipeline.corpus.own_tests.suite import SuiteModule, root_name
from pipeline.corpus.snippets.names import bound_by

_BINARY = {
    "assertEqual": "==",
    "assertEquals": "==",
    "assertListEqual": "==",
    "assertDictEqual": "==",
    "assertSetEqual": "==",
    "assertTupleEqual": "==",
    "assertSequenceEqual": "==",
    "assertMultiLineEqual": "==",
    "assertNotEqual": "!=",
    "assertNotEquals": "!=",
    "assertIs": "is",
    "assertIsNot": "is not",
    "assertIn": "in",
    "assertNotIn": "not in",
    "assertGreater": ">",
    "assertGreaterEqual": ">=",
    "assertLess": "<",
    "assertLessEqual": "<=",
}
_UNARY = {
    "assertTrue": "{}",
    "assert_": "{}",
    "assertFalse": "not {}",
    "assertIsNone": "{} is None",
    "assertIsNotNone": "{} is not None",
}
_OF_TYPE = {"assertIsInstance": "isinstance({}, {})", "assertNotIsInstance": "not isinstance({}, {})"}
_RAISING = {"assertRaises": "raises", "assertWarns": "warns"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLANK = rb"(?:\s|\\\r?\n|#[^\n]*)*"
"""Blanks, line breaks and comments between the parameters of a function."""
_NAME_OF_FUNCTION = re.compile(rb"def(?:\s|\\\r?\n)+([^\s\\(\[]+)")
_AFTER_PARAMETER = re.compile(_BLANK + rb"(?:," + _BLANK + rb")?")
_AFTER_ONLY_POSITIONAL = re.compile(_BLANK + rb"," + _BLANK + rb"/" + _BLANK + rb"(?:," + _BLANK + rb")?")
_MATCHING = {"assertRaisesRegex": "raises", "assertRaisesRegexp": "raises", "assertWarnsRegex": "warns"}


class _NotFlat(Exception):
    """The method needs its class."""


@dataclass(frozen=True, slots=True)
class Flat:
    """What makes a function of a method: edits inside of it, statements to run first, and whether it needs pytest.

    `named` are the expressions that stand in place of attributes, each with its module: what a mixin tests goes by the
    attribute `Cache`, which the class sets to `LRUCache`.
    """

    edits: tuple[Edit, ...]
    before: tuple[tuple[SuiteModule, ast.stmt, tuple[Edit, ...]], ...]
    needs_pytest: bool
    named: tuple[tuple[SuiteModule, ast.expr], ...] = ()


def flattened(test: TestFunction) -> Flat | None:
    """Return how a method becomes a function, None where it needs its class: fixtures, helpers or clean-up of it."""
    try:
        return _Flattener(test).flat()
    except _NotFlat:
        return None


class _OwnCall(ast.Call):
    """A call of a method of the instance."""

    func: ast.Attribute


class _Flattener:
    def __init__(self, test: TestFunction) -> None:
        self.test = test
        self.module = test.home
        first = test.function.args.args[:1]
        if not first:
            raise _NotFlat
        if isinstance(test.function, ast.AsyncFunctionDef):
            raise _NotFlat
        self.needs_pytest = False
        self.constants: dict[str, ast.Assign] = {}
        self.named: dict[str, tuple[SuiteModule, ast.expr]] = {}
        """Attributes that are another name of a function or class."""
        self.methods: dict[str, ast.FunctionDef] = {}
        """Methods that the test may call, which become functions in it."""
        self.called: dict[str, str] = {}
        """The name as a function of each method that is called."""
        self.set_up: list[ast.stmt] = []
        self.instance = first[0].arg
        nearest: dict[str, Owner] = {}
        for owner, node in members(test.classes):
            if isinstance(node, Function) and (fixture_decorator(node) or is_setting_up(node)):
                self._read_set_up(node, owner)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                if nearest.setdefault(node.targets[0].id, owner) == owner:
                    self._read_constant(node.targets[0].id, node, owner)
            elif isinstance(node, ast.FunctionDef) and owner.module is test.home and not node.decorator_list:
                self.methods[node.name] = node
        self.caught = {
            item.optional_vars.id
            for node in ast.walk(test.function)
            if isinstance(node, ast.With)
            for item in node.items
            if isinstance(item.optional_vars, ast.Name) and _method(item.context_expr, self.instance)
        }

    def _read_set_up(self, node: Function, owner: Owner) -> None:
        is_plain = node.name in ("setUp", "setup_method", "setup") and not node.decorator_list
        if not is_plain or [each.arg for each in node.args.args] != [self.instance]:
            raise _NotFlat
        # What another module writes down has other names around it.
        if owner.module is not self.module:
            raise _NotFlat
        self.set_up += _without_docstring(node.body)

    def _read_constant(self, name: str, node: ast.Assign, owner: Owner) -> None:
        self.named.pop(name, None)
        self.constants.pop(name, None)
        if _is_dotted(node.value):
            self.named[name] = owner.module, node.value
        elif owner.module is self.module:
            self.constants[name] = node

    def flat(self) -> Flat:
        of_test = [*self.set_up, *self.test.function.body]
        helpers = self._helpers(of_test)
        body = [*of_test, *helpers]
        if _ends_early(self.set_up) or any(self._needs_instance(statement) for statement in body):
            raise _NotFlat
        set_here = {
            node.attr
            for statement in body
            for node in ast.walk(statement)
            if isinstance(node, ast.Attribute) and self._is_instance(node.value) and isinstance(node.ctx, ast.Store)
        }
        for name in set_here & self.named.keys():
            del self.named[name]
        used: set[str] = set()
        edits = {id(statement): tuple(self._edits(statement, set_here, used)) for statement in body}
        for helper in helpers:
            edits[id(helper)] += tuple(self._header(helper))
        named = [self.named[name] for name in sorted(used & self.named.keys())]
        used -= self.named.keys()
        constants = [self.constants[name] for name in sorted(used - set_here)]
        # A variable must not hide another thing of its name.
        texts = [*body, *constants]
        names = {node.id for each in texts for node in ast.walk(each) if isinstance(node, ast.Name)}
        names -= {each.targets[0].id for each in constants if isinstance(each.targets[0], ast.Name)}
        arguments = {each.arg for each in self.test.function.args.args}
        if (set_here | used) & (names | arguments | self.module.bindings.keys()):
            raise _NotFlat
        if named and (_declares_outer(body) or {root_name(value) for _, value in named} & (arguments | set_here)):
            raise _NotFlat
        if any(root_name(value) in bound_by(statement) for _, value in named for statement in body):
            raise _NotFlat
        before: list[tuple[SuiteModule, ast.stmt, tuple[Edit, ...]]] = [(self.module, each, ()) for each in constants]
        before += [(self.module, each, edits[id(each)]) for each in (*helpers, *self.set_up)]
        inside = tuple(edit for each in self.test.function.body for edit in edits[id(each)])
        return Flat(inside, tuple(before), self.needs_pytest, tuple(named))

    def _helpers(self, body: Sequence[ast.stmt]) -> list[ast.FunctionDef]:
        """Return the methods that statements call, and those that these call, and name them as functions."""
        helpers: dict[str, ast.FunctionDef] = {}
        waiting: list[ast.AST] = [*body]
        while waiting:
            for node in ast.walk(waiting.pop()):
                helper = self.methods.get(node.func.attr) if self._is_own_call(node) else None
                if helper is not None and helper.name not in helpers and not helper.name.startswith(("test", "assert")):
                    parameters = [*helper.args.posonlyargs, *helper.args.args]
                    if [each.arg for each in parameters[:1]] != [self.instance]:
                        raise _NotFlat
                    # A default of the instance belongs to no other parameter.
                    if len(helper.args.defaults) == len(parameters):
                        raise _NotFlat
                    helpers[helper.name] = helper
                    waiting.append(helper)
        nodes = [node for each in (*body, *helpers.values(), *self.constants.values()) for node in ast.walk(each)]
        reserved = {node.id for node in nodes if isinstance(node, ast.Name)} | self.module.bindings.keys()
        reserved |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        reserved |= {node.attr for node in nodes if self._is_attribute(node) and node.attr not in helpers}
        for name in helpers:
            # As a method it has a name beside that of a variable: `cache = self.cache(2)`.
            self.called[name] = name if name not in reserved else f"{name.strip('_')}_helper"
        if len({*self.called.values()} - reserved) < len(helpers):
            raise _NotFlat
        return [helpers[name] for name in sorted(helpers)]

    def _header(self, helper: ast.FunctionDef) -> Iterator[Edit]:
        """Yield the edits that make a function of the first line of a method."""
        name = _NAME_OF_FUNCTION.match(self.module.data, self.module.offset(helper.lineno, helper.col_offset))
        assert name is not None
        yield Edit(*name.span(1), self.called[helper.name])
        instance = [*helper.args.posonlyargs, *helper.args.args][0]
        start = self.module.offset(instance.lineno, instance.col_offset)
        end = self.module.offset(instance.end_lineno or instance.lineno, instance.end_col_offset or 0)
        # `self, /` goes as a whole; of `self, x, /` the rest stays.
        is_only_positional = helper.args.posonlyargs == [instance]
        after = (_AFTER_ONLY_POSITIONAL if is_only_positional else _AFTER_PARAMETER).match(self.module.data, end)
        assert after is not None
        yield Edit(start, after.end(), "")

    def _is_attribute(self, node: ast.AST) -> TypeGuard[ast.Attribute]:
        return isinstance(node, ast.Attribute) and self._is_instance(node.value)

    def _is_own_call(self, node: ast.AST) -> TypeGuard[_OwnCall]:
        return isinstance(node, ast.Call) and self._is_attribute(node.func)

    def _needs_instance(self, statement: ast.stmt) -> bool:
        """Say whether a statement calls `super`, or sets an attribute in an inner function, where it would be local."""
        nodes = [*ast.walk(statement)]
        inner = [each for node in nodes if isinstance(node, (*_FUNCTIONS, ast.Lambda)) for each in ast.walk(node)]
        return any(isinstance(node, ast.Name) and node.id == "super" for node in nodes) or any(
            isinstance(node, ast.Attribute) and self._is_instance(node.value) and not isinstance(node.ctx, ast.Load)
            for node in inner
        )

    def _is_instance(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == self.instance

    def _edits(self, statement: ast.stmt, set_here: set[str], used: set[str]) -> Iterator[Edit]:
        waiting: list[ast.AST] = [statement]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Expr) and (name := _method(node.value, self.instance)):
                assert isinstance(node.value, ast.Call)
                yield from self._assertion(node, node.value, name, set_here, used)
            elif (name := _method(node, self.instance)) and isinstance(node, ast.Call):
                yield from self._context(node, name)
                waiting += [*node.args, *(keyword.value for keyword in node.keywords)]
            elif self._is_own_call(node) and node.func.attr in self.called:
                yield replace(self.module, node.func, self.called[node.func.attr])
                waiting += [*node.args, *(keyword.value for keyword in node.keywords)]
            elif isinstance(node, ast.Attribute) and self._is_instance(node.value):
                if node.attr not in set_here | self.constants.keys() | self.named.keys():
                    raise _NotFlat
                used.add(node.attr)
                named = self.named.get(node.attr)
                yield replace(self.module, node, ast.unparse(named[1]) if named else node.attr)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self.caught:
                if node.attr != "exception":
                    raise _NotFlat
                yield replace(self.module, node, f"{node.value.id}.value")
            elif self._is_instance(node):
                raise _NotFlat
            else:
                waiting.extend(ast.iter_child_nodes(node))

    def _assertion(
        self, statement: ast.Expr, call: ast.Call, name: str, set_here: set[str], used: set[str]
    ) -> Iterator[Edit]:
        """Yield the edit that makes an `assert` of a call of `assertX`."""
        count = 1 if name in _UNARY else 2
        arguments = call.args[:count]
        if name in _RAISING or name in _MATCHING:
            yield from self._context(call, name)
            for each in (*call.args, *(keyword.value for keyword in call.keywords)):
                yield from self._edits(ast.Expr(each, lineno=each.lineno, col_offset=each.col_offset), set_here, used)
            return
        if name not in _BINARY.keys() | _UNARY.keys() | _OF_TYPE.keys() or len(arguments) < count:
            raise _NotFlat
        if any(isinstance(each, ast.Starred) for each in arguments) or len(call.args) > count + 1:
            raise _NotFlat
        texts = [self._operand(each, set_here, used) for each in arguments]
        if name in _BINARY:
            text = f"{texts[0]} {_BINARY[name]} {texts[1]}"
        else:
            text = (_UNARY.get(name) or _OF_TYPE[name]).format(*texts)
        yield replace(self.module, statement, f"assert {text}")

    def _operand(self, node: ast.expr, set_here: set[str], used: set[str]) -> str:
        start, end = self.module.span(node)
        data, at, pieces = self.module.data, start, []
        edits = self._edits(ast.Expr(node, lineno=node.lineno, col_offset=node.col_offset), set_here, used)
        for edit in sorted(edits, key=lambda each: each.start):
            pieces += [data[at : edit.start].decode(), edit.text]
            at = edit.end
        text = "".join([*pieces, data[at:end].decode()])
        plain = self.module.text(node)
        return text if operand(self.module, node) == plain else f"({text})"

    def _context(self, call: ast.Call, name: str) -> Iterator[Edit]:
        """Yield the edits that make `pytest.raises` of `assertRaises`."""
        if name not in _RAISING.keys() | _MATCHING.keys() or (name in _MATCHING and len(call.args) != 2):
            raise _NotFlat
        if any(keyword.arg == "msg" for keyword in call.keywords):
            raise _NotFlat
        self.needs_pytest = True
        yield replace(self.module, call.func, f"pytest.{(_RAISING | _MATCHING)[name]}")
        if name in _MATCHING:
            start = self.module.span(call.args[1])[0]
            yield Edit(start, start, "match=")


def _method(node: ast.AST, instance: str) -> str | None:
    """Return which assertion of `unittest` a call is."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    value, name = node.func.value, node.func.attr
    is_own = isinstance(value, ast.Name) and value.id == instance
    return name if is_own and name.startswith("assert") else None


def _is_dotted(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_dotted(node.value))


def _declares_outer(body: Sequence[ast.stmt]) -> bool:
    """Return whether an inner function binds names of the test: then no statement can be looked at alone."""
    return any(isinstance(node, ast.Nonlocal) for statement in body for node in ast.walk(statement))


def _ends_early(set_up: list[ast.stmt]) -> bool:
    """Say whether statements return or yield: before those of a test they would end it."""
    waiting: list[ast.AST] = [*set_up]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))
    return False


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if is_docstring else body
