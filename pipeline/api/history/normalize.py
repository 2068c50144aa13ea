"""Expressions as written, made comparable: what differs in spelling only is the same."""

from __future__ import annotations

import ast
import builtins
import functools
import re
from collections.abc import Iterable, Sequence
from typing import Any

from pipeline.core.folding import Folding
from pipeline.core.syntax_trees import literal_eval, parse_python

_MODERN = {"Text": "str"} | {
    name: name.lower() for name in ("List", "Dict", "Tuple", "Set", "FrozenSet", "Type", "Deque", "DefaultDict")
}
"""Names of typing for builtins and classes of collections (PEP 585)."""

_BUILTINS = frozenset(dir(builtins))
_MODULE = re.compile(r"_*[a-z][a-z0-9_]*")
_EMPTY = {"dict()": "{}", "list()": "[]", "tuple()": "()", "str()": "''", "bytes()": "b''", "int()": "0"}
_UNREADABLE = (SyntaxError, ValueError, MemoryError, RecursionError)


@functools.lru_cache(maxsize=65536)
def same_annotation(old: str | None, new: str | None) -> bool:
    """Return whether two annotations are the same but for quotes, spaces, modules of names, and older spellings."""
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
    try:
        return ast.unparse(_Modern().visit(parse_python(text.strip())))
    except _UNREADABLE:
        # an annotation may be any text: what is no expression is compared as it stands
        return re.sub(r"[\s\"']+", "", text)


class _Bare(ast.NodeTransformer):
    """Rewrites a name with the modules that it is reached through as the name: `np.nan`, `numpy.nan` and `nan`.

    A module is taken for one by its name in lower case. Its class called like a builtin (`torch.float`) is another one.
    """

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        parts = ast.unparse(node).split(".")
        if not all(part.isidentifier() for part in parts):
            return ast.Attribute(self.visit(node.value), node.attr, ctx=node.ctx)
        # `Color.RED` is a member, `colors.RED` a name of a module
        start = next((at for at, part in enumerate(parts[:-1]) if not _MODULE.fullmatch(part)), len(parts) - 1)
        bare = parts[start:]
        if bare[0] in _BUILTINS and parts[0] != "builtins":
            return node
        return parse_python(".".join(bare), mode="eval").body


class _Modern(_Bare):
    """Rewrites `Optional[X]`, `Union[X, Y]` and `List[X]` as `X | None`, `X | Y` and `list[X]` (PEP 585, PEP 604)."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if ast.unparse(node.value).rpartition(".")[2] == "Literal":
            # its texts are values, no annotations
            return ast.Subscript(ast.Name("Literal"), node.slice, ctx=node.ctx)
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
                return _union([inner, ast.Constant(None)])
            case ast.Subscript(value=ast.Name(id="Union"), slice=ast.Tuple(elts=elements)):
                return _union(elements)
            case ast.Subscript(value=ast.Name(id="Union"), slice=inner):
                return inner
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, str):
            return node
        quoted: ast.expr = self.visit(parse_python(node.value.strip(), mode="eval").body)
        return quoted

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return _union([node]) if isinstance(node.op, ast.BitOr) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        bare = super().visit_Attribute(node)
        return self.visit_Name(bare) if isinstance(bare, ast.Name) else bare

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(_MODERN.get(node.id, node.id))


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
    """Return whether two defaults or values are the same: as literals, or but for the modules of their names."""
    if old == new:
        return True
    if old is None or new is None:
        return False
    left, right = literal(old), literal(new)
    if left is not None and right is not None:
        return _equal(left, right)
    return left is right and _bare(old) == _bare(new)


def _equal(left: Any, right: Any) -> bool:
    """Return whether two values are equal, numbers by their value: 5 is 5.0, but 1 is not True."""
    if isinstance(left, int | float | complex) and isinstance(right, int | float | complex):
        return isinstance(left, bool) == isinstance(right, bool) and left == right
    if type(left) is not type(right):
        return False
    match left:
        case tuple() | list():
            return len(left) == len(right) and all(map(_equal, left, right))
        case dict():
            return left.keys() == right.keys() and all(_equal(value, right[key]) for key, value in left.items())
    return bool(left == right)


def _bare(text: str) -> str:
    try:
        return ast.unparse(_Bare().visit(parse_python(text.strip())))
    except _UNREADABLE:
        return re.sub(r"\s+", "", text)


@functools.lru_cache(maxsize=65536)
def literal(text: str | None) -> tuple[Any] | None:
    """Return the value of a literal, or of arithmetic with numbers, in a tuple of one; None if the text is neither."""
    if text is None:
        return None
    try:
        expression = parse_python(_EMPTY.get(text.strip(), text.strip()), mode="eval")
        return (literal_eval(_Arithmetic().visit(expression)),)
    except (*_UNREADABLE, TypeError, ArithmeticError):
        # what is no literal is compared as text: nothing is lost
        return None


class _Arithmetic(ast.NodeTransformer):
    """Works out what is done with numbers: `60 * 60`, `1 << 20`, `~0`."""

    def __init__(self) -> None:
        self._folding = Folding()

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.UnaryOp(op=ast.Invert(), operand=ast.Constant(value=int(value))):
                return ast.Constant(~value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return ast.Constant(-value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.BinOp(
                left=ast.Constant(value=int() | float() as left), right=ast.Constant(value=int() | float() as right)
            ):
                return ast.Constant(self._folding.operate(type(node.op), left, right))
        return node


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
