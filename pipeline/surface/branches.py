"""Conditional definitions, settled before griffe sees them: for griffe the last definition of a name wins.

`try: import fast except ImportError: fast = None` would otherwise hide the real one behind its fallback.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from pipeline.surface.records import ALTERNATIVE
from pipeline.surface.rules import SurfaceRules
from pipeline.surface.syntax import dotted, written

Body = list[ast.stmt]


def settle_branches(tree: ast.Module, rules: SurfaceRules) -> None:
    """Rewrite a module in place so that each name is bound once: by the branch that runs.

    A binding in an `except` handler is renamed with the suffix ALTERNATIVE, as one that may not be there; the
    branch of an `if` that cannot run is dropped; `a, b = x, y` becomes one assignment per name; `Class.name = value`
    goes into the class; loops are dropped; a name that is deleted is not bound.
    """
    # loops are gone once settled
    calls = [call for statement in tree.body for call in _calls(statement)]
    tree.body = _settle(tree.body, rules)
    for call in calls:
        _set_attribute(tree.body, call)
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Attribute(value=owner, attr=name)], value=value):
                _put_into_class(tree.body, written(owner).split("."), name, value, statement)


def _calls(statement: ast.stmt) -> Iterator[ast.Call]:
    """Yield the calls that run for what they do: those of statements that bind no value."""
    if isinstance(statement, ast.Expr | ast.For | ast.While | ast.If | ast.Try | ast.TryStar | ast.With):
        yield from (node for node in ast.walk(statement) if isinstance(node, ast.Call))


def _set_attribute(body: Body, call: ast.Call) -> None:
    """Do as `setattr(Class, "name", value)` does."""
    match call:
        case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)), value]):
            _put_into_class(body, written(owner).split("."), name, value, call)


def _put_into_class(body: Body, owner: list[str], name: str, value: ast.expr, at: ast.AST) -> None:
    """Move `Class.name = value`, written below the class, into its body."""
    for statement in body:
        if isinstance(statement, ast.ClassDef) and statement.name == owner[0]:
            if owner[1:]:
                _put_into_class(statement.body, owner[1:], name, value, at)
            elif name not in _bound(statement.body):
                target = ast.copy_location(ast.Name(name, ctx=ast.Store()), at)
                statement.body.append(ast.copy_location(ast.Assign(targets=[target], value=value), at))


def _settle(body: Body, rules: SurfaceRules) -> Body:
    settled: Body = []
    for statement in body:
        settled.extend(_statement(statement, rules))
    deleted = {name for s in settled if isinstance(s, ast.Delete) for t in s.targets for name in _target_names(t)}
    return [s for s in settled if not deleted >= bound_names(s) > set()]


def _statement(statement: ast.stmt, rules: SurfaceRules) -> Body:
    match statement:
        case ast.Try() | ast.TryStar():
            return [_settle_try(statement, rules)]
        case ast.If():
            return _settle_if(statement, rules)
        case ast.ClassDef():
            statement.body = _settle(statement.body, rules)
        case ast.For() | ast.While():
            # what a loop binds in passing is scratch
            return []
        case ast.With():
            statement.body = _settle(statement.body, rules)
        case ast.Assign():
            return _split_assignment(statement)
    return [statement]


def _settle_try(statement: ast.Try | ast.TryStar, rules: SurfaceRules) -> ast.stmt:
    statement.body = _settle(statement.body, rules)
    statement.orelse = _settle(statement.orelse, rules)
    known = _bound(statement.body) | _bound(statement.orelse)
    for handler in statement.handlers:
        body = _settle(handler.body, rules)
        # `except NameError` is how one says "on Python 3"; any other handler may never run
        sure = handler.type is not None and dotted(handler.type) == "NameError"
        handler.body = _otherwise(body, known if sure else known | _bound(body))
        known |= _bound(handler.body)
    return statement


def _settle_if(statement: ast.If, rules: SurfaceRules) -> Body:
    truth = _truth(statement.test, rules)
    if truth is not None:
        return _settle(statement.body if truth else statement.orelse, rules)
    body, orelse = _settle(statement.body, rules), _settle(statement.orelse, rules)
    if _is_type_checking(statement.test):
        # griffe knows this spelling, and not `t.TYPE_CHECKING`
        statement.test = ast.Name("TYPE_CHECKING", ctx=ast.Load())
        statement.body = _otherwise(body, _bound(orelse)) or [ast.Pass()]
        statement.orelse = []
        return [statement, *orelse]
    statement.body, statement.orelse = body, _otherwise(orelse, _bound(body))
    return [statement]


def _is_type_checking(test: ast.expr) -> bool:
    match test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
    return False


def _truth(test: ast.expr, rules: SurfaceRules) -> bool | None:
    """Return what a condition on the running Python comes to, or None if it is about something else."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            truth = _truth(operand, rules)
            return None if truth is None else not truth
        case ast.Constant(value=value):
            return bool(value)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return True if name in rules.true_names else False if name in rules.false_names else None
        case ast.Compare(left=ast.Name(id="__name__"), comparators=[ast.Constant(value="__main__")]):
            return False
        case ast.Compare(left=left, ops=[op], comparators=[ast.Tuple() | ast.Constant() as right]):
            return _version_truth(written(left), op, right, rules)
    return None


