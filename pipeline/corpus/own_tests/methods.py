"""Test methods as functions: `self` goes, what `setUp` sets becomes variables, `assertX` becomes an assertion."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.corpus.own_tests.functions import Function, TestFunction, fixture_decorator, is_setting_up, members
from pipeline.corpus.own_tests.rendering import Edit, operand, replace
from pipeline.corpus.own_tests.suite import Suite, SuiteModule

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
_MATCHING = {"assertRaisesRegex": "raises", "assertRaisesRegexp": "raises", "assertWarnsRegex": "warns"}


class _NotFlat(Exception):
    """The method needs its class."""


@dataclass(frozen=True, slots=True)
class Flat:
    """What makes a function of a method: edits inside of it, statements to run first, and whether it needs pytest."""

    edits: tuple[Edit, ...]
    before: tuple[tuple[SuiteModule, ast.stmt, tuple[Edit, ...]], ...]
    needs_pytest: bool


def flattened(test: TestFunction, suite: Suite) -> Flat | None:
    """Return how a method becomes a function, None where it needs its class: fixtures, helpers or clean-up of it."""
    try:
        return _Flattener(test).flat()
    except _NotFlat:
        return None


class _Flattener:
    def __init__(self, test: TestFunction) -> None:
        self.test = test
        self.module = test.home
        first = test.function.args.args[:1]
        if not first or len(test.classes) != 1 or test.classes[0].module is not test.home:
            raise _NotFlat
        if isinstance(test.function, ast.AsyncFunctionDef):
            raise _NotFlat
        self.needs_pytest = False
        self.constants: dict[str, ast.Assign] = {}
        self.set_up: list[ast.stmt] = []
        for _, node in members(test.classes):
            if isinstance(node, Function) and (fixture_decorator(node) or is_setting_up(node)):
                if (
                    node.name not in ("setUp", "setup_method", "setup")
                    or node.decorator_list
                    or fixture_decorator(node)
                ):
                    raise _NotFlat
                if len(node.args.args) != 1 or node.args.args[0].arg != first[0].arg:
                    raise _NotFlat
                self.set_up += _without_docstring(node.body)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.constants[node.targets[0].id] = node
        self.instance = first[0].arg
        self.caught = {
            item.optional_vars.id
            for node in ast.walk(test.function)
            if isinstance(node, ast.With)
            for item in node.items
            if isinstance(item.optional_vars, ast.Name) and _method(item.context_expr, self.instance)
        }

    def flat(self) -> Flat:
        body = [*self.set_up, *self.test.function.body]
        if _ends_early(self.set_up) or any(self._needs_instance(statement) for statement in body):
            raise _NotFlat
        set_here = {
            node.attr
            for statement in body
            for node in ast.walk(statement)
            if isinstance(node, ast.Attribute) and self._is_instance(node.value) and isinstance(node.ctx, ast.Store)
        }
        used: set[str] = set()
        edits = {id(statement): tuple(self._edits(statement, set_here, used)) for statement in body}
        constants = [self.constants[name] for name in sorted(used - set_here)]
        # A variable must not hide another thing of its name.
        texts = [*body, *constants]
        names = {node.id for each in texts for node in ast.walk(each) if isinstance(node, ast.Name)}
        names -= {each.targets[0].id for each in constants if isinstance(each.targets[0], ast.Name)}
        arguments = {each.arg for each in self.test.function.args.args}
        if (set_here | used) & (names | arguments | self.module.bindings.keys()):
            raise _NotFlat
        before: list[tuple[SuiteModule, ast.stmt, tuple[Edit, ...]]] = [(self.module, each, ()) for each in constants]
        before += [(self.module, each, edits[id(each)]) for each in self.set_up]
        inside = tuple(edit for each in self.test.function.body for edit in edits[id(each)])
        return Flat(inside, tuple(before), self.needs_pytest)

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
            elif isinstance(node, ast.Attribute) and self._is_instance(node.value):
                if node.attr not in set_here | self.constants.keys():
                    raise _NotFlat
                used.add(node.attr)
                yield replace(self.module, node, node.attr)
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
