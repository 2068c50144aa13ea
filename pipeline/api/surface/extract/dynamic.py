"""Whether a module makes names as it is imported: `globals()[name] = …`, `exec(…)`."""

from __future__ import annotations

import ast

from pipeline.api.surface.extract.lazy_globals import is_globals, lists_names
from pipeline.api.surface.parse.bodies import Bodies
from pipeline.api.surface.parse.keyword_scan import GETATTR, MAKES_NAMES
from pipeline.api.surface.parse.syntax import functions, text_of


def binds_dynamically(tree: ast.Module, bodies: Bodies) -> bool:
    """Return whether a module may have names that no statement of its binds: `globals()`, `exec`, `__getattr__`."""
    if GETATTR in bodies.keywords and any(f.name == "__getattr__" for f in functions(tree.body)):
        return True
    words = [word for word in MAKES_NAMES if word in bodies.keywords]
    # walking the trees of all modules would cost a third of all the reading
    hits = sum(map(bodies.text.count, words))
    for function in functions(tree.body) if hits else ():
        body = bodies.of(function)
        # what is told is known already of a function that stands alone
        if not body.keywords.isdisjoint(words) and (count := body.count(words)):
            hits -= count
            if _reach_names(body.statements):
                return True
    return bool(hits) and _reach_names(tree.body)


def _reach_names(body: list[ast.stmt]) -> bool:
    return any(_reaches_names(node) for statement in body for node in ast.walk(statement))


def _reaches_names(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="globals" | "vars" | "exec" | "setattr" | "locals")):
            return True
        case ast.Attribute(attr="modules", value=ast.Name(id="sys")):
            return True
    return False


def binds_unseen(tree: ast.Module, bodies: Bodies, module: str) -> bool:
    """Return whether a module, as it is imported, binds names that are made as it runs: `globals()[name] = value`."""
    if bodies.keywords.isdisjoint(MAKES_NAMES):
        return False
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    at_import = (s for s in tree.body if not isinstance(s, scopes) and bodies.lines_mention(s, MAKES_NAMES))
    return any(_binds_names(node, module) for statement in at_import for node in ast.walk(statement))


def _binds_names(node: ast.AST, module: str) -> bool:
    match node:
        case ast.Subscript(value=ast.Call(func=ast.Name(id="globals" | "vars" | "locals")), ctx=ast.Store()):
            return True
        case ast.Call(
            func=ast.Attribute(value=ast.Call(func=ast.Name(id="globals" | "vars" | "locals")), attr="update")
        ):
            return True
        case ast.Call(func=ast.Name(id="exec")):
            return True
        case ast.Call(args=arguments) if any(is_globals(argument) for argument in arguments):
            # it may give the module any name, and a `__getattr__`
            return not lists_names(node)
        case ast.Call(
            func=ast.Name(id="setattr"), args=[ast.Subscript(value=ast.Attribute(attr="modules"), slice=of), *_]
        ):
            # another module is patched where its name is a literal
            return text_of(of) in {None, module}
    return False
