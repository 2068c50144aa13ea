"""Annotations, read for what they say about a value."""

from __future__ import annotations

import ast
import builtins
import functools
import typing
from collections.abc import Callable

from pipeline.core.syntax_trees import parse_python
from pipeline.corpus.usages.values import (
    NOTHING,
    UNKNOWN,
    Calling,
    Instance,
    Items,
    Mapping,
    Reference,
    Value,
    join,
    many,
)

_TRANSPARENT = frozenset(
    {"Optional", "Annotated", "Final", "ClassVar", "Awaitable", "Required", "NotRequired", "ReadOnly"}
)
_MANY = frozenset(
    {"Iterator", "Iterable", "Generator", "Sequence", "MutableSequence", "Collection", "List", "list", "Set", "set"}
    | {"AbstractSet", "MutableSet", "FrozenSet", "frozenset", "Deque", "deque", "AsyncIterator", "AsyncIterable"}
    | {"AsyncGenerator", "Reversible", "ContextManager", "AbstractContextManager", "AsyncContextManager"}
    | {"AbstractAsyncContextManager", "KeysView", "ValuesView"}
)
_MAPPINGS = frozenset({"Dict", "dict", "Mapping", "MutableMapping", "DefaultDict", "defaultdict", "OrderedDict"})
# A library's own class of such a name is hardly ever what an annotation means by it.
_NOT_OURS = frozenset(dir(builtins)) | frozenset(typing.__all__) - {"Self", "Text"}

Find = Callable[[str], Value]
"""Tells what an object of the class that a name means is; `Self` means the class around."""


def read_annotation(text: str, find: Find) -> Value:
    """Return what an annotation says about a value: UNKNOWN where it says several things, or does not parse."""
    parsed = _parsed(text.strip())
    return UNKNOWN if parsed is None else _read(parsed, find)


@functools.lru_cache(maxsize=1 << 14)
def _parsed(text: str) -> ast.expr | None:
    try:
        return parse_python(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def read_signature(text: str, find: Find) -> tuple[list[Value], Value]:
    """Return what a type comment of a function says of its parameters and its result (PEP 484)."""
    try:
        parsed = parse_python(text.strip(), mode="func_type")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [], UNKNOWN
    return [_read(argument, find) for argument in parsed.argtypes], _read(parsed.returns, find)


def _read(node: ast.expr, find: Find) -> Value:
    match node:
        case ast.Constant(value=None):
            return NOTHING
        case ast.Constant(value=str(text)):
            return read_annotation(text, find)
        case ast.Name() | ast.Attribute():
            return _named(ast.unparse(node), find)
        case ast.BinOp(left=first, op=ast.BitOr(), right=right):
            return _either([first, right], find)
        case ast.Subscript(value=value, slice=inner):
            arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return _subscripted(ast.unparse(value), arguments, find) if arguments else UNKNOWN
    return UNKNOWN


def _named(written: str, find: Find) -> Value:
    short = written.rpartition(".")[2]
    if short in _NOT_OURS:
        return UNKNOWN
    return find("Self" if short == "Self" else written)


def _subscripted(written: str, arguments: list[ast.expr], find: Find) -> Value:
    short = written.rpartition(".")[2]
    if short == "Union":
        return _either(arguments, find)
    if short in _TRANSPARENT:
        return _read(arguments[0], find)
    if short in {"Type", "type"}:
        of = _read(arguments[0], find)
        return Reference(of.path) if isinstance(of, Instance) else UNKNOWN
    if short in _MANY:
        return many(_read(arguments[0], find))
    if short in _MAPPINGS and len(arguments) == 2:
        of = _read(arguments[1], find)
        return UNKNOWN if of is UNKNOWN else Mapping(of)
    if short == "Callable" and len(arguments) == 2:
        result = _read(arguments[1], find)
        return UNKNOWN if result is UNKNOWN else Calling(result)
    if short in {"tuple", "Tuple"}:
        return _tuple(arguments, find)
    return _named(written, find)


def _tuple(arguments: list[ast.expr], find: Find) -> Value:
    if len(arguments) == 2 and isinstance(arguments[1], ast.Constant) and arguments[1].value is ...:
        return many(_read(arguments[0], find))
    of = tuple(_read(argument, find) for argument in arguments)
    return Items(of) if any(value is not UNKNOWN for value in of) else UNKNOWN


def _either(sides: list[ast.expr], find: Find) -> Value:
    """Return what all sides of a union agree in, None aside.

    Of `X | Callable[..., X]`, which decorators with and without arguments give, the callable counts: most have them.
    """
    values = [_read(side, find) for side in sides]
    results = [value.result for value in values if isinstance(value, Calling)]
    if len(values) == 2 and len(results) == 1 and results[0] in values:
        return Calling(results[0])
    joined: Value = NOTHING
    for value in values:
        joined = join(joined, value)
    return joined
