"""What syntax a class supports: the special methods that it defines, and what its decorators make of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from pipeline.api.surface.parse.bodies import Body
from pipeline.api.surface.parse.module_model import Definition
from pipeline.api.surface.parse.syntax import dotted, options, text_of, written

USE = "use:"
"""Prefix of the labels of a class that name its special methods."""

REFUSED = "refused:"
"""Prefix of the labels of a class that name special methods which only raise, or are None."""

INHERITED = "inherited:"
"""Prefix of such a label that a class has from a public base, where the same is said."""

UNHASHABLE = "unhashable"
"""Label of a class whose `__hash__` is None, by itself or because it defines `__eq__` alone (data model, 3.3.1)."""

FROZEN = "frozen"
"""Label of a class whose instances refuse assignments."""

SLOTTED = "slotted"
"""Label of a class whose instances take the attributes alone that it lists (data model, 3.3.2.4)."""

ABSTRACT = "abstract:"
"""Prefix of the labels of a class that name the methods which a subclass has to define."""

ONLY_RAISES = "only_raises"
"""Label of a function whose body begins with `raise`."""

REFUSES = "refuses"
"""Label of a function that only raises, if its exception does not ask a subclass to define it."""

WARNS_TO = {"setter": "warns_to_assign=", "deleter": "warns_to_delete="}
"""Prefixes of the labels of a property whose accessor warns of deprecation; the message stands behind it."""

OPERATORS: Mapping[str, str] = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}

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
    "__anext__": "await anext(x)",
    "__class_getitem__": "C[…]",
    "__int__": "int(x)",
    "__float__": "float(x)",
    "__complex__": "complex(x)",
    "__index__": "operator.index(x)",
    "__round__": "round(x)",
    "__divmod__": "divmod(x, y)",
    "__pos__": "+x",
    "__invert__": "~x",
    "__fspath__": "os.fspath(x)",
    "__bytes__": "bytes(x)",
    "__neg__": "-x",
    "__abs__": "abs(x)",
    **{f"__{name}__": f"x {operator} y" for name, operator in OPERATORS.items()},
    **{f"__r{name}__": f"y {operator} x" for name, operator in OPERATORS.items()},
    **{f"__i{name}__": f"x {operator}= y" for name, operator in OPERATORS.items()},
}
"""How code uses each special method; of the four that order objects one stands for all."""

OF_OBJECTS: Mapping[str, str] = {
    "__setattr__": "x.field = …",
    "__delattr__": "del x.field",
    "__bool__": "bool(x)",
    "__reduce__": "pickle.dumps(x)",
    "__reduce_ex__": "pickle.dumps(x)",
    "__getstate__": "pickle.dumps(x)",
    "__init_subclass__": "class D(C)",
    "__new__": "C()",
    "__init__": "C()",
}
"""How code uses special methods that every class has, so that only refusing them changes what it supports."""

_ORDERS = dict.fromkeys(("__le__", "__gt__", "__ge__"), "__lt__")
_OF_TUPLES = (
    *("__getitem__", "__iter__", "__len__", "__contains__", "__lt__", "__add__", "__mul__", "__rmul__"),
    "__class_getitem__",
)
_FREEZE = frozenset({"frozen", "attr.frozen", "attrs.frozen"})
_SLOTTED = frozenset({"define", "attr.define", "attrs.define", *_FREEZE})
_GENERIC = frozenset({"Generic", "Protocol"})
_REFUSAL = re.compile(r"raise\s+(?:\w+\.)*(?!\w*(?:NotImplemented|Abstract))\w*(?:Error|Exception|Warning)\b")


def refuses(body: Body) -> bool:
    """Return whether a body begins with an exception that does not ask a subclass to define the function."""
    return body.only_raises and _REFUSAL.match(body.code) is not None


def uses_of(
    node: ast.ClassDef, definition: Definition, methods: Collection[str], body_of: Callable[[str], Body | None]
) -> set[str]:
    """Return the labels of what a class supports by itself.

    `methods` are the names of all that it defines; `body_of` gives the body of a method, None of what is none.
    """
    special = {name for name in methods if name in SYNTAX or name in OF_OBJECTS or name in _ORDERS}
    unset = set(_set_to_none(node.body))
    refused = {name for name in special if name in unset or ((body := body_of(name)) is not None and refuses(body))}
    labels = {USE + _ORDERS.get(name, name) for name in special - refused}
    labels |= {REFUSED + name for name in refused if name != "__hash__" and name not in _ORDERS}
    unhashable = "__hash__" in refused
    if any(base.partition("[")[0].rpartition(".")[2] in _GENERIC and "[" in base for base in definition.bases):
        labels.add(USE + "__class_getitem__")
    if definition.synthesised == "namedtuple":
        labels |= {USE + name for name in _OF_TUPLES}
        labels |= {SLOTTED} if any(base.rpartition(".")[2] == "NamedTuple" for base in definition.bases) else set()
    arguments = {key: value for decorator in node.decorator_list for key, value in options(decorator).items()}
    flags = {key: written(value) == "True" for key, value in arguments.items()}
    decorators = {dotted(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list}
    slotted = _lists_all_slots(node.body)
    if definition.synthesised in {"dataclass", "attrs"}:
        frozen = flags.get("frozen", not _FREEZE.isdisjoint(decorators))
        labels |= {FROZEN} if frozen else set()
        labels |= {USE + "__lt__"} if flags.get("order", False) else set()
        slotted = slotted or flags.get("slots", not _SLOTTED.isdisjoint(decorators))
        if definition.synthesised == "dataclass" and flags.get("eq", True):
            unhashable = unhashable or not (frozen or flags.get("unsafe_hash", False))
    labels |= {SLOTTED} if slotted else set()
    if unhashable or "__eq__" in methods:
        labels |= {UNHASHABLE} if "__hash__" not in methods or unhashable else set()
    return labels - {USE + "__hash__"} if unhashable else labels


def _lists_all_slots(body: Sequence[ast.stmt]) -> bool:
    """Return whether a class lists all attributes of its instances by literal names."""
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=ast.Tuple(elts=names) | ast.List(elts=names)):
                listed = [text_of(name) for name in names]
                return None not in listed and "__dict__" not in listed
    return False


def _set_to_none(body: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=None)):
                yield name
