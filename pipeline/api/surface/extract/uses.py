"""What syntax a class supports: the special methods that it defines, and what its decorators make of it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from pipeline.api.surface.parse.module_model import Definition
from pipeline.api.surface.parse.syntax import dotted, options, written

USE = "use:"
"""Prefix of the labels of a class that name its special methods."""

INHERITED = "inherited:"
"""Prefix of such a label that a class has from a public base, where the same is said."""

UNHASHABLE = "unhashable"
"""Label of a class whose `__hash__` is None, by itself or because it defines `__eq__` alone (data model, 3.3.1)."""

FROZEN = "frozen"
"""Label of a class whose instances refuse assignments."""

ABSTRACT = "abstract:"
"""Prefix of the labels of a class that name the methods which a subclass has to define."""

ONLY_RAISES = "only_raises"
"""Label of a function whose body begins with `raise`."""

SYNTAX: Mapping[str, str] = {
    "__call__": "x()",
    "__getitem__": "x[i]",
    "__setitem__": "x[i] = …",
    "__delitem__": "del x[i]",
    "__len__": "len(x)",
    "__iter__": "iter(x)",
    "__next__": "next(x)",
    "__reversed__": "reversed(x)",
    "__contains__": "i in x",
    "__enter__": "with x",
    "__aenter__": "async with x",
    "__aiter__": "async for … in x",
    "__await__": "await x",
    "__hash__": "hash(x)",
    "__lt__": "x < y",
    "__int__": "int(x)",
    "__float__": "float(x)",
    "__index__": "operator.index(x)",
    "__fspath__": "os.fspath(x)",
    "__bytes__": "bytes(x)",
    "__neg__": "-x",
    "__abs__": "abs(x)",
    **{
        f"__{name}__": f"x {operator} y"
        for name, operator in (
            *(("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("floordiv", "//"), ("mod", "%")),
            *(("pow", "**"), ("matmul", "@"), ("and", "&"), ("or", "|"), ("xor", "^")),
            *(("lshift", "<<"), ("rshift", ">>")),
        )
    },
}
"""How code uses each special method; of the four that order objects one stands for all."""

_ORDERS = dict.fromkeys(("__le__", "__gt__", "__ge__"), "__lt__")
_OF_TUPLES = ("__getitem__", "__iter__", "__len__", "__contains__", "__lt__", "__add__")
_FREEZE = frozenset({"frozen", "attr.frozen", "attrs.frozen"})


def uses_of(node: ast.ClassDef, definition: Definition, methods: Collection[str]) -> set[str]:
    """Return the labels of what a class supports by itself; `methods` are the names of all that it defines."""
    special = {_ORDERS.get(name, name) for name in methods}
    labels = {USE + name for name in special if name in SYNTAX}
    unset = any(name == "__hash__" for name in _set_to_none(node.body))
    if definition.synthesised == "namedtuple":
        labels |= {USE + name for name in _OF_TUPLES}
    if definition.synthesised in {"dataclass", "attrs"}:
        arguments = {key: value for decorator in node.decorator_list for key, value in options(decorator).items()}
        flags = {key: written(value) == "True" for key, value in arguments.items()}
        frozen = flags.get("frozen", False) or any(dotted(decorator) in _FREEZE for decorator in node.decorator_list)
        labels |= {FROZEN} if frozen else set()
        labels |= {USE + "__lt__"} if flags.get("order", False) else set()
        if definition.synthesised == "dataclass" and flags.get("eq", True):
            unset = unset or not (frozen or flags.get("unsafe_hash", False))
    if unset or "__eq__" in methods:
        labels |= {UNHASHABLE} if "__hash__" not in methods or unset else set()
    if unset:
        labels -= {USE + "__hash__"}
    return labels


def _set_to_none(body: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=None)):
                yield name