def _version_truth(left: str, op: ast.cmpop, right: ast.expr, rules: SurfaceRules) -> bool | None:
    try:
        wanted = ast.literal_eval(right)
    except ValueError:
        return None
    known: dict[str, Any] = {
        "sys.version_info": (*rules.python, 0),
        "sys.version_info[:2]": rules.python,
        "sys.version_info[0]": rules.python[0],
        "sys.version_info.major": rules.python[0],
    }
    running = known.get(left)
    if running is None or type(running) is not type(wanted):
        return None
    # a number compares like a tuple of one
    running, wanted = [part if isinstance(part, tuple) else (part,) for part in (running, wanted)]
    match op:
        case ast.Lt():
            return running < wanted
        case ast.LtE():
            return running <= wanted
        case ast.Gt():
            return running > wanted
        case ast.GtE():
            return running >= wanted
        case ast.Eq():
            return running == wanted
        case ast.NotEq():
            return running != wanted
    return None


def _otherwise(body: Body, known: set[str]) -> Body:
    """Rename what a branch binds again, so that it stays beside the first binding instead of over it."""
    for statement in body:
        for node in _binders(statement):
            _rename(node, known)
    return body


def _rename(node: ast.AST, known: set[str]) -> None:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) if name in known:
            node.name = name + ALTERNATIVE
        case ast.Name(id=name) if name in known:
            node.id = name + ALTERNATIVE
        case ast.alias() if (bound := node.asname or node.name.split(".")[0]) in known:
            node.asname = bound + ALTERNATIVE


def _binders(statement: ast.stmt) -> Iterable[ast.AST]:
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
                yield from _binders(inner)


def _inside(statement: ast.stmt) -> Body:
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
    for node in _binders(statement):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(id=name):
                names.add(name)
            case ast.alias():
                names.add(node.asname or node.name.split(".")[0])
    return names


def _bound(body: Body) -> set[str]:
    return {name for statement in body for name in bound_names(statement)}


def _target_names(target: ast.expr) -> set[str]:
    if isinstance(target, ast.Tuple | ast.List):
        return {name for element in target.elts for name in _target_names(element)}
    return {target.id} if isinstance(target, ast.Name) else set()


def _split_assignment(statement: ast.Assign) -> Body:
    split: Body = []
    for target in statement.targets:
        split.extend(_pairs(target, statement.value, statement))
    return split


def _pairs(target: ast.expr, value: ast.expr, at: ast.stmt) -> Body:
    if not isinstance(target, ast.Tuple | ast.List):
        return [ast.copy_location(ast.Assign(targets=[target], value=value), at)]
    values: list[ast.expr] = [value] * len(target.elts)
    literal = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
    if literal and not any(isinstance(e, ast.Starred) for e in [*value.elts, *target.elts]):  # type: ignore[attr-defined]
        values = value.elts  # type: ignore[attr-defined]
    return [s for t, v in zip(target.elts, values, strict=True) for s in _pairs(t, v, at)]
