"""What stands under a condition that another machine may answer otherwise: its platform, or what is installed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pipeline.api.surface.parse.bound_names import bound_names
from pipeline.api.surface.parse.module_model import ALTERNATIVE
from pipeline.api.surface.parse.rules import SurfaceRules
from pipeline.api.surface.parse.syntax import COMPOUND, dotted, parts, statements, written

CONDITIONAL = "conditional"
"""Label of what a release has on some platforms only, or only beside another package."""

_BRANCHES = frozenset({ast.If, ast.Try, ast.TryStar})
_AROUND_CLASSES = COMPOUND | {ast.ClassDef}
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError"})


def conditional_statements(tree: ast.Module, rules: SurfaceRules) -> set[int]:
    """Return the ids (of `id`) of statements that bind a name under such a condition and nowhere else.

    The branches of the tree must have been settled.
    """
    flags = {name.removesuffix(ALTERNATIVE) for name in _all_bound(tree.body) if name.endswith(ALTERNATIVE)}
    ids: set[int] = set()
    for body in _scopes(tree.body):
        binding = list(_binding(body, rules, flags, certain=True))
        unsure = [statement for statement, certain in binding if not certain]
        if unsure:
            sure = _names([statement for statement, certain in binding if certain])
            ids |= {id(statement) for statement in unsure if not _names([statement]) <= sure}
    return ids


def _all_bound(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if type(statement) in _BRANCHES:
            yield from bound_names(statement)


def _scopes(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Yield the bodies of the module and of its classes in which something depends on a condition."""
    kinds = frozenset(map(type, body))
    if not kinds.isdisjoint(_BRANCHES):
        yield body
    if kinds.isdisjoint(_AROUND_CLASSES):
        return
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield from _scopes(statement.body)
        elif type(statement) in COMPOUND:
            yield from _classes_inside(statement)


def _classes_inside(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for body in parts(statement):
        for inner in statements(body):
            if isinstance(inner, ast.ClassDef):
                yield from _scopes(inner.body)


def _binding(
    body: list[ast.stmt], rules: SurfaceRules, flags: set[str], *, certain: bool
) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the innermost statements of a scope, each with whether it runs on every machine."""
    for statement in body:
        match statement:
            case ast.If(test=test, body=inner, orelse=orelse):
                both = _names(inner) & _names(orelse)
                unconditional = certain and not _asks(test, rules, flags)
                for bound, sure in _binding([*inner, *orelse], rules, flags, certain=unconditional):
                    yield bound, sure or (certain and bool(_names([bound]) & both))
            case ast.Try(body=inner, orelse=orelse, handlers=handlers) if _may_lack(handlers):
                both = _names([*inner, *orelse]) & {name for handler in handlers for name in _names(handler.body)}
                for bound, _ in _binding([*inner, *orelse], rules, flags, certain=certain):
                    yield bound, certain and bool(_names([bound]) & both)
            case _ if type(statement) in COMPOUND:
                for part in parts(statement):
                    yield from _binding(part, rules, flags, certain=certain)
            case _:
                yield statement, certain


def _names(body: list[ast.stmt]) -> set[str]:
    return {name.removesuffix(ALTERNATIVE) for statement in body for name in bound_names(statement)}


def _asks(test: ast.expr, rules: SurfaceRules, flags: set[str]) -> bool:
    """Return whether a condition asks for the platform, or for something that may not have been imported."""
    if isinstance(test, ast.Name) and test.id == "TYPE_CHECKING":
        return False
    mentioned = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    return bool(mentioned & flags) or rules.machine_conditions.search(written(test)) is not None


def _may_lack(handlers: list[ast.ExceptHandler]) -> bool:
    """Return whether one of the handlers goes on without what cannot be imported."""
    return any(_is_import_error(handler.type) and not _raises(handler.body) for handler in handlers)


def _is_import_error(kind: ast.expr | None) -> bool:
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(dotted(kind) in _IMPORT_ERRORS for kind in kinds)


def _raises(body: list[ast.stmt]) -> bool:
    return any(isinstance(statement, ast.Raise) for statement in body)
