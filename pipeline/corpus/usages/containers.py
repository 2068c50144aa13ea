"""Containers of the library's objects: what their methods and Python's builtins make of them."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.corpus.usages.values import UNKNOWN, Calling, Elements, Foreign, Items, Mapping, Value, element_of, many

_SAME = frozenset({"list", "tuple", "set", "frozenset", "sorted", "reversed", "iter"})
_GETTERS = frozenset({"get", "pop", "setdefault"})


def member_of_container(value: Value, name: str) -> Value:
    """Return what an attribute of a list, mapping or the like is."""
    if isinstance(value, Mapping):
        if name in _GETTERS:
            return Calling(value.of)
        results: dict[str, Value] = {
            "values": Elements(value.of),
            "items": Elements(Items((UNKNOWN, value.of))),
            "copy": value,
        }
        return Calling(results[name]) if name in results else UNKNOWN
    if isinstance(value, Elements):
        if name in {"pop", "popleft", "__next__", "send"}:
            return Calling(value.of)
        return Calling(value) if name == "copy" else UNKNOWN
    return UNKNOWN


def result_of_builtin(name: str, arguments: Sequence[Value]) -> Value:
    """Return what a builtin gives for these positional arguments."""
    if not arguments:
        return UNKNOWN
    if name in _SAME:
        return many(element_of(arguments[0]))
    if name == "filter":
        return many(element_of(arguments[-1]))
    if name == "next" or (name in {"min", "max"} and len(arguments) == 1):
        return element_of(arguments[0])
    if name == "enumerate":
        element = element_of(arguments[0])
        return UNKNOWN if element is UNKNOWN else Elements(Items((UNKNOWN, element)))
    if name == "zip":
        elements = tuple(element_of(argument) for argument in arguments)
        return Elements(Items(elements)) if any(e is not UNKNOWN for e in elements) else UNKNOWN
    return UNKNOWN


def builtin_name(value: Value) -> str | None:
    """Return the name of the builtin that a value is, or None."""
    if isinstance(value, Foreign) and value.path.startswith("builtins."):
        return value.path.removeprefix("builtins.")
    return None
