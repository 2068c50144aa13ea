"""Expressions of a syntax tree as text, written as griffe writes them, without the objects that griffe makes of them.

What is rare (f-strings, comprehensions, lambdas) is left to griffe itself.
"""

from __future__ import annotations

import ast
import functools
import keyword
from collections.abc import Callable
from enum import IntEnum, auto
from typing import Any

import griffe

from pipeline.core.syntax_trees import parse_python

Resolve = Callable[[str], str]
"""Gives the absolute path of a name where an annotation stands; the name itself if nothing there binds it."""

_LITERALS = frozenset({"typing.Literal", "typing_extensions.Literal"})
_NOWHERE = griffe.Module("_")


class _Binds(IntEnum):
    """How tightly the parts of an expression are bound, the loosest first (Python reference, 6.17)."""

    NOT_AT_ALL = auto()
    YIELD = auto()
    STARRED = auto()
    LAMBDA = auto()
    IF_ELSE = auto()
    OR = auto()
    AND = auto()
    NOT = auto()
    COMPARISON = auto()
    BIT_OR = auto()
    BIT_XOR = auto()
    BIT_AND = auto()
    SHIFT = auto()
    SUM = auto()
    PRODUCT = auto()
    SIGN = auto()
    POWER = auto()
    AWAIT = auto()
    CALL = auto()
    ATOM = auto()


_BINARY: dict[type, tuple[str, _Binds]] = {
    ast.Add: (" + ", _Binds.SUM),
    ast.Sub: (" - ", _Binds.SUM),
    ast.Mult: (" * ", _Binds.PRODUCT),
    ast.MatMult: (" @ ", _Binds.PRODUCT),
    ast.Div: (" / ", _Binds.PRODUCT),
    ast.FloorDiv: (" // ", _Binds.PRODUCT),
    ast.Mod: (" % ", _Binds.PRODUCT),
    ast.Pow: (" ** ", _Binds.POWER),
    ast.LShift: (" << ", _Binds.SHIFT),
    ast.RShift: (" >> ", _Binds.SHIFT),
    ast.BitAnd: (" & ", _Binds.BIT_AND),
    ast.BitOr: (" | ", _Binds.BIT_OR),
    ast.BitXor: (" ^ ", _Binds.BIT_XOR),
}
_BOOLEAN: dict[type, tuple[str, _Binds]] = {ast.And: (" and ", _Binds.AND), ast.Or: (" or ", _Binds.OR)}
_UNARY = {ast.Invert: "~", ast.Not: "not ", ast.UAdd: "+", ast.USub: "-"}
_COMPARISONS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
# those of operators depend on the operator
_TIGHTNESS: dict[type, _Binds] = {
    ast.Attribute: _Binds.CALL,
    ast.Subscript: _Binds.CALL,
    ast.Call: _Binds.CALL,
    ast.Await: _Binds.AWAIT,
    ast.Compare: _Binds.COMPARISON,
    ast.IfExp: _Binds.IF_ELSE,
    ast.Lambda: _Binds.LAMBDA,
    ast.Starred: _Binds.STARRED,
    ast.Yield: _Binds.YIELD,
    ast.YieldFrom: _Binds.YIELD,
    ast.Slice: _Binds.NOT_AT_ALL,
}


def expression_text(node: ast.AST, resolve: Resolve | None = None) -> str:
    """Return an expression as griffe writes it.

    With `resolve` strings are forward references (PEP 484) and are read as what they say, but those in `Literal[…]`.
    """
    return _TEXTS.get(type(node), _rare)(node, resolve)


def inside_text(node: ast.expr, name: str, resolve: Resolve, *, strings: bool) -> str | None:
    """Return what stands in the brackets of an annotation `Name[…]` of that last name, as `ClassVar[int]`, else None.

    `strings` says whether strings are forward references.
    """
    plain, inner = _unquoted(node, resolve if strings else None)
    if not isinstance(plain, ast.Subscript) or not isinstance(plain.value, ast.Name | ast.Attribute):
        return None
    last = canonical_path(plain.value, resolve).rpartition(".")[2]
    return _brackets_text(plain, inner) if last == name else None


