"""Conditional definitions, settled before griffe sees them: for griffe the last definition of a name wins.

`try: import fast except ImportError: fast = None` would otherwise hide the real one behind its fallback.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from pipeline.api.surface.parse.bound_names import binders, bound_in, bound_names, deleted_in, reassigns_itself
from pipeline.api.surface.parse.class_patches import calls_of, decorated, put_into_classes
from pipeline.api.surface.parse.module_model import ALTERNATIVE
from pipeline.api.surface.parse.rules import SurfaceRules
from pipeline.api.surface.parse.syntax import dotted, text_of, written
from pipeline.core.syntax_trees import literal_eval

Body = list[ast.stmt]

_SETTLED = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Expr, ast.AnnAssign, ast.Import, ast.ImportFrom})
"""Statements that bind the same names on every branch."""


def settle_branches(tree: ast.Module, rules: SurfaceRules, *, sets: bool = True) -> None:
    """Rewrite a module in place so that each name is bound once: by the branch that runs.

    A binding in an `except` handler is renamed with the suffix ALTERNATIVE, as one that may not be there; the
    branch of an `if` that cannot run is dropped; `a, b = x, y` becomes one assignment per name; `Class.name = value`
    goes into the class, `name = decorator(name)` above the definition; loops are dropped; a name that is deleted is
    not bound. With `sets` the module may call `setattr`.
    """
    # loops are gone once settled
    calls = calls_of(tree.body) if sets else []
    tree.body = _settle(tree.body, rules)
    put_into_classes(tree.body, calls)


def _settle(body: Body, rules: SurfaceRules) -> Body:
    if _SETTLED.issuperset(map(type, body)):
        return [*body]
    settled: Body = []
    for statement in body:
        if type(statement) in _SETTLED:
            settled.append(statement)
        else:
            settled += _statement(statement, settled, rules)
    deleted = deleted_in(settled)
    if deleted:
        settled = [s for s in settled if not deleted >= bound_names(s) > set()]
    return decorated(settled)


def _statement(statement: ast.stmt, before: Body, rules: SurfaceRules) -> Body:
    match statement:
        case ast.Try() | ast.TryStar():
            return [_settle_try(statement, rules)]
        case ast.If():
            return _settle_if(statement, before, rules)
        case ast.ClassDef():
            statement.body = _settle(statement.body, rules)
        case ast.For() | ast.While():
            # what a loop binds in passing is scratch
            return []
        case ast.With():
            statement.body = _settle(statement.body, rules)
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=same)) if name == same:
            return [] if reassigns_itself(name, before) else [statement]
        case ast.Assign():
            return [*split_assignment(statement)]
    return [statement]


def _settle_try(statement: ast.Try | ast.TryStar, rules: SurfaceRules) -> ast.stmt:
    statement.body = _settle(statement.body, rules)
    statement.orelse = _settle(statement.orelse, rules)
    bound = bound_in(statement.body) | bound_in(statement.orelse)
    handled = [_settle(handler.body, rules) for handler in statement.handlers]
    # one of several handlers that all bind a name will run: the first is believed
    always = set[str]() if len(handled) < 2 else set.intersection(*map(bound_in, handled))
    for handler, body in zip(statement.handlers, handled, strict=True):
        # `except NameError` is how one says "on Python 3"; any other handler may never run
        sure = handler.type is not None and dotted(handler.type) == "NameError"
        handler.body = _otherwise(body, bound if sure else bound | (bound_in(body) - always))
        bound |= bound_in(handler.body)
    return statement


def _settle_if(statement: ast.If, before: Body, rules: SurfaceRules) -> Body:
    truth = _truth(statement.test, rules)
    if truth is not None:
        return _settle(statement.body if truth else statement.orelse, rules)
    body, orelse = _settle(statement.body, rules), _settle(statement.orelse, rules)
    if _is_type_checking(statement.test):
        # griffe knows this spelling, and not `t.TYPE_CHECKING`
        statement.test = ast.Name("TYPE_CHECKING", ctx=ast.Load())
        orelse = _annotated(orelse, body)
        statement.body = _otherwise(body, bound_in(orelse)) or [ast.Pass()]
        statement.orelse = []
        return [statement, *orelse]
    if _is_elsewhere(statement.test, rules):
        statement.body, statement.orelse = _otherwise(body, bound_in(orelse) | bound_in(before)), orelse
    else:
        statement.body, statement.orelse = body, _otherwise(orelse, bound_in(body))
    return [statement]


def _is_elsewhere(test: ast.expr, rules: SurfaceRules) -> bool:
    """Return whether a condition holds only on another system than Linux, or on another Python than CPython."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return any(_is_elsewhere(value, rules) for value in values)
        case ast.BoolOp(values=values):
            return all(_is_elsewhere(value, rules) for value in values)
    return rules.elsewhere_conditions.search(written(test)) is not None


