"""Return annotations as written in a library, read for the class that they name."""

from __future__ import annotations

import ast
import builtins
import typing
from dataclasses import dataclass, replace

_ONE = frozenset({"Optional", "Annotated", "Final", "ClassVar", "Awaitable"})
_MANY = frozenset(
    {"Iterator", "Iterable", "Generator", "Sequence", "Collection", "List", "list", "Set", "set", "FrozenSet"}
    | {"frozenset", "Deque", "deque", "AsyncIterator", "AsyncIterable"}
)
# A library's own class of such a name is hardly ever what an annotation means by it.
_NOT_OURS = frozenset(dir(builtins)) | frozenset(typing.__all__) - {"Self"}


@dataclass(frozen=True, slots=True)
class Stated:
    """The one class that an annotation names; `many`: an iterable of its objects; `is_class`: the class itself."""

    name: str
    many: bool = False
    is_class: bool = False


def read_annotation(text: str) -> Stated | None:
    """Return the class that an annotation names, or None where it names none, several, or does not parse."""
    try:
        return _read(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _read(node: ast.expr) -> Stated | None:
    match node:
        case ast.Constant(value=str(text)):
            return read_annotation(text)
        case ast.Name() | ast.Attribute():
            name = ast.unparse(node)
            short = name.rpartition(".")[2]
            return Stated("Self" if short == "Self" else name) if short not in _NOT_OURS else None
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _only([left, right])
        case ast.Subscript(value=value, slice=inner):
            return _subscripted(ast.unparse(value).rpartition(".")[2], ast.unparse(value), inner)
    return None


def _subscripted(short: str, written: str, inner: ast.expr) -> Stated | None:
    arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if not arguments:
        return None
    if short == "Union":
        return _only(arguments)
    if short in _ONE:
        return _read(arguments[0])
    stated = _read(arguments[0])
    if short in {"Type", "type"}:
        return replace(stated, is_class=True) if stated else None
    if short in _MANY:
        return replace(stated, many=True) if stated and not stated.many else None
    return Stated(written) if short not in _NOT_OURS else None


def _only(sides: list[ast.expr]) -> Stated | None:
    """Return the single class of a union, None aside."""
    real = [side for side in sides if not (isinstance(side, ast.Constant) and side.value is None)]
    return _read(real[0]) if len(real) == 1 else None