def canonical_path(node: ast.expr, resolve: Resolve) -> str:
    """Return the absolute path of what an expression names, as griffe gives it to decorators."""
    match node:
        case ast.Name(id=name):
            return resolve(name)
        case ast.Attribute(value=ast.Name() | ast.Attribute() as owner, attr=name):
            return f"{canonical_path(owner, resolve)}.{name}"
        case ast.Attribute(value=owner, attr=name):
            return f"str.{name}" if isinstance(owner, ast.Constant) else name
        case ast.Subscript(value=inner) | ast.Call(func=inner):
            return canonical_path(inner, resolve)
    return expression_text(node)


@functools.lru_cache(maxsize=4096)
def _forward_reference(text: str) -> ast.expr | None:
    """Return what a string says as an expression; None if it is none."""
    if text.isidentifier() and not keyword.iskeyword(text):
        return ast.Name(text)
    try:
        return parse_python(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _unquoted(node: ast.expr, resolve: Resolve | None) -> tuple[ast.expr, Resolve | None]:
    if resolve is not None and isinstance(node, ast.Constant) and isinstance(node.value, str):
        # strings inside the string stay what they are
        return _forward_reference(node.value) or node, None
    return node, resolve


def _part(node: ast.expr, resolve: Resolve | None, around: _Binds, *, left: bool = False) -> str:
    """Return the text of a part of an expression, in brackets where it is bound less tightly than what is around."""
    if type(node) is ast.Name:
        return node.id
    if type(node) is ast.Constant and resolve is None:
        return _constant(node, None)
    node, resolve = _unquoted(node, resolve)
    text = _TEXTS.get(type(node), _rare)(node, resolve)
    own = _binds(node)
    if own > around:
        return text
    return f"({text})" if own < around or _needs_brackets(node, left=left) else text


def _binds(node: ast.expr) -> _Binds:
    match node:
        case ast.BinOp(op=operator):
            return _BINARY[type(operator)][1]
        case ast.BoolOp(op=operator):
            return _BOOLEAN[type(operator)][1]
        case ast.UnaryOp(op=operator):
            return _Binds.NOT if isinstance(operator, ast.Not) else _Binds.SIGN
    return _TIGHTNESS.get(type(node), _Binds.ATOM)


def _needs_brackets(node: ast.expr, *, left: bool) -> bool:
    """Return whether a part needs brackets among its like: `a - (b - c)`, `(a ** b) ** c`."""
    if isinstance(node, ast.IfExp) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)):
        return left
    return isinstance(node, ast.BinOp | ast.BoolOp) and not left


def _rare(node: ast.AST, resolve: Resolve | None) -> str:
    return str(griffe.get_expression(node, _NOWHERE, parse_strings=resolve is not None))


def _joined(nodes: list[ast.expr], resolve: Resolve | None) -> str:
    return ", ".join([expression_text(node, resolve) for node in nodes])


def _name(node: ast.Name, resolve: Resolve | None) -> str:
    return node.id


def _constant(node: ast.Constant, resolve: Resolve | None) -> str:
    value = node.value
    if resolve is not None and type(value) is str and (reference := _forward_reference(value)) is not None:
        return expression_text(reference)
    return "..." if value is ... else repr(value)


def _attribute(node: ast.Attribute, resolve: Resolve | None) -> str:
    owner = _part(node.value, resolve, _Binds.CALL, left=True)
    return f"({owner}).{node.attr}" if owner.isdigit() else f"{owner}.{node.attr}"


def _subscript(node: ast.Subscript, resolve: Resolve | None) -> str:
    return f"{_part(node.value, None, _Binds.CALL)}[{_brackets_text(node, resolve)}]"


