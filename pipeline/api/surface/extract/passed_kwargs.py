"""The call by which a constructor passes its `**kwargs` on to that of a base."""

from __future__ import annotations

import ast
from itertools import takewhile

from pipeline.api.surface.extract.handed_on import passes
from pipeline.api.surface.parse.bodies import Body
from pipeline.api.surface.parse.module_model import PassedKwargs
from pipeline.api.surface.parse.syntax import dotted

CONSTRUCTORS = frozenset({"__init__", "__new__"})


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
    calls = [node for node in nodes if isinstance(node, ast.Call) and passes(node, catch_all.arg)]
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
