"""Reads in the code of a function to which call its `*args` and `**kwargs` are handed on; for Python 3.6 and newer."""

import ast
import functools
import linecache
import types
from typing import Any, NamedTuple


class UnknownError(Exception):
    """Which calls are accepted cannot be found out."""


class HandedOn(NamedTuple):
    """The call that gets the variable arguments of a function."""

    call: ast.Call
    rest: bool
    """Whether it gets `*args`."""
    keywords: bool
    """Whether it gets `**kwargs`."""
    popped: "set[str]"
    """Keywords that the function takes out for itself."""
    filled: "set[str]"
    """Keywords that it puts in."""


def handed_on(code: types.CodeType, rest: str, keywords: str) -> HandedOn:
    """Return the one call that gets `*rest`, `**keywords` or both; UnknownError if there is none, or if they change.

    A name is empty where the function has no such parameter.
    """
    uses = _Uses(_definition(code))
    to_rest, to_keywords = uses.calls_of_rest(rest), uses.calls_of_keywords(keywords)
    calls = (to_rest or []) + (to_keywords or [])
    if not calls or len({_shape(call) for call in calls}) > 1:
        raise UnknownError
    call = calls[0]
    starred = [each.value for each in call.args if isinstance(each, ast.Starred)]
    starred += [each.value for each in call.keywords if each.arg is None]
    names = {rest if to_rest else "", keywords if to_keywords else ""}
    if any(not isinstance(each, ast.Name) or each.id not in names for each in starred):
        raise UnknownError
    return HandedOn(call, bool(to_rest), bool(to_keywords), uses.popped, uses.filled)


def _definition(code: types.CodeType) -> ast.AST:
    for node in ast.walk(_parsed(code.co_filename)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            lines = [node.lineno] + [each.lineno for each in node.decorator_list]
            if min(lines) == code.co_firstlineno:
                return node
    raise UnknownError


@functools.lru_cache(maxsize=32)
def _parsed(file: str) -> ast.AST:
    return ast.parse("".join(linecache.getlines(file)))


def _shape(call: ast.Call) -> str:
    stars = "".join("*" if isinstance(each, ast.Starred) else "." for each in call.args)
    return "{} {} {}".format(ast.dump(call.func), stars, sorted(each.arg or "**" for each in call.keywords))


class _Uses:
    """The uses of names in a definition; `None` for calls that cannot be told, since the name is used otherwise."""

    def __init__(self, definition: ast.AST) -> None:
        self.popped, self.filled = set(), set()  # type: set[str], set[str]
        self._nodes = list(ast.walk(definition))
        self._parents = {child: parent for parent in self._nodes for child in ast.iter_child_nodes(parent)}

    def calls_of_rest(self, name: str) -> "list[ast.Call] | None":
        """Return the calls that get `*name`."""
        calls = []  # type: list[ast.Call]
        for node in self._named(name):
            parent = self._parents[node]
            call = self._parents.get(parent)
            if not isinstance(parent, ast.Starred) or not isinstance(call, ast.Call):
                return None
            calls.append(call)
        return calls

    def calls_of_keywords(self, name: str) -> "list[ast.Call] | None":
        """Return the calls that get `**name`; single keywords may be taken out of it, put into it or asked for."""
        calls = []  # type: list[ast.Call]
        for node in self._named(name):
            parent = self._parents[node]
            call = self._parents.get(parent)
            if isinstance(parent, ast.keyword) and parent.arg is None and isinstance(call, ast.Call):
                calls.append(call)
            elif not self._is_about_one(parent):
                return None
        return calls

    def _named(self, name: str) -> "list[ast.Name]":
        if len([node for node in self._nodes if isinstance(node, ast.arg) and node.arg == name]) > 1:
            raise UnknownError  # a function within has a parameter of that name
        return [node for node in self._nodes if isinstance(node, ast.Name) and node.id == name]

    def _is_about_one(self, use: ast.AST) -> bool:
        """Say whether a use is about one keyword that the code names, and note what becomes of it."""
        if isinstance(use, ast.Compare):
            return len(use.ops) == 1 and isinstance(use.ops[0], (ast.In, ast.NotIn)) and _text(use.left) is not None
        if isinstance(use, ast.Subscript):
            name, done = _text(use.slice), type(use.ctx).__name__
        elif isinstance(use, ast.Attribute):
            call = self._parents[use]
            name = _text(call.args[0]) if isinstance(call, ast.Call) and call.func is use and call.args else None
            done = use.attr
        else:
            return False
        if done in ("pop", "Del") and name:
            self.popped.add(name)
        elif done in ("setdefault", "Store") and name:
            self.filled.add(name)
        return name is not None and done in ("pop", "Del", "setdefault", "Store", "get", "Load")


def _text(node: Any) -> "str | None":
    """Return the text that a literal stands for."""
    try:
        value = ast.literal_eval(node.value if type(node).__name__ == "Index" else node)
    except ValueError:
        return None
    return value if type(value) is str else None
