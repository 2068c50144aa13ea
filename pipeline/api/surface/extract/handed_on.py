"""The calls by which a function, method or constructor hands its `**kwargs` on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from pipeline.api.surface.extract.kwargs import literal_accesses
from pipeline.api.surface.parse.bodies import Body
from pipeline.api.surface.parse.module_model import HandedOn, PassedKwargs
from pipeline.api.surface.parse.syntax import dotted

UNSEEN = HandedOn("", "?")
"""What has `**kwargs` in a way that the source does not show, as where a dictionary is given as an argument."""

CONSTRUCTORS = frozenset({"__init__", "__new__"})

_INSTANCES = frozenset({"self", "cls"})
_UNLIMITED = frozenset(
    {"print", "zip", "map", "max", "min", "chain", "itertools.chain", "os.path.join", "posixpath.join"}
)
"""Functions of Python that take positional arguments without an upper limit, by the names that code calls them by.

Source: their signatures in the library reference, "Built-in Functions", `itertools` and `os.path`. `max`, `min` and
`join` need at least one, and `map` two. `set` takes at most one, and `str.join` exactly one.
"""

_UNLIMITED_METHOD = "format"
"""`str.format(*args, **kwargs)` ("Built-in Types") ignores arguments without a field.

The type of its object is not known: methods of this name of other types count too.
"""

_BINDING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def handed_on(body: Body) -> list[HandedOn]:
    """Return where the `**kwargs` of a function go, in the order of the source."""
    catch_all = body.node.args.kwarg
    if catch_all is None or not body.mentions((catch_all.arg,)):
        return []
    name = catch_all.arg
    nodes = [node for statement in body.statements for node in ast.walk(statement)]
    uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    if any(not isinstance(node.ctx, ast.Load) for node in uses):
        return [UNSEEN]
    calls = [node for node in nodes if isinstance(node, ast.Call) and _passes(node, name)]
    assigned = tuple(_assigned(nodes, name))
    local = {*_local_names(nodes), *_parameter_names(body.node.args)}
    first = next((a.arg for a in (*body.node.args.posonlyargs, *body.node.args.args)), "")
    targets = [_of_call(call, first if first in _INSTANCES else "", local, assigned) for call in calls]
    accounted = len(calls) + sum(literal_accesses(statement, name) for statement in body.statements)
    return list(dict.fromkeys([*targets, *([UNSEEN] if accounted < len(uses) else [])]))


def hands_args_on(body: Body) -> bool:
    """Return whether something else than the signature says how many `*args` a function takes.

    That is a call which has them, or a check of their number that raises.
    """
    variadic = body.node.args.vararg
    if variadic is None or not body.mentions((f"*{variadic.arg}", f"len({variadic.arg})")):
        return False
    for node in (node for statement in body.statements for node in ast.walk(statement)):
        match node:
            case ast.Call(func=ast.Attribute(attr=method)) if method == _UNLIMITED_METHOD:
                continue
            case ast.Call(func=called, args=arguments) if dotted(called) not in _UNLIMITED:
                if any(isinstance(a, ast.Starred) and dotted(a.value) == variadic.arg for a in arguments):
                    return True
            case ast.If(
                test=ast.Compare(left=ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)])),
                body=[*_, ast.Raise()],
            ) if name == variadic.arg:
                return True
    return False


def passed_kwargs(body: Body) -> PassedKwargs | None:
    """Return how a constructor passes `**kwargs` on: by `super().__init__(…)` or by `Base.__init__(self, …)`.

    None where several calls have them, or where the name is bound again: then only running tells who gets what.
    """
    name, catch_all = body.node.name, body.node.args.kwarg
    # most constructors are not parsed with their bodies
    if catch_all is None or not body.mentions((f"**{catch_all.arg}",)) or not body.mentions((f".{name}(",)):
        return None
    nodes = [node for statement in body.statements for node in ast.walk(statement)]
    if any(isinstance(n, ast.Name) and n.id == catch_all.arg and isinstance(n.ctx, ast.Store) for n in nodes):
        return None
    calls = [node for node in nodes if isinstance(node, ast.Call) and _passes(node, catch_all.arg)]
    match calls:
        case [ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=called)) as call]:
            base, bound = "", called == "__new__"
        case [ast.Call(func=ast.Attribute(value=owner, attr=called)) as call]:
            base, bound = dotted(owner) or "", True
        case _:
            return None
    if called != name or (bound and not (base or name == "__new__")):
        return None
    positional = list(takewhile(lambda argument: not isinstance(argument, ast.Starred), call.args))
    names = tuple(keyword.arg for keyword in call.keywords if keyword.arg)
    return PassedKwargs(base, max(len(positional) - bound, 0), names)


def _passes(call: ast.Call, catch_all: str) -> bool:
    """Return whether a call is given `**kwargs` by this name."""
    return any(
        keyword.arg is None and isinstance(keyword.value, ast.Name) and keyword.value.id == catch_all
        for keyword in call.keywords
    )


def _of_call(call: ast.Call, instance: str, local: set[str], assigned: tuple[str, ...]) -> HandedOn:
    positional = len(list(takewhile(lambda argument: not isinstance(argument, ast.Starred), call.args)))
    names = tuple(sorted({*assigned, *(keyword.arg for keyword in call.keywords if keyword.arg)}))
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=called):
            return HandedOn(called, "super", positional, names)
        case ast.Attribute(value=ast.Name(id=name), attr=called) if name == instance:
            return HandedOn(called, "self", positional, names)
        case ast.Name(id="cls") if instance == "cls":
            return HandedOn("", "self", positional, names)
        case _:
            target = dotted(call.func)
            if target is None or target.partition(".")[0] in local:
                return UNSEEN
            return HandedOn(target, "", positional, names)


def _assigned(nodes: list[ast.AST], catch_all: str) -> Iterator[str]:
    """Yield the names that a body sets in `**kwargs` whatever the caller gives."""
    for node in nodes:
        match node:
            case ast.Subscript(value=ast.Name(id=of), slice=ast.Constant(value=str(name)), ctx=ast.Store()):
                if of == catch_all:
                    yield name


def _local_names(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from ((alias.asname or alias.name).partition(".")[0] for alias in aliases)
            case ast.arg(arg=name):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name
            case _ if isinstance(node, _BINDING):
                yield node.name


def _parameter_names(arguments: ast.arguments) -> Iterator[str]:
    yield from (a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))
    yield from (a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None)
