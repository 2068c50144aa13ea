"""What decides how a test comes out: functions of pytest, unittest and this harness, which code may not replace."""

import builtins
import sys
from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Modules whose functions decide how a test comes out, and names of builtins by which they do.
_DECIDES = ("_pytest.", "pluggy", "unittest.case", (__package__ or "driftline_inside") + ".")
_OF_BUILTINS = ("AssertionError", "BaseException", "Exception", "isinstance", "issubclass", "len", "max", "type")
# Names of modules and classes as they stand now, and those of them that are watched.
_WATCHED: "list[tuple[Any, str]]" = []
_CLASSES: "list[Any]" = []


def deciding() -> "list[Any]":
    """Return what stands now where pytest decides how a test comes out: each function by its identity and its code.

    What is watched are the functions that were there when this was asked first: what comes later decides nothing.
    """
    if not _WATCHED:
        modules = [module for name, module in sorted(sys.modules.items()) if name.startswith(_DECIDES) and module]
        own = [(module, name) for module in modules for name, value in vars(module).items() if code_of(value)]
        classes = {
            value
            for module in modules
            for value in list(vars(module).values())
            if isinstance(value, type) and value.__module__.startswith(_DECIDES)
        }
        members = [(owner, name) for owner in classes for name, value in vars(owner).items() if code_of(value)]
        _WATCHED.extend((vars(owner), name) for owner, name in [*own, *members])
        _CLASSES.extend(vars(owner) for owner in classes)
    watched = [code_of(names.get(name)) for names, name in _WATCHED]
    # a property that comes in between stands before what an instance has
    methods = [sum(1 for value in list(names.values()) if is_code(value)) for names in _CLASSES]
    return [*watched, *methods, *(getattr(builtins, name) for name in _OF_BUILTINS)]


def code_of(value: "Any") -> "Any":
    """Return what a function is and does: itself, its code, its defaults; None of what is none."""
    if type(value) is not FunctionType:
        value = getattr(value, "__func__", value)
        value = getattr(value, "fget", value)
    if isinstance(value, FunctionType):
        return id(value), id(value.__code__), id(value.__defaults__)
    return None


def is_code(value: "Any") -> bool:
    """Say whether something is a function, or a method or property that is one."""
    return type(value) is FunctionType or code_of(value) is not None