def _brackets_text(node: ast.Subscript, resolve: Resolve | None) -> str:
    if resolve is not None and isinstance(node.value, ast.Name | ast.Attribute):
        resolve = None if canonical_path(node.value, resolve) in _LITERALS else resolve
    inside, resolve = _unquoted(node.slice, resolve)
    if isinstance(inside, ast.Tuple) and inside.elts:
        return _joined(inside.elts, resolve) + ("," if len(inside.elts) == 1 else "")
    return expression_text(inside, resolve)


def _slice(node: ast.Slice, resolve: Resolve | None) -> str:
    bounds = [node.lower, node.upper] if node.step is None else [node.lower, node.upper, node.step]
    return ":".join(["" if bound is None else _part(bound, resolve, _Binds.STARRED) for bound in bounds])


def _call(node: ast.Call, resolve: Resolve | None) -> str:
    called = _part(node.func, resolve, _Binds.CALL)
    arguments = [expression_text(argument, resolve) for argument in node.args]
    if len(arguments) == 1 and not node.keywords and isinstance(node.args[0], ast.GeneratorExp):
        # its own brackets are those of the call
        arguments[0] = arguments[0][1:-1]
    arguments += [_keyword(argument, resolve) for argument in node.keywords]
    return f"{called}({', '.join(arguments)})"


def _keyword(node: ast.keyword, resolve: Resolve | None) -> str:
    if node.arg is None:
        return "**" + _part(node.value, resolve, _Binds.BIT_OR, left=True)
    return f"{node.arg}={_part(node.value, resolve, _Binds.STARRED)}"


def _starred(node: ast.Starred, resolve: Resolve | None) -> str:
    return "*" + _part(node.value, resolve, _Binds.BIT_OR, left=True)


def _tuple(node: ast.Tuple, resolve: Resolve | None) -> str:
    return f"({_joined(node.elts, resolve)}{',' if len(node.elts) == 1 else ''})"


def _list(node: ast.List, resolve: Resolve | None) -> str:
    return f"[{_joined(node.elts, resolve)}]"


def _set(node: ast.Set, resolve: Resolve | None) -> str:
    return f"{{{_joined(node.elts, resolve)}}}"


def _dict(node: ast.Dict, resolve: Resolve | None) -> str:
    pairs = []
    for key, value in zip(node.keys, node.values, strict=True):
        text = _part(value, resolve, _Binds.STARRED)
        pairs.append(f"**{text}" if key is None else f"{_part(key, resolve, _Binds.STARRED)}: {text}")
    return f"{{{', '.join(pairs)}}}"


def _unary(node: ast.UnaryOp, resolve: Resolve | None) -> str:
    return _UNARY[type(node.op)] + _part(node.operand, resolve, _binds(node))


def _binary(node: ast.BinOp, resolve: Resolve | None) -> str:
    sign, binds = _BINARY[type(node.op)]
    # a sign may follow a power: `a ** -b`
    signed = binds is _Binds.POWER and isinstance(node.right, ast.UnaryOp)
    right = _part(node.right, resolve, _Binds.SIGN if signed else binds)
    return _part(node.left, resolve, binds, left=True) + sign + right


def _boolean(node: ast.BoolOp, resolve: Resolve | None) -> str:
    word, binds = _BOOLEAN[type(node.op)]
    first, *others = node.values
    return word.join([_part(first, resolve, binds, left=True), *(_part(value, resolve, binds) for value in others)])


def _compare(node: ast.Compare, resolve: Resolve | None) -> str:
    text = _part(node.left, resolve, _Binds.COMPARISON, left=True)
    for operator, value in zip(node.ops, node.comparators, strict=True):
        text += f" {_COMPARISONS[type(operator)]} {_part(value, resolve, _Binds.COMPARISON)}"
    return text


def _if_else(node: ast.IfExp, resolve: Resolve | None) -> str:
    body = _part(node.body, resolve, _Binds.IF_ELSE, left=True)
    test = _part(node.test, resolve, _Binds.OR)
    return f"{body} if {test} else {_part(node.orelse, resolve, _Binds.IF_ELSE)}"


_TEXTS: dict[type, Callable[[Any, Resolve | None], str]] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Call: _call,
    ast.Starred: _starred,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _if_else,
}
