"""Reads in the code of a function to which call it forwards its `*args` and `**kwargs`; for Python 3.6 and newer."""

import ast
import builtins
import inspect
import linecache
import types
from typing import Any, NamedTuple


class UnknownError(Exception):
    """Which calls are accepted cannot be found out."""


class Forwarding(NamedTuple):
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


# Expressions whose parts are all evaluated, and statements that have no others.
_WHOLE = (
    *(ast.Call, ast.keyword, ast.Starred, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Await),
    *(ast.Tuple, ast.List, ast.Set, ast.Dict, ast.JoinedStr, ast.FormattedValue),
    *(ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Delete),
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Context managers of the standard library through which every exception passes.
_TRANSPARENT = ("catch_warnings", "nullcontext")
_GENERATOR = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR


def forwarding(code: types.CodeType, rest: str, keywords: str) -> Forwarding:
    """Return the one call that gets `*rest`, `**keywords` or both; UnknownError if there is none, or if they change.

    So it is too if the function may return without that call, may keep its error from the caller, or refuses keywords
    itself. A name is empty where the function has no such parameter.
    """
    if code.co_flags & _GENERATOR:
        raise UnknownError  # a call runs nothing of it
    definition = _definition(code)
    uses = _Uses(definition, keywords)
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
    ways = _Ways(uses, calls).through(definition.body)
    if "call" not in ways or not ways <= {"call", "raise"} or uses.needed & (uses.filled | uses.unsure):
        raise UnknownError
    if not to_keywords:
        return Forwarding(call, True, False, set(), set(), set(), set())
    return Forwarding(call, bool(to_rest), True, uses.popped, uses.needed, uses.filled, uses.unsure)


def _root(expression: ast.AST) -> str:
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else ""


def _definition(code: types.CodeType) -> "ast.FunctionDef | ast.AsyncFunctionDef":
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    if not code.co_name.isidentifier() or not lines:
        raise UnknownError
    block = inspect.getblock(lines)
    is_within = block[0][:1].isspace()
    for node in ast.walk(ast.parse("if True:\n" * is_within + "".join(block))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.name == code.co_name and set(_parameters(node.args)) == set(_arguments(code)):
                return node
            break
    raise UnknownError


def _parameters(of: ast.arguments) -> "list[str]":
    every = [*getattr(of, "posonlyargs", ()), *of.args, *of.kwonlyargs, of.vararg, of.kwarg]
    return [each.arg for each in every if each is not None]


def _arguments(code: types.CodeType) -> "tuple[str, ...]":
    stars = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]


def _shape(call: ast.Call) -> str:
    stars = "".join("*" if isinstance(each, ast.Starred) else "." for each in call.args)
    return "{} {} {}".format(ast.dump(call.func), stars, sorted(each.arg or "**" for each in call.keywords))


class _Ways:
    """The ways through statements: "call" one of the calls, "raise", go "on" behind them, or "other"."""

    def __init__(self, uses: "_Uses", calls: "list[ast.Call]") -> None:
        self._uses, self._calls = uses, calls
        self._sure = [uses.statement_of(call) for call in calls if uses.is_whole(call)]

    def through(self, statements: "list[ast.stmt]") -> "set[str]":
        """Return the ways through statements."""
        ways = set()  # type: set[str]
        for each in statements:
            ways_of_each = self._through_one(each)
            ways |= ways_of_each - {"on"}
            if "on" not in ways_of_each:
                return ways
        return ways | {"on"}

    def _through_one(self, statement: Any) -> "set[str]":
        if any(statement is each for each in self._sure):
            return {"call"}
        if isinstance(statement, ast.If):
            return self.through(statement.body) | self.through(statement.orelse)
        if isinstance(statement, ast.Try):
            return self._through_try(statement)
        if isinstance(statement, (ast.With, ast.AsyncWith)) and all(map(_is_transparent, statement.items)):
            return self.through(statement.body)
        within = list(ast.walk(statement))
        if any(call is node for call in self._calls for node in within):
            return {"other"}
        if isinstance(statement, _DEFINITIONS):
            return {"on"}
        if isinstance(statement, ast.Raise):
            return {"raise"}
        return {"other"} if any(isinstance(node, ast.Return) for node in within) else {"on"}

    def _through_try(self, statement: ast.Try) -> "set[str]":
        last = [node for each in statement.finalbody for node in ast.walk(each)]
        if any(isinstance(node, (ast.Return, ast.Break, ast.Continue)) or node in self._calls for node in last):
            return {"other"}
        ways = self.through(statement.body + statement.orelse)
        handlers = [(each, self.through(each.body)) for each in statement.handlers]
        if any(through != {"raise"} and _catches(each, TypeError) for each, through in handlers) and "call" in ways:
            return {"other"}
        # an error of the call itself is none of binding if they do not catch it
        first = statement.body[0]
        is_first = any(first is each for each in self._sure) and not self._uses.is_about([first], set())
        return ways.union(*[through for _, through in handlers if not is_first])


def _is_transparent(item: ast.withitem) -> bool:
    call = item.context_expr
    return isinstance(call, ast.Call) and _identifier(call.func) in _TRANSPARENT


def _catches(handler: ast.ExceptHandler, error: type) -> bool:
    """Say whether a handler may catch an error: of others than Python's own exceptions that is not known."""
    if handler.type is None:
        return True
    named = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    classes = [getattr(builtins, getattr(each, "id", ""), None) for each in named]
    return any(not isinstance(each, type) or issubclass(error, each) for each in classes)


class _Uses:
    """The uses of names in a definition; `None` for calls that cannot be told, since the name is used otherwise."""

    def __init__(self, definition: "ast.FunctionDef | ast.AsyncFunctionDef", keywords: str) -> None:
        self.popped, self.needed = set(), set()  # type: set[str], set[str]
        self.filled, self.unsure = set(), set()  # type: set[str], set[str]
        self._lookups = []  # type: list[ast.AST]
        self._changes = []  # type: list[ast.AST]
        self._definition, self._keywords = definition, keywords
        self._nodes = list(ast.walk(definition))
        self._parents = {child: parent for parent in self._nodes for child in ast.iter_child_nodes(parent)}

    def binds(self, name: str) -> bool:
        """Say whether the function binds a name that is no parameter's, or a parameter's anew."""
        return any(
            isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in self._nodes
        )

    def statement_of(self, node: ast.AST) -> ast.AST:
        """Return the statement that a node is part of."""
        while not isinstance(node, ast.stmt):
            node = self._parents[node]
        return node

    def is_whole(self, node: ast.AST) -> bool:
        """Say whether an expression is evaluated whenever its statement is run."""
        while not isinstance(node, ast.stmt):
            child, node = node, self._parents[node]
            if not _is_evaluated(child, node):
                return False
        return True

    def are_settled(self, calls: "list[ast.Call]") -> bool:
        """Say whether keywords are changed before each call, and none is asked for only to be refused."""
        if (self._lookups and self._refuses(calls)) or any(map(_reads_all, self._nodes)):
            return False
        stars = [each.value for call in calls for each in call.keywords if each.arg is None]
        return all(_place(change) < _place(star) for change in self._changes for star in stars)

    def _refuses(self, calls: "list[ast.Call]") -> bool:
        """Say whether it may raise an error for a keyword that the code asks for, or for one that is missing."""
        dependent = self._derived()
        is_raising = any(isinstance(node, (ast.Raise, ast.Assert)) for node in self._nodes)
        for node in self._nodes:
            if not isinstance(node, ast.stmt) or node is self._definition:
                continue
            parts = list(ast.iter_child_nodes(node))
            statements = [each for each in parts if isinstance(each, _BLOCKS)]
            tested = node.body if isinstance(node, ast.Try) else [each for each in parts if each not in statements]
            if not (statements or isinstance(node, ast.Assert)) or not self.is_about(tested, dependent):
                continue
            if isinstance(node, ast.Try):
                statements = [*node.handlers, *node.orelse]
            for each in [node, *(within for statement in statements for within in ast.walk(statement))]:
                if isinstance(each, (ast.Raise, ast.Assert)) or (isinstance(each, ast.Return) and is_raising):
                    return True
                if isinstance(each, ast.Expr) and each.value not in calls and self._may_refuse(each.value, dependent):
                    return True
        return False

    def _derived(self) -> "set[str]":
        """Return the names of variables and attributes whose values depend on keywords that are asked for."""
        dependent, before = set(), -1  # type: set[str], int
        while len(dependent) > before:
            before = len(dependent)
            for node in self._nodes:
                targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
                value = getattr(node, "value", None) or getattr(node, "iter", None)
                if value is None or targets[0] is None or not self.is_about([value], dependent):
                    continue
                for each in [within for target in targets for within in ast.walk(target)]:
                    if isinstance(getattr(each, "ctx", None), ast.Store):
                        dependent.add(_identifier(each.value if isinstance(each, ast.Subscript) else each) or "")
        return dependent

    def is_about(self, nodes: "list[Any]", dependent: "set[str]") -> bool:
        """Say whether expressions ask for a keyword, or for a variable that depends on one."""
        return any(each in self._lookups or _identifier(each) in dependent for node in nodes for each in ast.walk(node))

    def _may_refuse(self, value: ast.AST, dependent: "set[str]") -> bool:
        """Say whether a call whose result is dropped may raise an error; one that warns or uses the value does not."""
        if not isinstance(value, ast.Call):
            return False
        name = str(_identifier(value.func))
        arguments = [*value.args, *value.keywords]
        return "warn" not in name and value.func not in self._lookups and not self.is_about(arguments, dependent)

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
        bound = [getattr(node, kind, None) for node in self._nodes for kind in ("name", "asname", "rest")]
        if name and name in bound:
            raise UnknownError  # an import, a handler, a definition or a pattern binds it
        return [node for node in self._nodes if isinstance(node, ast.Name) and node.id == name]

    def _is_about_one(self, use: ast.AST) -> bool:
        """Say whether a use is about one keyword that the code names, and note what becomes of it."""
        self._lookups.append(use)
        if isinstance(use, ast.Compare):
            return self._tested_keyword(use) is not None
        needs = True
        if isinstance(use, ast.Subscript):
            name, done = _text(use.slice), type(use.ctx).__name__
            if isinstance(self._parents[use], ast.AugAssign):
                return False
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
        when = self.when(use, name)
        if done in ("pop", "Del"):
            self._changes.append(use)
            self.popped.add(name)
            if needs and when == "always":
                self.needed.add(name)
            return when in ("always", "present")
        if done in ("setdefault", "Store"):
            self._changes.append(use)
            (self.filled if when in ("always", "absent") else self.unsure).add(name)
            return True
        return done == "get" or (done == "Load" and when == "present")

    def when(self, node: ast.AST, name: str = "") -> str:
        """Say when a part of the function is run: always, as a keyword is "present" or "absent", or else sometimes."""
        when = "always"
        while node is not self._definition:
            child, node = node, self._parents[node]
            now = self._when_in(child, node, name)
            if now != "always" and when != "always":
                return "sometimes"
            when = when if now == "always" else now
        return when

    def _when_in(self, child: ast.AST, node: Any, name: str) -> str:
        """Say when a part of a node is run if the node is."""
        if node is self._definition or _is_evaluated(child, node):
            return "always"
        if isinstance(node, (ast.If, ast.IfExp)):
            if not isinstance(node.test, ast.Compare) or self._tested_keyword(node.test) != name:
                return "sometimes"
            is_body = child is node.body or (isinstance(node, ast.If) and child in node.body)
            return "present" if is_body == isinstance(node.test.ops[0], ast.In) else "absent"
        if isinstance(node, ast.Try):
            if child in node.finalbody or (child in node.body and not node.handlers):
                return "always"
            is_caught = child is node.body[0] and any(_catches(each, KeyError) for each in node.handlers)
            return "present" if is_caught else "sometimes"
        return "sometimes"

    def _tested_keyword(self, test: ast.Compare) -> "str | None":
        """Return the keyword of `"keyword" in kwargs`."""
        among = test.comparators[0]
        is_among = len(test.ops) == 1 and isinstance(among, ast.Name) and among.id == self._keywords
        return _text(test.left) if is_among and isinstance(test.ops[0], (ast.In, ast.NotIn)) else None


_BLOCKS = (ast.stmt, ast.ExceptHandler, *(kind for kind in [getattr(ast, "match_case", None)] if kind is not None))


def _is_evaluated(child: ast.AST, node: Any) -> bool:
    """Say whether a part is evaluated whenever the node is."""
    if isinstance(node, (ast.If, ast.IfExp)):
        return child is node.test
    return isinstance(node, _WHOLE) or type(node).__name__ == "Index" or _is_single(node)


def _is_single(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and len(node.ops) == 1


def _reads_all(node: Any) -> bool:
    """Say whether it may reach all variables of the function."""
    named = isinstance(node, ast.Name) and node.id in ("locals", "eval", "exec")
    return named or (isinstance(node, ast.Call) and _identifier(node.func) in ("vars", "_getframe") and not node.args)


def _identifier(node: ast.AST) -> "str | None":
    """Return the name of a variable or attribute."""
    return getattr(node, "id", None) or getattr(node, "attr", None)


def _place(node: ast.AST) -> "tuple[int, int]":
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _text(node: Any) -> "str | None":
    """Return the text that a literal stands for."""
    try:
        value = ast.literal_eval(node.value if type(node).__name__ == "Index" else node)
    except ValueError:
        return None
    return value if type(value) is str else None