def _annotated(body: Body, typed: Body) -> Body:
    """Give class variables what type checkers are told of them: annotation, and the docstring below it.

    Any other annotation would make a field of what is none as it runs.
    """
    annotations: dict[str, tuple[ast.AnnAssign, Body]] = {}
    for statement, below in zip(typed, [*typed[1:], None], strict=True):
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind) if "ClassVar" in written(kind):
                annotations[name] = statement, [below] if isinstance(below, ast.Expr) and text_of(below.value) else []
    annotated: Body = []
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if name in annotations:
                declaration, docstring = annotations[name]
                assignment = ast.AnnAssign(target=target, annotation=declaration.annotation, value=value, simple=1)
                annotated += [ast.copy_location(assignment, statement), *docstring]
            case _:
                annotated.append(statement)
    return annotated


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
            return _flag(name, rules)
        case ast.Compare(left=ast.Name(id="__name__"), comparators=[ast.Constant(value="__main__")]):
            return False
        case ast.Compare(left=left, ops=[op], comparators=[ast.Tuple() | ast.Constant() as right]):
            return _version_truth(written(left), op, right, rules)
    return None


def _flag(name: str, rules: SurfaceRules) -> bool | None:
    if name in rules.true_names or name in rules.false_names:
        return name in rules.true_names
    since = rules.since_names.search(name)
    return (int(since[1]), int(since[2])) <= rules.python if since else None


def _version_truth(left: str, op: ast.cmpop, right: ast.expr, rules: SurfaceRules) -> bool | None:
    try:
        required = literal_eval(right)
    except ValueError:
        return None
    versions: dict[str, Any] = {
        "sys.version_info": (*rules.python, 0),
        "sys.version_info[:2]": rules.python,
        "sys.version_info[0]": rules.python[0],
        "sys.version_info.major": rules.python[0],
    }
    running = versions.get(left)
    if running is None or type(running) is not type(required):
        return None
    # a number compares like a tuple of one
    running, required = [part if isinstance(part, tuple) else (part,) for part in (running, required)]
    match op:
        case ast.Lt():
            return running < required
        case ast.LtE():
            return running <= required
        case ast.Gt():
            return running > required
        case ast.GtE():
            return running >= required
        case ast.Eq():
            return running == required
        case ast.NotEq():
            return running != required
    return None


def _otherwise(body: Body, names: set[str]) -> Body:
    """Rename what a branch binds again, so that it stays beside the first binding instead of over it."""
    for statement in body:
        for node in binders(statement):
            _rename(node, names)
    return body


def _rename(node: ast.AST, names: set[str]) -> None:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) if name in names:
            node.name = name + ALTERNATIVE
        case ast.Name(id=name) if name in names:
            node.id = name + ALTERNATIVE
        case ast.alias() if (bound := node.asname or node.name.split(".")[0]) in names:
            node.asname = bound + ALTERNATIVE


def split_assignment(statement: ast.Assign) -> list[ast.Assign]:
    """Return one assignment for each target: `a, b = x, y` as `a = x` and `b = y`."""
    if len(statement.targets) == 1 and not isinstance(statement.targets[0], ast.Tuple | ast.List):
        return [statement]
    split: list[ast.Assign] = []
    for target in statement.targets:
        split.extend(_pairs(target, statement.value, statement))
    return split


def _pairs(target: ast.expr, value: ast.expr, at: ast.stmt) -> list[ast.Assign]:
    if isinstance(target, ast.Starred):
        target = target.value
    if not isinstance(target, ast.Tuple | ast.List):
        return [ast.copy_location(ast.Assign(targets=[target], value=value), at)]
    values = _shared_out(value, target.elts)
    return [s for t, v in zip(target.elts, values, strict=True) for s in _pairs(t, v, at)]


def _shared_out(value: ast.expr, targets: Sequence[ast.expr]) -> list[ast.expr]:
    """Return what each of several targets gets of a value (language reference, 7.2); all of it where nothing tells."""
    elements = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    stars = [place for place, target in enumerate(targets) if isinstance(target, ast.Starred)]
    if any(isinstance(element, ast.Starred) for element in elements):
        return [value] * len(targets)
    if stars and len(elements) >= len(targets) - 1:
        end = len(elements) - (len(targets) - 1 - stars[0])
        rest = ast.copy_location(ast.List(elts=elements[stars[0] : end], ctx=ast.Load()), value)
        return [*elements[: stars[0]], rest, *elements[end:]]
    return [*elements] if len(elements) == len(targets) else [value] * len(targets)
