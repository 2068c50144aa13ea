"""Names that a module gets from a function that it hands its `globals()`, told in mappings of names to modules.

So it is with `lazy_import(globals(), aliases={"connect": ".client"}, deprecated_aliases={…})` of websockets, which
gives the module a `__getattr__` (PEP 562).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pipeline.surface.bodies import Bodies
from pipeline.surface.records import Mark
from pipeline.surface.syntax import statements
from pipeline.surface.telling import GLOBALS
from pipeline.terms import DeprecationChannel

_MODULE = re.compile(r"\.*[A-Za-z_][\w.]*")


def given_names(tree: ast.Module, bodies: Bodies, module: str) -> dict[str, Mark | None]:
    """Return the names that such calls give a module; those of a mapping that is called deprecated have a mark."""
    if GLOBALS not in bodies.told:
        return {}
    calls = (s.value for s in statements(tree.body) if isinstance(s, ast.Expr | ast.Assign))
    told = (call for call in calls if isinstance(call, ast.Call) and tells_names(call))
    return {name: mark for call in told for name, mark in _names(call, module)}


def tells_names(call: ast.Call) -> bool:
    """Return whether a call takes `globals()`, and beside it only mappings of names to modules."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    others = [argument for argument in given if not is_globals(argument)]
    return len(others) < len(given) and bool(others) and all(_is_mapping(argument) for argument in others)


def is_globals(node: ast.expr) -> bool:
    """Return whether an expression is `globals()`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "globals"


def _is_mapping(node: ast.expr) -> bool:
    return isinstance(node, ast.Dict) and all(
        isinstance(key, ast.Constant)
        and str(key.value).isidentifier()
        and isinstance(value, ast.Constant)
        and _MODULE.fullmatch(str(value.value))
        for key, value in zip(node.keys, node.values, strict=True)
    )


def _names(call: ast.Call, module: str) -> Iterator[tuple[str, Mark | None]]:
    named = [(None, argument) for argument in call.args] + [(k.arg, k.value) for k in call.keywords]
    for keyword, mapping in named:
        for key in mapping.keys if isinstance(mapping, ast.Dict) else ():
            if isinstance(key, ast.Constant):
                yield str(key.value), _deprecated(module, str(key.value)) if "deprecat" in (keyword or "") else None


def _deprecated(module: str, name: str) -> Mark:
    message = f"{module}.{name} is deprecated"
    nothing = dict.fromkeys(("since", "removal", "replacement"))
    return {"channel": DeprecationChannel.WARNING, "message": message, **nothing}
