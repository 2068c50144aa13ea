"""Names that a module makes as it is imported (`globals()[name] = …`), and those that its `__getattr__` answers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pipeline.surface.bodies import Bodies
from pipeline.surface.deprecations import warning_mark
from pipeline.surface.given import is_globals, tells_names
from pipeline.surface.records import Mark
from pipeline.surface.rules import SurfaceRules
from pipeline.surface.syntax import functions
from pipeline.surface.telling import GETATTR, MAKES_NAMES

_GETATTR = "__getattr__"


def _may_answer(bodies: Bodies) -> bool:
    """Return whether a module may have a `__getattr__` (PEP 562)."""
    return GETATTR in bodies.told or _GETATTR in bodies.rest


def binds_dynamically(tree: ast.Module, bodies: Bodies) -> bool:
    """Return whether a module may have names that no statement of its binds: `globals()`, `exec`, `__getattr__`."""
    if GETATTR in bodies.told and any(f.name == "__getattr__" for f in functions(tree.body)):
        return True
    words = [word for word in MAKES_NAMES if word in bodies.told]
    # walking the trees of all modules would cost a third of all the reading
    hits = sum(map(bodies.text.count, words))
    for function in functions(tree.body) if hits else ():
        body = bodies.of(function)
        # what is told is known already of a function that stands alone
        if not body.told.isdisjoint(words) and (found := body.count(words)):
            hits -= found
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


def binds_unseen(tree: ast.Module, bodies: Bodies) -> bool:
    """Return whether a module, as it is imported, binds names that are made as it runs: `globals()[name] = value`."""
    if bodies.told.isdisjoint(MAKES_NAMES):
        return False
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    at_import = (s for s in tree.body if not isinstance(s, scopes) and bodies.lines_mention(s, MAKES_NAMES))
    return any(_binds_names(node) for statement in at_import for node in ast.walk(statement))


def _binds_names(node: ast.AST) -> bool:
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
            return not tells_names(node)
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Subscript(value=ast.Attribute(attr="modules")), *_]):
            return True
    return False


def answers_unseen(tree: ast.Module, bodies: Bodies) -> bool:
    """Return whether a module's `__getattr__` answers names that `read_lazy` does not tell: it passes them on."""
    if not _may_answer(bodies):
        return False
    if any(_binds_getattr(statement) for statement in tree.body):
        return True
    argument, body = _getattr(tree, bodies)
    return _passes_on(body, argument, tree) and not list(_looked_up(body, argument, tree))


def _binds_getattr(statement: ast.stmt) -> bool:
    """Return whether a module gets its `__getattr__` from elsewhere: assigned, also in a tuple, or imported."""
    match statement:
        case ast.Assign(targets=targets):
            bound = (node for target in targets for node in ast.walk(target))
            return any(isinstance(node, ast.Name) and node.id == "__getattr__" for node in bound)
        case ast.ImportFrom(names=names):
            return any((name.asname or name.name) == "__getattr__" for name in names)
    return False


def _passes_on(body: list[ast.stmt], argument: str, tree: ast.Module) -> bool:
    """Return whether a value is returned without a test that tells for which names."""
    for statement in body:
        match statement:
            case ast.Return():
                return True
            case ast.If(test=test, body=inner, orelse=orelse):
                told = bool(_tested(test, argument, tree))
                if _passes_on([*([] if told else inner), *orelse], argument, tree):
                    return True
            case ast.Try(body=inner, orelse=orelse) if _passes_on([*inner, *orelse], argument, tree):
                return True
            case ast.With(body=inner) | ast.For(body=inner) if _passes_on(inner, argument, tree):
                return True
    return False


def _getattr(tree: ast.Module, bodies: Bodies) -> tuple[str, list[ast.stmt]]:
    """Return the argument of a module's `__getattr__` (PEP 562), and its body: nothing where there is none."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__getattr__" and statement.args.args:
            return statement.args.args[0].arg, bodies.statements(statement)
    return "", []


def read_lazy(tree: ast.Module, bodies: Bodies, rules: SurfaceRules) -> dict[str, Mark | None]:
    """Return the names that a module's `__getattr__` (PEP 562) answers, with the deprecation that it warns of.

    Read are comparisons of its argument with literals and with the literal keys of a container in the module.
    """
    if not _may_answer(bodies):
        return {}
    argument, body = _getattr(tree, bodies)
    lazy: dict[str, Mark | None] = {}
    for node in _walk(body):
        if isinstance(node, ast.If) and not any(isinstance(statement, ast.Raise) for statement in node.body):
            for name in _tested(node.test, argument, tree):
                lazy.setdefault(name, warning_mark(node.body, rules, {argument: name}))
    every = [_as_called(statement) for statement in body]
    for name in _looked_up(body, argument, tree):
        lazy.setdefault(name, warning_mark(every, rules, {argument: name}))
    return lazy


def _as_called(statement: ast.stmt) -> ast.stmt:
    """Return the bare call of a function of which the result is returned: its name may say that it warns of the name.

    What it is given are parts of what it says, and no message.
    """
    match statement:
        case ast.Return(value=ast.Call(func=function)):
            return ast.Expr(value=ast.Call(func=function, args=[], keywords=[]))
    return statement


def _walk(body: list[ast.stmt]) -> Iterator[ast.AST]:
    # outer ones first, as `ast.walk` gives them
    return ast.walk(ast.Module(body=body, type_ignores=[]))


def _tested(test: ast.expr, argument: str, tree: ast.Module) -> list[str]:
    match test:
        case ast.BoolOp(values=values):
            return [name for value in values for name in _tested(value, argument, tree)]
        case ast.Compare(left=ast.Name(id=left), ops=[ast.Eq()], comparators=[ast.Constant(value=str(name))]):
            return [name] if left == argument else []
        case ast.Compare(left=ast.Name(id=left), ops=[ast.In()], comparators=[container]):
            return _literal_keys(container, tree) if left == argument else []
    return []


def _looked_up(body: list[ast.stmt], argument: str, tree: ast.Module) -> Iterator[str]:
    """Yield the literal keys of containers that are subscripted with the argument, or asked `not in` about it.

    And those of a container that some function is given together with it: what is in it is what that function answers.
    """
    for node in _walk(body):
        match node:
            case ast.Subscript(value=container, slice=ast.Name(id=name)) if name == argument:
                yield from _literal_keys(container, tree)
            case ast.Compare(left=ast.Name(id=name), ops=[ast.NotIn()], comparators=[container]) if name == argument:
                yield from _literal_keys(container, tree)
            case ast.Call(args=args, keywords=keywords):
                names = [node for node in (*args, *(k.value for k in keywords)) if isinstance(node, ast.Name)]
                if argument in (node.id for node in names):
                    yield from (key for node in names for key in _literal_keys(node, tree))


def _literal_keys(container: ast.expr, tree: ast.Module) -> list[str]:
    match container:
        case ast.Dict(keys=elements):
            return [e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str)]
        case ast.Set(elts=elements) | ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str)]
        case ast.Call(func=ast.Name(id="frozenset" | "set" | "dict" | "list" | "tuple"), args=[inner], keywords=[]):
            return _literal_keys(inner, tree)
        case ast.Name(id=name):
            values = (_assigned(statement, name) for statement in tree.body)
            return next((_literal_keys(value, tree) for value in values if value is not None), [])
    return []


def _assigned(statement: ast.stmt, name: str) -> ast.expr | None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
            return None if isinstance(value, ast.Name) else value
        case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value) if found == name:
            return None if isinstance(value, ast.Name) else value
    return None
