"""Hash the sources that decide a result: a function with every definition of `pipeline` that it leads to.

Comments, docstrings and layout do not count, nor in which file a definition stands. Of vocabularies only the members that are
named count, of `Resources` only what is asked of it, and of the lake nothing: it hands over rows as they are.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from pipeline.core.vocabularies.term import Term

_ROOM = "pipeline."
_OPAQUE = frozenset({"Lake", "Settings", "CurationRules", "stage_version", "cache_version"})
"""Names that lead everywhere and decide nothing: storage; rules, which fingerprints hold by themselves; the versions."""

_FILE = re.compile(r"\w[\w.-]*")
_BY_MEMBER = frozenset({"Resources"})
"""Containers of everything: only the members that a definition names are followed."""

Definition = tuple[str, str]
"""A module and the name of a definition, `Class.member` of a class that is followed by member."""


@dataclass
class Module:
    """The definitions and imports of one module, by name."""

    path: Path
    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)


def hash_of(roots: Iterable[Definition], texts: Iterable[str] = ()) -> str:
    """Return the hash of definitions, of all that they lead to, and of further texts."""
    parts = sorted({*texts, *(text for each in reachable(roots) for text in _texts(each))})
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def roots_of(function: Callable[..., Any]) -> tuple[set[Definition], set[str]]:
    """Return the definitions that a function, partial or lambda leads to at once, and the texts of lambdas.

    Errors: TypeError for a callable whose sources are not known.
    """
    if isinstance(function, partial):
        given = (function.func, *function.args, *function.keywords.values())
        pieces = [roots_of(each) for each in given if callable(each)]
        return {root for roots, _ in pieces for root in roots}, {text for _, texts in pieces for text in texts}
    if isinstance(function, type):
        return ({(function.__module__, function.__name__)} if function.__module__.startswith(_ROOM) else set()), set()
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType):
        raise TypeError(f"nothing is known of the sources of {function!r}")
    module = function.__module__
    if "<" not in function.__qualname__:
        return {(module, function.__qualname__)}, set()
    names = {name for code in _codes(function.__code__) for name in code.co_names}
    roots = {root for name in names for root in _resolve(module, name)}
    texts = {ast.unparse(_bare(node)) for node in _lambdas_at(module, function.__code__.co_firstlineno)}
    for cell in function.__closure__ or ():
        if callable(cell.cell_contents):
            more_roots, more_texts = roots_of(cell.cell_contents)
            roots, texts = roots | more_roots, texts | more_texts
    return roots, texts


def reachable(roots: Iterable[Definition]) -> set[Definition]:
    """Return definitions with all those of `pipeline` that they lead to."""
    reached: set[Definition] = set()
    open_ones = [*roots]
    while open_ones:
        definition = open_ones.pop()
        if definition not in reached:
            reached.add(definition)
            open_ones += _next(definition)
    return reached


@cache
def _next(definition: Definition) -> frozenset[Definition]:
    module, name = definition
    found: set[Definition] = set()
    for statement in _statements(module, name):
        by_member = _classes_by_member(module, statement)
        annotations = {id(inner) for node in _annotations(statement) for inner in ast.walk(node)}
        chained: set[int] = set()
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute):
                if isinstance(node.value, ast.Name):
                    attribute = {*_resolve(module, node.value.id, node.attr)}
                    chained.add(id(node.value))
                    found |= attribute
                found |= {(owner, f"{kind}.{node.attr}") for owner, kind in by_member}
            elif isinstance(node, ast.Name) and id(node) not in chained:
                found |= {
                    each
                    for each in _resolve(module, node.id)
                    if id(node) not in annotations or not _is_vocabulary(each)
                }
    return frozenset(each for each in found if _statements(*each) or each[1] == "")


@cache
def _texts(definition: Definition) -> frozenset[str]:
    return frozenset(_written(*definition))


def _written(module: str, name: str) -> Iterator[str]:
    path = _module(module).path
    if not name:
        yield from _file_texts(path)
    for statement in _statements(module, name):
        yield ast.unparse(_bare(statement))
        nodes = [*ast.walk(statement)]
        if any(isinstance(node, ast.Name) and node.id == "__file__" for node in nodes):
            beside = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
            for one in sorted(filter(_FILE.fullmatch, beside)):
                if (path.parent / one).exists():
                    yield from _file_texts(path.parent / one)


def _file_texts(path: Path) -> Iterator[str]:
    files = sorted(each for each in path.rglob("*") if each.suffix != ".pyc") if path.is_dir() else [path]
    for file in files:
        if file.suffix == ".py":
            yield ast.unparse(_bare(ast.parse(file.read_text())))
        elif file.is_file():
            yield hashlib.sha256(file.read_bytes()).hexdigest()


def _resolve(module: str, name: str, attribute: str = "") -> Iterator[Definition]:
    """Yield the definition of a name, or of an attribute of it, as it is bound in a module."""
    here = _module(module)
    if name in here.definitions:
        yield from _of_class(module, name, attribute)
    elif name in here.imports:
        owner, original = here.imports[name]
        if original and _exists(inner := f"{owner}.{original}"):
            owner, original = inner, ""
        if original:
            yield from _resolve(owner, original, attribute)
        elif attribute and attribute in _module(owner).definitions:
            yield owner, attribute
        else:
            yield owner, ""


def _of_class(module: str, name: str, attribute: str) -> Iterator[Definition]:
    if name in _OPAQUE | _BY_MEMBER:
        return
    if _is_vocabulary((module, name)) and attribute in _members(_statements(module, name)):
        yield module, f"{name}.{attribute}"
    else:
        yield module, name


def _classes_by_member(module: str, statement: ast.stmt) -> set[Definition]:
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} & _BY_MEMBER
    if isinstance(statement, ast.FunctionDef) and (owner := getattr(statement, "owner", None)):
        names.add(owner)
    found = set()
    for name in names:
        if name in _module(module).definitions:
            found.add((module, name))
        elif name in _module(module).imports:
            found.add(_module(module).imports[name])
    return found


def _is_vocabulary(definition: Definition) -> bool:
    module, name = definition
    kind = getattr(importlib.import_module(module), name, None) if "vocabularies" in module and name else None
    return isinstance(kind, type) and issubclass(kind, Term)


@cache
def _statements(module: str, name: str) -> tuple[ast.stmt, ...]:
    owner, _, member = name.partition(".")
    statements = _module(module).definitions.get(owner, [])
    if not member:
        return tuple(statements)
    members = _members(statements).get(member, [])
    for each in members:
        each.owner = owner if owner in _BY_MEMBER else None  # type: ignore[attr-defined]
    return tuple(members)


def _members(statements: Iterable[ast.stmt]) -> dict[str, list[ast.stmt]]:
    found: dict[str, list[ast.stmt]] = {}
    for statement in statements:
        if isinstance(statement, ast.ClassDef):
            _collect(statement.body, found)
    return found


@cache
def _module(name: str) -> Module:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    module = Module(Path(spec.origin))
    tree = ast.parse(module.path.read_text())
    _collect(tree.body, module.definitions)
    for node in ast.walk(tree):  # imports within functions too
        match node:
            case ast.ImportFrom(module=str(owner), names=names) if owner.startswith(_ROOM):
                module.imports |= {alias.asname or alias.name: (owner, alias.name) for alias in names}
            case ast.Import(names=names):
                module.imports |= {
                    alias.asname: (alias.name, "") for alias in names if alias.asname and _ROOM in alias.name
                }
    return module


def _collect(body: Iterable[ast.stmt], definitions: dict[str, list[ast.stmt]]) -> None:
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                definitions.setdefault(name, []).append(statement)
            case ast.If() | ast.Try() | ast.With() | ast.For():
                _collect([each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.stmt)], definitions)
            case _:
                for node in ast.walk(statement):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        definitions.setdefault(node.id, []).append(statement)


@cache
def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _annotations(statement: ast.stmt) -> Iterator[ast.expr]:
    for node in ast.walk(statement):
        for name in ("annotation", "returns"):
            if isinstance(inner := getattr(node, name, None), ast.expr):
                yield inner


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _lambdas_at(module: str, line: int) -> list[ast.AST]:
    tree = ast.parse(_module(module).path.read_text())
    kinds = (ast.Lambda, ast.FunctionDef)
    return [node for node in ast.walk(tree) if isinstance(node, kinds) and node.lineno == line]


class _Bare(ast.NodeTransformer):
    """Drops strings that stand alone: docstrings of modules, classes, functions and attributes."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return None
        return node


def _bare(node: ast.AST) -> ast.AST:
    copied = ast.parse(ast.unparse(node))
    _Bare().visit(copied)
    return copied
