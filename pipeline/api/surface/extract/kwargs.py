"""Parameters behind `**kwargs`: what a body takes out of them, and what the docstring says that they take."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import griffe

from pipeline.api.surface.parse.bodies import Body
from pipeline.api.surface.parse.module_model import Parameter, parameter_row
from pipeline.api.surface.parse.syntax import children, text_of, written
from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource

UNKNOWN = "..."
"""Default of a parameter that may be left out, when nobody knows what it is then."""

_FIRST_UNSURE = (ast.Try, ast.TryStar, ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Match)
_MAY_RETURN = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.With, ast.Match)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NUMPY = re.compile(r"^(?:Other )?Parameters[ \t]*\n-{3,}", re.M)
_GOOGLE = re.compile(r"^(?:Args|Arguments|Parameters|Params|Keyword (?:Args|Arguments)|Other Parameters):[ \t]*$", re.M)
_SPHINX = re.compile(r"^[ \t]*:(?:param|parameter|arg|argument|key|keyword) ", re.M)
_SECTION_WORDS = ("Param", "Arg", ":param", ":arg", ":key")
_STYLES = ((_NUMPY, griffe.Parser.numpy), (_GOOGLE, griffe.Parser.google), (_SPHINX, griffe.Parser.sphinx))
_OF_ALL = re.compile(r"(?:^|_)(?:kw|kwds?|kws|kwargs?|keywords)$")
_DESCRIBED = {griffe.DocstringSectionKind.parameters, griffe.DocstringSectionKind.other_parameters}


@dataclass(slots=True)
class _Uses:
    """How a body uses the names in its `**kwargs`; `defaults` has the default of each, None if it is required."""

    defaults: dict[str, str | None] = field(default_factory=dict)
    popped: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    assigned: set[str] = field(default_factory=set)
    defaulted: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    forwarded: set[str] = field(default_factory=set)

    def take(self, name: str, default: str | None) -> None:
        """Note an access; the first one says whether the name must be given, later ones may tell its default."""
        if self.defaults.setdefault(name, default) == UNKNOWN and default is not None:
            self.defaults[name] = default

    def parameters(self) -> dict[str, str | None]:
        """Return what a caller may give, with defaults: not what the body sets, refuses or gives on by itself.

        What it only gives a default (`setdefault`) and passes on is a parameter of whatever that goes to.
        """
        unused = (self.assigned - self.read) | (self.defaulted - self.read - self.loaded)
        names = self.defaults.keys() - self.refused - (self.forwarded - self.popped) - unused
        return {name: default for name, default in self.defaults.items() if name in names}


def hidden_parameters(body: Body, docstring: str | None, declared: frozenset[str]) -> list[Parameter]:
    """Return the keyword-only parameters that a function has behind its `**kwargs`, beyond the known ones.

    First those that the body takes out of it, then those that only the docstring describes.
    """
    if body.node.args.kwarg is None:
        return []
    catch_all = body.node.args.kwarg.arg
    documented = _documented(docstring, declared, catch_all)
    uses = _uses(body.statements, catch_all) if _uses_catch_all(body, catch_all, documented) else _Uses()
    defaults = {name: default for name, default in uses.parameters().items() if name not in declared}
    silent = [name for name in documented if name not in {*defaults, *uses.refused, *uses.forwarded, *uses.assigned}]
    parameters = [_parameter(name, default, ParameterSource.KWARGS) for name, default in defaults.items()]
    return parameters + [_parameter(name, UNKNOWN, ParameterSource.DOCSTRING) for name in silent]


def refuses_rest(body: Body) -> bool:
    """Return whether a body raises an exception if anything is left in its `**kwargs`.

    Where it reaches in with anything but literal names, what may be given is open.
    """
    if body.node.args.kwarg is None:
        return False
    name = body.node.args.kwarg.arg
    if not body.search(_refusal(name)):
        return False
    tests = {name, f"len({name})", f"len({name}) > 0", f"len({name}) != 0"}
    for statement in body.statements:
        match statement:
            case ast.If(test=test, body=[*_, ast.Raise()], orelse=[]) if written(test) in tests:
                return True
            case _ if _mentions(statement, name) != literal_accesses(statement, name):
                return False
    return False


def _mentions(statement: ast.stmt, name: str) -> int:
    return sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(statement))


def literal_accesses(statement: ast.stmt, name: str) -> int:
    """Count the accesses to a dictionary by a literal name."""
    count = 0
    for node in ast.walk(statement):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=of), attr="pop" | "get" | "setdefault"),
                args=[ast.Constant(value=str()), *_],
            ):
                count += of == name
            case ast.Subscript(value=ast.Name(id=of), slice=ast.Constant(value=str())):
                count += of == name
            case ast.Compare(
                left=ast.Constant(value=str()), ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=of)]
            ):
                count += of == name
    return count


def _uses_catch_all(body: Body, catch_all: str, documented: Sequence[str]) -> bool:
    """Return whether a body may say something of the names in its `**kwargs`, of which the docstring told some."""
    if body.mentions(documented):
        return True
    if body.count((catch_all,)) == body.count((f"**{catch_all}",)):
        # it passes them on as they are, and no more
        return False
    return bool(documented) or bool(body.search(_access(catch_all)))


def _documented(docstring: str | None, declared: Collection[str], catch_all: str) -> list[str]:
    """Return the names of keywords that a docstring describes: not `_key` as `key`, nor all of them as `json_kw`."""
    described = described_names(docstring)
    excluded = {catch_all, *declared, *(name.lstrip("_") for name in declared)}
    names = [name for name in described if name not in excluded]
    if catch_all in described or f"*{catch_all}" in (docstring or ""):
        return names
    return [name for name in names if not _OF_ALL.search(name)]


def _parameter(name: str, default: str | None, source: ParameterSource) -> Parameter:
    return parameter_row(name, ParameterKind.KEYWORD_ONLY, default, source=source)


@functools.lru_cache(maxsize=256)
def _refusal(name: str) -> re.Pattern[str]:
    return re.compile(rf"\bif (?:len\()?{name}\b[^:]*:")


@functools.lru_cache(maxsize=256)
def _access(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{name}(?:\.(?:pop|get|setdefault)\b|\[)|\bin {name}\b")


@functools.lru_cache(maxsize=1024)
def described_names(docstring: str | None) -> Sequence[str]:
    """Return the names that the parameter sections of a docstring describe (numpydoc, Google or Sphinx style).

    Most versions of a function have the docstring of the version before.
    """
    # the patterns take ten times as long to find nothing
    if not docstring or not any(word in docstring for word in _SECTION_WORDS):
        return ()
    style, start = next(((s, m.start()) for p, s in _STYLES if (m := p.search(docstring))), (None, 0))
    if style is None:
        return ()
    # what stands before the section takes the parsers time and says nothing about parameters
    sections = griffe.Docstring(docstring[start:], lineno=1).parse(style)
    listed = [item.name for section in sections if section.kind in _DESCRIBED for item in section.value]
    names = [name.strip() for together in listed if not together.startswith("*") for name in together.split(",")]
    return tuple(dict.fromkeys(name for name in names if name.isidentifier() and name not in {"self", "cls"}))


def _uses(body: Sequence[ast.stmt], catch_all: str) -> _Uses:
    uses = _Uses()
    nodes = _nodes(body, certain=True)
    # once the name means another dictionary, what is taken out of that is no parameter
    rebound = (n.lineno for n, _ in nodes if isinstance(n, ast.Name) and n.id == catch_all and _is_stored(n))
    last = min(rebound, default=None)
    uses.defaulted = {name for node, _ in nodes if (name := _only_defaulted(node, catch_all))}
    for node, certain in nodes:
        if last is None or getattr(node, "lineno", 0) <= last:
            _use(node, catch_all, uses, certain=certain)
    return uses


def _only_defaulted(node: ast.AST, catch_all: str) -> str | None:
    """Return the name that a statement gives a default in `**kwargs`, without looking at its value."""
    match node:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="setdefault"), args=[first, *_])
        ):
            return text_of(first) if owner == catch_all else None
    return None


def _is_stored(node: ast.Name | ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store)


def _nodes(nodes: Sequence[ast.AST], *, certain: bool) -> list[tuple[ast.AST, bool]]:
    """Return all nodes in the order of the source, each with whether it runs whenever the function does."""
    collected: list[tuple[ast.AST, bool]] = []
    _collect(nodes, collected, certain=certain)
    return collected


def _collect(nodes: Sequence[ast.AST], collected: list[tuple[ast.AST, bool]], *, certain: bool) -> None:
    for node in nodes:
        collected.append((node, certain))
        inside = children(node)
        if not certain:
            _collect(inside, collected, certain=False)
            continue
        first = _runs_first(node, inside)
        _collect(first, collected, certain=True)
        if len(first) < len(inside):
            _collect([child for child in inside if child not in first], collected, certain=False)
        certain = not _may_return(node)


def _may_return(node: ast.AST) -> bool:
    return isinstance(node, _MAY_RETURN) and any(isinstance(inner, ast.Return) for inner in ast.walk(node))


def _runs_first(node: ast.AST, inside: list[ast.AST]) -> list[ast.AST]:
    """Return the children that run whenever the node does."""
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            return [test]
        case ast.For(iter=values) | ast.AsyncFor(iter=values):
            return [values]
        case ast.BoolOp(values=values):
            return [values[0]]
    return [] if isinstance(node, _FIRST_UNSURE + _COMPREHENSIONS) else inside


def _use(node: ast.AST, catch_all: str, uses: _Uses, *, certain: bool) -> None:
    bare = None if certain else UNKNOWN
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=owner), attr="pop" | "get" | "setdefault" as how),
            args=[ast.Constant(value=str(name)), *rest],
        ) if owner == catch_all and name.isidentifier():
            uses.take(name, written(rest[0]) if rest else bare if how == "pop" else UNKNOWN)
            if how != "setdefault":
                uses.read.add(name)
            if how == "pop":
                uses.popped.add(name)
        case ast.Subscript(value=ast.Name(id=owner), slice=ast.Constant(value=str(name))) if owner == catch_all:
            if isinstance(node.ctx, ast.Load) and name.isidentifier():
                uses.take(name, bare)
                uses.loaded.add(name)
            elif _is_stored(node):
                uses.assigned.add(name)
        case ast.If(test=ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In()]), body=[*_, ast.Raise()]):
            uses.refused.add(name)
        case ast.Compare(
            left=ast.Constant(value=str(name)), ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=owner)]
        ) if owner == catch_all and name.isidentifier():
            uses.take(name, UNKNOWN)
            uses.read.add(name)
        case ast.Call(keywords=keywords) if any(_is_passed_on(keyword, catch_all) for keyword in keywords):
            uses.forwarded |= {keyword.arg for keyword in keywords if keyword.arg}


def _is_passed_on(keyword: ast.keyword, catch_all: str) -> bool:
    return keyword.arg is None and isinstance(keyword.value, ast.Name) and keyword.value.id == catch_all
