"""Expressions as written, made comparable: what differs in spelling only is the same."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Sequence
from typing import Any

_BUILTIN = frozenset({"List", "Dict", "Tuple", "Set", "FrozenSet", "Type"})
_PREFIX = re.compile(r"\b(?:typing_extensions|typing|collections\.abc|cabc|abc|te|t)\.(?=[A-Z])")


@functools.lru_cache(maxsize=65536)
def same_annotation(old: str | None, new: str | None) -> bool:
    """Return whether two annotations are the same but for quotes, spaces, the prefix of typing, and older spellings."""
    return old == new or _annotation(old) == _annotation(new)


def same_overloads(old: Sequence[str], new: Sequence[str]) -> bool:
    """Return whether overloads are the same, in the same order, but for the spelling of annotations."""
    return len(old) == len(new) and all(map(_same_overload, old, new))


def _same_overload(old: str, new: str) -> bool:
    return old == new or _modern(f"def f{old}: ...") == _modern(f"def f{new}: ...")


def _annotation(text: str | None) -> str | None:
    return None if text is None else _modern(text)


@functools.lru_cache(maxsize=65536)
def _modern(text: str) -> str:
    bare = _PREFIX.sub("", text)
    if "Literal" not in bare:
        bare = bare.replace('"', "").replace("'", "")
    try:
        return ast.unparse(_Modern().visit(ast.parse(bare.strip())))
    except SyntaxError:
        # an annotation may be any text: what is no expression is compared as it stands
        return re.sub(r"\s+", "", bare)


class _Modern(ast.NodeTransformer):
    """Rewrites `Optional[X]`, `Union[X, Y]` and `List[X]` as `X | None`, `X | Y` and `list[X]` (PEP 585, PEP 604)."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
                return _union([inner, ast.Constant(None)])
            case ast.Subscript(value=ast.Name(id="Union"), slice=ast.Tuple(elts=elements)):
                return _union(elements)
            case ast.Subscript(value=ast.Name(id="Union"), slice=inner):
                return inner
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return _union([node]) if isinstance(node.op, ast.BitOr) else node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        plain = node.id.lower() if node.id in _BUILTIN else node.id
        return ast.Name(plain, ctx=node.ctx)


def _union(elements: list[ast.expr]) -> ast.expr:
    """Join the members of a union, flat, in one order and each once: their order has no meaning."""
    flat = {ast.unparse(member): member for element in elements for member in _members(element)}
    members = [flat[key] for key in sorted(flat)]
    return functools.reduce(lambda left, right: ast.BinOp(left, ast.BitOr(), right), members)


def _members(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_members(node.left), *_members(node.right)]
    return [node]


@functools.lru_cache(maxsize=65536)
def same_value(old: str | None, new: str | None) -> bool:
    """Return whether two defaults or values are the same, as literals if they are literals."""
    if old == new:
        return True
    if old is None or new is None:
        return False
    left, right = literal(old), literal(new)
    if left is not None and right is not None:
        return type(left[0]) is type(right[0]) and repr(left[0]) == repr(right[0])
    return re.sub(r"\s+", "", old) == re.sub(r"\s+", "", new)


@functools.lru_cache(maxsize=65536)
def literal(text: str | None) -> tuple[Any] | None:
    """Return the value of a literal in a tuple of one, or None if the text is no literal."""
    if text is None:
        return None
    try:
        return (ast.literal_eval(text),)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        # what is no literal is compared as text: nothing is lost
        return None


def base_names(bases: Iterable[str]) -> list[str]:
    """Return the last names of bases as written: the same class is imported in many ways.

    `with_metaclass(Meta, Base)` of six and others derives from `Base`, and a named tuple, however made, from `tuple`.
    """
    return [name for base in bases for name in _base_names(base)]


def _base_names(base: str) -> list[str]:
    called, bracket, arguments = base.partition("(")
    name = called.split("[")[0].rpartition(".")[2]
    if bracket and name == "with_metaclass":
        return base_names(part.strip() for part in arguments.rstrip(")").split(",")[1:] if part.strip())
    return ["tuple" if name in {"namedtuple", "NamedTuple"} else name]
