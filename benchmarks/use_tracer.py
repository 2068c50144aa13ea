"""What runs inside the sandbox as `sitecustomize`: it notes what each traced name and attribute of a file led to.

`use_sites` has rewritten the files. Nothing but the standard library is there.
"""

from __future__ import annotations

import atexit
import builtins
import json
import os
import sys
import types
from pathlib import Path
from typing import Any

_FOLDER = os.environ.get("TRACE_FOLDER", "")
_ROOTS = frozenset(os.environ.get("TRACE_ROOTS", "").split(","))
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)

_SITES: list[list[Any]] = json.loads(Path(_FOLDER, "sites.json").read_text())

_seen: dict[int, set[object]] = {}
_told: dict[int, set[tuple[str, ...]]] = {}


def _ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in _ROOTS


def _path_of(thing: object) -> str | None:
    """Return where a class or function of the library says it is defined."""
    module = getattr(thing, "__module__", None)
    name = getattr(thing, "__qualname__", None)
    return f"{module}.{name}" if _ours(module) and isinstance(name, str) else None


def _resolution(value: object) -> tuple[tuple[type, ...], bool]:
    """Return the classes that an attribute of a value is looked up in, and whether the value may hold it itself."""
    if isinstance(value, type):
        return value.__mro__, False
    if type(value) is super:
        seen_from: Any = value
        mro = seen_from.__self_class__.__mro__
        return mro[mro.index(seen_from.__thisclass__) + 1 :], False
    try:
        return value.__class__.__mro__, True  # a proxy says so of what it stands for
    except Exception:  # noqa: BLE001 - a proxy of nothing may raise anything
        return type(value).__mro__, True


def _attribute(value: Any, name: str) -> tuple[str, ...] | None:
    if isinstance(value, types.ModuleType):
        return ("module", f"{value.__name__}.{name}") if _ours(value.__name__) else None
    mro, holds = _resolution(value)
    holders = [c for c in mro if name in c.__dict__]
    if not holders and holds:
        holders = [c for c in mro if _ours(c.__module__)]
        return ("held", *(f"{c.__module__}.{c.__qualname__}" for c in holders)) if holders else None
    if holders and _ours(holders[0].__module__):
        return ("member", *(f"{c.__module__}.{c.__qualname__}" for c in holders if _ours(c.__module__)))
    return None


def _t_a_(value: Any, number: int) -> Any:
    result = getattr(value, _SITES[number][0])
    seen = _seen.setdefault(number, set())
    key = id(value) if isinstance(value, (types.ModuleType, type)) else type(value)
    if key not in seen:
        seen.add(key)
        told = _attribute(value, _SITES[number][0])
        if told and not isinstance(result, types.ModuleType):
            _told.setdefault(number, set()).add(told)
    return result


def _t_n_(value: Any, number: int) -> Any:
    seen = _seen.setdefault(number, set())
    if id(value) not in seen and len(seen) < 100:
        seen.add(id(value))
        if not isinstance(value, types.ModuleType):
            for module, name in _SITES[number][1]:
                home = sys.modules.get(module)
                if _ours(module) and home is not None and home.__dict__.get(name, _seen) is value:
                    _told.setdefault(number, set()).add(("name", f"{module}.{name}"))
            if isinstance(value, _FUNCTIONS) and (path := _path_of(value)):
                _told.setdefault(number, set()).add(("object", path))
    return value


def _write() -> None:
    answer = [[number, sorted(_told.get(number, ()))] for number in sorted(_seen)]
    Path(_FOLDER, f"told-{os.getpid()}.json").write_text(json.dumps(answer))


builtins._t_a_ = _t_a_  # type: ignore[attr-defined]
builtins._t_n_ = _t_n_  # type: ignore[attr-defined]
atexit.register(_write)
