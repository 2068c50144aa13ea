"""One call of a library's helper for changes of signatures, read by the roles that the rules give its arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from pipeline.api.surface.parse.module_model import ParameterMark
from pipeline.api.surface.parse.rules import Regex
from pipeline.core.rules.load import Rule
from pipeline.core.syntax_trees import literal_eval, parse_python
from pipeline.core.vocabularies.surface import HelperArgument, HelperEffect, ParameterDeprecation

ALL = "*"
"""Stands for all names of parameters."""

_VERSION = re.compile(r"v?(\d[\w.]*)(?:\s.*)?")
_PIECE = re.compile(r"\{(\w+)(?:\|([^}]*))?\}")


class HelperExample(Rule):
    """A decorator on a signature, and the parameters that it must give, as `show_parameter` writes them."""

    decorator: str
    signature: str
    gives: tuple[str, ...]


class Helper(Rule):
    """One way in which a helper is called.

    `names` are the last names of the decorator; `arguments` its parameters in order, `keywords` those that are given
    by name only, `others` the role of what is given beyond them; `written` must be found in the decorator as written;
    `old` and `new` are the names that are meant where the call does not say them. `adds` is the signature of what
    is added: `{name}` is filled with the argument of that name, `{name|0}` with 0 where it is not given.
    """

    names: frozenset[str]
    effect: HelperEffect
    arguments: dict[str, HelperArgument] = Field({})
    keywords: dict[str, HelperArgument] = Field({})
    others: HelperArgument | None = None
    written: Regex | None = None
    old: str | None = None
    new: str | None = None
    adds: str | None = None
    examples: tuple[HelperExample, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class HelperCall:
    """What a call of a helper says; `names` is None where it names no parameters; all but `allowed` are ALL."""

    names: tuple[str, ...] | None = None
    allowed: tuple[str, ...] = ()
    adds: ast.arguments | None = None
    renames: tuple[tuple[str, str | None], ...] = ()
    deprecated: tuple[tuple[str, str | None], ...] = ()
    since: str | None = None
    removal: str | None = None
    replacement: str | None = None

    def mark(
        self, extent: ParameterDeprecation, replacement: str | None = None, since: str | None = None
    ) -> ParameterMark:
        """Return the mark that the call puts on a parameter."""
        return {
            "what": extent,
            "since": since or self.since,
            "removal": self.removal,
            "replacement": replacement,
        }


def read_call(decorator: ast.expr, helper: Helper) -> HelperCall | None:
    """Return what a decorator says if it is called in the way of this helper, else None."""
    if helper.written is not None and not helper.written.search(ast.unparse(decorator)):
        return None
    arguments: dict[HelperArgument, Any] = {}
    try:
        for role, name, node in _roles(decorator, helper):
            _take(arguments, role, name, node)
        adds = _adds(helper.adds, arguments.get(HelperArgument.PIECE, {}))
    except (ValueError, TypeError):
        # not called in this way, or with what only running tells
        return None
    names = arguments.get(HelperArgument.NAMES)
    old = arguments.get(HelperArgument.OLD, (helper.old,) if helper.old else ())
    new = arguments.get(HelperArgument.NEW, (helper.new,) if helper.new else ())
    renames = [*zip(old, [*new, *[None] * len(old)], strict=False), *arguments.get(HelperArgument.RENAMES, ())]
    call = HelperCall(
        names=names,
        allowed=tuple(arguments.get(HelperArgument.ALLOWED, ())),
        adds=adds,
        renames=tuple(renames),
        deprecated=tuple(arguments.get(HelperArgument.DEPRECATED, ())),
        since=arguments.get(HelperArgument.SINCE),
        removal=arguments.get(HelperArgument.REMOVAL),
        replacement=arguments.get(HelperArgument.REPLACEMENT),
    )
    return call if _complete(helper.effect, call) else None


def _roles(decorator: ast.expr, helper: Helper) -> Iterator[tuple[HelperArgument, str, ast.expr]]:
    """Yield each argument of a decorator with its role and name; ValueError for one that the helper does not have."""
    if not isinstance(decorator, ast.Call):
        return
    places = list(helper.arguments.items())
    for number, node in enumerate(decorator.args):
        name, role = places[number] if number < len(places) else ("", helper.others)
        if role is None or isinstance(node, ast.Starred):
            raise ValueError(f"argument {number}")
        # of `("axis", None)` beyond the places only the name counts, what follows is a value that is fine
        beyond = number >= len(places) and isinstance(node, ast.Tuple) and node.elts
        yield role, name, node.elts[0] if beyond else node  # type: ignore[attr-defined]
    for keyword in decorator.keywords:
        role = {**helper.arguments, **helper.keywords}.get(keyword.arg or "", helper.others)
        if role is None or keyword.arg is None:
            raise ValueError(f"argument {keyword.arg}")
        yield role, keyword.arg, keyword.value


def _take(arguments: dict[HelperArgument, Any], role: HelperArgument, name: str, node: ast.expr) -> None:
    """Read one argument into what is said; ValueError where it cannot be what its role asks for."""
    match role:
        case HelperArgument.SINCE | HelperArgument.REMOVAL:
            arguments[role] = _version(node)
        case HelperArgument.OLD | HelperArgument.NEW | HelperArgument.NAMES | HelperArgument.ALLOWED:
            arguments[role] = (
                *arguments.get(role, ()),
                *_names(literal_eval(node), none=role is HelperArgument.NEW),
            )
        case HelperArgument.PIECE:
            arguments.setdefault(role, {})[name] = _piece(node)
        case HelperArgument.DEPRECATED:
            arguments[role] = [(parameter, None) for parameter in sorted(_names(literal_eval(node)))]
        case HelperArgument.SPECS if isinstance(node, ast.Tuple) and node.elts:
            arguments.setdefault(HelperArgument.DEPRECATED, []).append((name, _version(node.elts[0])))
        case HelperArgument.RENAMES:
            mapping = dict(literal_eval(node))
            arguments[role] = list(zip(_names(list(mapping)), _names(list(mapping.values()), none=True), strict=True))
        case HelperArgument.REPLACEMENT:
            arguments[role] = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
        case HelperArgument.CATEGORY | HelperArgument.SPECS:
            if not isinstance(node, ast.Name | ast.Attribute):
                raise ValueError(ast.unparse(node))


def _version(node: ast.expr) -> str | None:
    """Return a version as written, without its `v`; None for one that is None or has a name."""
    if isinstance(node, ast.List | ast.Tuple) and node.elts:
        node = node.elts[0]
    if not isinstance(node, ast.Constant) or node.value is None:
        return None
    match = _VERSION.fullmatch(str(node.value))
    if match is None:
        raise ValueError(str(node.value))
    return match[1]


def _names(value: object, *, none: bool = False) -> tuple[Any, ...]:
    """Return the parameter names that a literal gives, one or several; ValueError where it gives something else."""
    several = tuple(value) if isinstance(value, list | tuple | set) else (value,)
    for name in several:
        if not (isinstance(name, str) and (name.isidentifier() or name == ALL)) and not (none and name is None):
            raise ValueError(str(name))
    return several


def _piece(node: ast.expr) -> str:
    """Return what an argument is in a signature: a name, parameters for pairs of name and default, else its value."""
    match node:
        case ast.Constant(value=str(name)):
            return name
        case ast.List(elts=pairs) | ast.Tuple(elts=pairs):
            return ", ".join(f"{_piece(pair.elts[0])}={ast.unparse(pair.elts[1])}" for pair in map(_pair, pairs))
    return ast.unparse(node)


def _pair(node: ast.expr) -> ast.Tuple:
    if not isinstance(node, ast.Tuple) or len(node.elts) != 2:
        raise ValueError(ast.unparse(node))
    return node


def _adds(template: str | None, pieces: Mapping[str, str]) -> ast.arguments | None:
    """Return the signature of what is added; ValueError where a piece of it is not given, or does not fit."""
    if template is None:
        return None
    text = _PIECE.sub(lambda match: pieces.get(match[1], match[2] or ""), template)
    try:
        (function,) = parse_python(f"def _({text}): ...").body
    except SyntaxError:
        raise ValueError(text) from None
    assert isinstance(function, ast.FunctionDef)
    return function.args


def _complete(effect: HelperEffect, call: HelperCall) -> bool:
    """Return whether a call says what its effect needs."""
    match effect:
        case HelperEffect.RENAMED:
            return bool(call.renames)
        case HelperEffect.DEPRECATED:
            return bool(call.names or call.deprecated)
        case HelperEffect.POSITION_FROM | HelperEffect.POSITION_OF | HelperEffect.POSITION_ORDER:
            return bool(call.names)
        case HelperEffect.ADDED | HelperEffect.REPLACED:
            return call.adds is not None
    return True
