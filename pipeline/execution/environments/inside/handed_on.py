"""Reads in the code of a function to which call its `*args` and `**kwargs` are handed on; for Python 3.6 and newer."""

import ast
import inspect
import linecache
import types
from typing import Any, Iterator, NamedTuple  # noqa: UP035 - Python 3.6


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
    needed: "set[str]"
    """Those of them without which it fails."""
    filled: "set[str]"
    """Keywords that it puts in."""
    unsure: "set[str]"
    """Keywords that it sometimes puts in."""


def handed_on(code: types.CodeType, rest: str, keywords: str) -> HandedOn:
    """Return the one call that gets `*rest`, `**keywords` or both; UnknownError if there is none, or if they change.

    So it is too if the function may return without that call, or refuses keywords itself. A name is empty where the
    function has no such parameter.
    """
    definition = _definition(code)
    uses = _Uses(definition)
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
    order = [isinstance(each, ast.Starred) for each in call.args]
    if order != sorted(order) or uses.binds(_root(call.func)) or not uses.are_settled(calls):
        raise UnknownError
    if _reaches(definition.body, calls) is not True:
        raise UnknownError
    return HandedOn(call, bool(to_rest), bool(to_keywords), uses.popped, uses.needed, uses.filled, uses.unsure)


def _root(expression: ast.AST) -> str:
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else ""


def _reaches(statements: "list[ast.stmt]", calls: "list[ast.Call]") -> "bool | None":
    """Say whether each way through statements comes to one of the calls; None if one goes on behind them without it."""
    for each in statements:
        found = _one_reaches(each, calls)
        if found is not None:
            return found
    return None


def _one_reaches(statement: ast.stmt, calls: "list[ast.Call]") -> "bool | None":
    within = list(ast.walk(statement))
    hands_on = any(call is node for call in calls for node in within)
    if isinstance(statement, ast.If):
        ways = [_reaches(statement.body, calls), _reaches(statement.orelse, calls)]
        return False if False in ways else None if None in ways else True
    if isinstance(statement, ast.Try):
        is_caught = hands_on and any(_catches(each) for each in statement.handlers)
        return False if is_caught else _reaches(statement.body + statement.orelse + statement.finalbody, calls)
    if isinstance(statement, (ast.With, ast.AsyncWith)) and not any(
        call is node for call in calls for item in statement.items for node in ast.walk(item)
    ):
        return _reaches(statement.body, calls)
    if hands_on or isinstance(statement, ast.Raise):
        return True
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return None
    return False if any(isinstance(node, ast.Return) for node in within) else None


def _catches(handler: ast.ExceptHandler) -> bool:
    """Say whether it keeps the error that a refused call is from the caller."""
    if any(isinstance(node, ast.Raise) for node in ast.walk(handler)):
        return False
    names = (
        {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)} if handler.type else {"Exception"}
    )
    return bool(names & {"TypeError", "Exception", "BaseException"})


