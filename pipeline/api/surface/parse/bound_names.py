"""Which names a statement binds in the scope around it, and what a module imports for others to import."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from pipeline.api.surface.parse.syntax import described_by, statements


def binders(statement: ast.stmt) -> Iterable[ast.AST]:
    """Yield the nodes of a statement that bind a name in the scope around it."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (name for name in names if name.name != "*")
        case ast.Assign(targets=targets):
            yield from (target for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name() as target):
            yield target
        case _:
            for inner in _inside(statement):
                yield from binders(inner)


def _inside(statement: ast.stmt) -> list[ast.stmt]:
    """Return the statements inside one that opens no scope of its own."""
    match statement:
        case ast.Try() | ast.TryStar():
            parts = [statement.body, statement.orelse, *(handler.body for handler in statement.handlers)]
            return [inner for part in parts for inner in part]
        case ast.If():
            return [*statement.body, *statement.orelse]
        case ast.With():
            return statement.body
    return []


def bound_names(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds in the scope around it."""
    names = set()
    for node in binders(statement):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(id=name):
                names.add(name)
            case ast.alias():
                names.add(node.asname or node.name.split(".")[0])
    return names


def bound_in(body: Iterable[ast.stmt]) -> set[str]:
    """Return the names that statements bind in the scope around them."""
    return {name for statement in body for name in bound_names(statement)}


def every_bound_name(body: Iterable[ast.stmt]) -> set[str]:
    """Return the names that statements bind, also those of unpackings, loops and `with` statements."""
    names: set[str] = set()
    for statement in statements(body):
        names |= bound_names(statement)
        for target in targets_of(statement):
            names |= target_names(target)
    return names


def targets_of(statement: ast.AST) -> Iterator[ast.expr]:
    """Yield the targets of an assignment, a loop or a `with`."""
    match statement:
        case ast.Assign(targets=targets):
            yield from targets
        case ast.For(target=target) | ast.AsyncFor(target=target):
            yield target
        case ast.With(items=items) | ast.AsyncWith(items=items):
            yield from (item.optional_vars for item in items if item.optional_vars is not None)


def target_names(target: ast.expr) -> set[str]:
    """Return the names in the target of an assignment, a `for`, a `with` or a `del`."""
    if isinstance(target, ast.Starred):
        return target_names(target.value)
    if isinstance(target, ast.Tuple | ast.List):
        return {name for element in target.elts for name in target_names(element)}
    return {target.id} if isinstance(target, ast.Name) else set()


def deleted_in(body: Iterable[ast.stmt]) -> set[str]:
    """Return the names that the statements of a scope delete, whatever else they do in between."""
    deletes = (statement for statement in body if type(statement) is ast.Delete)
    return {name for statement in deletes for target in statement.targets for name in target_names(target)}


def reassigns_itself(name: str, above: Iterable[ast.stmt]) -> bool:
    """Return whether `name = name` says nothing new: what is imported above is then an import `as name`.

    So langchain_core passes on what it has moved out of a module.
    """
    nodes = [node for statement in above if name in bound_names(statement) for node in binders(statement)]
    for node in nodes:
        if isinstance(node, ast.alias) and node.name == name:
            node.asname = node.asname or name
    return bool(nodes)


def only_imports(tree: ast.Module) -> bool:
    """Return whether all that a module does is to import, and it does not tell which of it is for others.

    There is no other use for it than to be imported from (typing specification, "Library interface"): seaborn.objects,
    scipy.stats.sampling.
    """
    body = tree.body[1:] if tree.body and described_by(tree.body[0]) else tree.body
    names = [name for s in body if isinstance(s, ast.Import | ast.ImportFrom) for name in s.names]
    marked = any(name.name == name.asname for name in names)
    return bool(names) and not marked and all(isinstance(s, ast.Import | ast.ImportFrom) for s in body)