def _definition(code: types.CodeType) -> "ast.FunctionDef | ast.AsyncFunctionDef":
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    if not code.co_name.isidentifier() or not lines:
        raise UnknownError
    block = inspect.getblock(lines)
    is_within = block[0][:1].isspace()
    for node in ast.walk(ast.parse("if True:\n" * is_within + "".join(block))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.name == code.co_name:
                return node
            break
    raise UnknownError


def _shape(call: ast.Call) -> str:
    stars = "".join("*" if isinstance(each, ast.Starred) else "." for each in call.args)
    return "{} {} {}".format(ast.dump(call.func), stars, sorted(each.arg or "**" for each in call.keywords))


class _Uses:
    """The uses of names in a definition; `None` for calls that cannot be told, since the name is used otherwise."""

    def __init__(self, definition: ast.AST) -> None:
        self.popped, self.needed = set(), set()  # type: set[str], set[str]
        self.filled, self.unsure = set(), set()  # type: set[str], set[str]
        self._asked = []  # type: list[ast.AST]
        self._changes = []  # type: list[ast.AST]
        self._definition = definition
        self._nodes = list(ast.walk(definition))
        self._parents = {child: parent for parent in self._nodes for child in ast.iter_child_nodes(parent)}

    def binds(self, name: str) -> bool:
        """Say whether the function binds a name that is no parameter's, or a parameter's anew."""
        return any(
            isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in self._nodes
        )

    def are_settled(self, calls: "list[ast.Call]") -> bool:
        """Say whether keywords are changed before each call, and none is asked for only to be refused."""
        if any(self._refuses(node) for node in self._nodes):
            return False
        stars = [each.value for call in calls for each in call.keywords if each.arg is None]
        return all(_place(change) < _place(star) for change in self._changes for star in stars)

    def _refuses(self, node: Any) -> bool:
        """Say whether it may raise an error for a keyword that the code asks for, or for one that is missing."""
        if not self._asked or type(node) not in (ast.Raise, ast.Assert):
            return False
        known = {text for use in self._asked for text in self._names_of(use)}
        while node is not self._definition:
            child, node = node, self._parents[node]
            if isinstance(node, ast.Try) and any(child is each for each in node.handlers):
                tested = node.body  # type: list[Any]
            elif isinstance(child, ast.Assert):
                tested = [child.test]
            else:
                tested = [node.test] if isinstance(node, (ast.If, ast.While)) else []
            if any(use in self._asked or _said(use) in known for each in tested for use in ast.walk(each)):
                return True
        return False

    def _names_of(self, use: ast.AST) -> "Iterator[str]":
        """Yield the names of what a statement assigns in which a keyword is asked for."""
        while not isinstance(use, ast.stmt):
            use = self._parents[use]
        targets = use.targets if isinstance(use, ast.Assign) else [getattr(use, "target", None)]
        for node in [node for each in targets if each is not None for node in ast.walk(each)]:
            name = _said(node)
            if name is not None and not isinstance(getattr(node, "ctx", None), ast.Load):
                yield name

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
        if name and any(name in (getattr(node, "name", None), getattr(node, "asname", None)) for node in self._nodes):
            raise UnknownError  # an import, a handler or a definition binds it
        return [node for node in self._nodes if isinstance(node, ast.Name) and node.id == name]

    def _is_about_one(self, use: ast.AST) -> bool:
        """Say whether a use is about one keyword that the code names, and note what becomes of it."""
        self._asked.append(use)
        if isinstance(use, ast.Compare):
            return _asked_for(use) is not None
        needs = True
        if isinstance(use, ast.Subscript):
            name, done = _text(use.slice), type(use.ctx).__name__
        elif isinstance(use, ast.Attribute):
            call = self._parents[use]
            is_call = isinstance(call, ast.Call) and call.func is use and call.args
            name = _text(call.args[0]) if is_call else None  # type: ignore[attr-defined]
            needs = bool(is_call) and len(call.args) == 1  # type: ignore[attr-defined]
            done = use.attr
        else:
            return False
        return name is not None and self._is_noted(use, name, done, needs)

    def _is_noted(self, use: ast.AST, name: str, done: str, needs: bool) -> bool:
        when = self._when(use, name)
        if done in ("pop", "Del"):
            self._changes.append(use)
            self.popped.add(name)
            if needs and when == "always":
                self.needed.add(name)
            return when != "sometimes"
        if done in ("setdefault", "Store"):
            self._changes.append(use)
            (self.unsure if when == "sometimes" else self.filled).add(name)
            return True
        return done == "get" or (done == "Load" and when != "always")

    def _when(self, node: ast.AST, name: str) -> str:
        """Say when a part of the function is run: always, or as the keyword is there ("asked"), or else sometimes."""
        when = "always"
        while node is not self._definition:
            child, node = node, self._parents[node]
            if isinstance(node, (ast.If, ast.IfExp)) and child is not node.test:
                if not isinstance(node.test, ast.Compare) or _asked_for(node.test) != name:
                    return "sometimes"
                when = "asked"
            elif isinstance(node, ast.Try):
                if not any(child is each for each in node.body + node.finalbody):
                    return "sometimes"
                when = "asked"
            elif isinstance(node, _SOMETIMES) and node is not self._definition:
                return "sometimes"
        return when


_SOMETIMES = (
    ast.BoolOp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.Lambda,
    ast.comprehension,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
)


def _said(node: ast.AST) -> "str | None":
    """Return the name of a variable or attribute."""
    return getattr(node, "id", None) or getattr(node, "attr", None)


def _place(node: ast.AST) -> "tuple[int, int]":
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _asked_for(test: ast.Compare) -> "str | None":
    """Return the keyword of `"keyword" in kwargs`."""
    return _text(test.left) if len(test.ops) == 1 and isinstance(test.ops[0], (ast.In, ast.NotIn)) else None


def _text(node: Any) -> "str | None":
    """Return the text that a literal stands for."""
    try:
        value = ast.literal_eval(node.value if type(node).__name__ == "Index" else node)
    except ValueError:
        return None
    return value if type(value) is str else None
