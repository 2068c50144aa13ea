"""Names that a module and its classes bind, read in one walk over the settled syntax tree.

The rules are those of griffe's visitor, which the tests hold this walk to. griffe makes objects and trees of
expressions, of which a history of thousands of files has no use: that took half of the reading.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from pipeline.api.surface.parse.bound_names import targets_of
from pipeline.api.surface.parse.conditions import split_assignment
from pipeline.api.surface.parse.expressions import canonical_path, inside_text
from pipeline.api.surface.parse.scopes import Bound, Scope, annotation_text, reads_strings
from pipeline.api.surface.parse.syntax import FUNCTIONS, Function, absolute_name, described_by, dotted

_DECORATOR_LABELS = {
    "property": {"property"},
    "staticmethod": {"staticmethod"},
    "classmethod": {"classmethod"},
    "abc.abstractmethod": {"abstractmethod"},
    "functools.cache": {"cached"},
    "functools.cached_property": {"cached", "property"},
    "cached_property.cached_property": {"cached", "property"},
    "functools.lru_cache": {"cached"},
    "dataclasses.dataclass": {"dataclass"},
}
_OVERLOADS = frozenset({"typing.overload", "typing_extensions.overload"})
ACCESSOR_LABELS = {"setter": "writable", "deleter": "deletable"}
_TYPE_CHECKING = frozenset({"TYPE_CHECKING", "typing.TYPE_CHECKING"})
_SCOPES = (ast.Module, ast.ClassDef)
_LOOKED_AT = frozenset({"__init__", "__new__", "__getattr__", "__getattribute__", "__call__"})
"""Methods of which it matters what they take, or that there are such."""

CommentReader = Callable[[ast.stmt, Function | None], ast.Constant | None]
"""Gives the comment that documents an assignment, which may be in a function."""


def _no_comment(_statement: ast.stmt, _function: Function | None) -> None:
    """Read no comment, as griffe reads none."""


@dataclass(slots=True)
class _Module:
    """What a walk knows of its module.

    `guarded` while it is under `if TYPE_CHECKING`; `whole` if no method is put aside; `comment_on` reads comments.
    """

    name: str
    is_package: bool
    whole: bool = False
    comment_on: CommentReader = _no_comment
    imports: dict[str, str] = field(default_factory=dict)
    guarded: bool = False


def bind_names(
    tree: ast.Module, module: str, is_package: bool, comment_on: CommentReader = _no_comment, *, whole: bool = False
) -> tuple[Scope, dict[str, str]]:
    """Return what a module binds, and the absolute paths of what it imports by the names that it gives them.

    A star import is bound by its path with slashes. Private methods are put aside unless the `whole` is wanted. The
    branches of the tree must have been settled. What no string documents, a comment may, which `comment_on` reads.
    """
    state = _Module(module, is_package, whole, comment_on)
    scope = Scope(module.rpartition(".")[2], module, tree)
    _walk(tree.body, tree, scope, state)
    return scope, state.imports


def _walk(body: Sequence[ast.AST], parent: ast.AST, scope: Scope, module: _Module) -> None:
    for position, statement in enumerate(body):
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                if isinstance(scope.owner, _SCOPES):
                    _bind_definition(statement, scope, module)
            case ast.Assign() | ast.AnnAssign():
                below = body[position + 1] if position + 1 < len(body) else None
                docstring = described_by(below) or _comment(statement, scope, module)
                for assignment in _settled(statement, scope):
                    _bind_attributes(assignment, docstring, parent, scope, module)
            case ast.ImportFrom():
                _bind_names_from(statement, scope, module)
            case ast.Import():
                _bind_modules(statement, scope, module)
            case ast.If(test=test, body=inner, orelse=orelse):
                if isinstance(parent, _SCOPES) and dotted(test) in _TYPE_CHECKING:
                    module.guarded = True
                _walk([*inner, *orelse], statement, scope, module)
                module.guarded = False
            case _:
                _walk_compound(statement, parent, scope, module)


def _comment(statement: ast.stmt, scope: Scope, module: _Module) -> ast.Constant | None:
    owner = scope.owner
    if isinstance(owner, ast.ClassDef) and (owner.lineno, owner.col_offset) == (statement.lineno, statement.col_offset):
        # a member of a class that a call makes: the comment is the class's
        return None
    return module.comment_on(statement, owner if isinstance(owner, FUNCTIONS) else None)


def _walk_compound(statement: ast.AST, parent: ast.AST, scope: Scope, module: _Module) -> None:
    for assignment in _set_in_passing(statement, scope):
        _bind_attributes(assignment, None, parent, scope, module)
    for part in _inside(statement):
        _walk(part, statement, scope, module)


def _settled(statement: ast.Assign | ast.AnnAssign, scope: Scope) -> Sequence[ast.Assign | ast.AnnAssign]:
    """Return an assignment that unpacks as one for each target: in a function they stand as they are written."""
    if isinstance(statement, ast.Assign) and isinstance(scope.owner, FUNCTIONS):
        unpacks = any(isinstance(target, ast.Tuple | ast.List) for target in statement.targets)
        return split_assignment(statement) if unpacks else [statement]
    return [statement]


def _set_in_passing(statement: ast.AST, scope: Scope) -> list[ast.Assign]:
    """Return the targets of loops and `with` in a function as assignments of unknown values."""
    if not isinstance(scope.owner, FUNCTIONS):
        return []
    assigned = (ast.copy_location(ast.Assign(targets=[t], value=ast.Constant(...)), t) for t in targets_of(statement))
    return [split for assignment in assigned for split in split_assignment(assignment)]


def _inside(statement: ast.AST) -> Iterator[Sequence[ast.AST]]:
    """Yield what is inside a statement; what stands below an assignment may describe it."""
    match statement:
        case ast.Try() | ast.TryStar():
            yield [*statement.body, *statement.handlers, *statement.orelse, *statement.finalbody]
        case ast.For() | ast.AsyncFor() | ast.While():
            yield [*statement.body, *statement.orelse]
        case ast.With() | ast.AsyncWith() | ast.ExceptHandler():
            yield statement.body
        case ast.Match():
            yield from (case.body for case in statement.cases)


def _bind_definition(node: Function | ast.ClassDef, scope: Scope, module: _Module) -> None:
    bound = Bound(node.name, node, not module.guarded, scope=scope)
    paths = _decorator_paths(node, scope) if node.decorator_list else []
    for path in paths:
        bound.labels |= _DECORATOR_LABELS.get(path, set())
    if isinstance(node, ast.ClassDef):
        bound.docstring = described_by(node.body[0]) if node.body else None
        bound.scope = Scope(node.name, f"{scope.path}.{node.name}", node, scope)
        scope.bound[node.name] = bound
        _walk(node.body, node, bound.scope, module)
        return
    if isinstance(node, ast.AsyncFunctionDef):
        bound.labels.add("async")
    _bind_function(bound, paths, scope, module)
    if node.name == "__init__" and isinstance(scope.owner, ast.ClassDef):
        _walk(node.body, node, Scope(node.name, f"{scope.path}.{node.name}", node, scope), module)


def _bind_function(bound: Bound, paths: list[str], scope: Scope, module: _Module) -> None:
    name = bound.name
    if "property" in bound.labels:
        scope.bound[name] = bound
    elif paths and not _OVERLOADS.isdisjoint(paths):
        scope.overloads.setdefault(name, []).append(bound)
    elif paths and (accessor := _accessor(paths, name, scope)) is not None:
        scope.bound[name].labels.add(ACCESSOR_LABELS[accessor])
    else:
        if scope.overloads:
            bound.overloads = scope.overloads.pop(name, [])
        serves = name[0] == "_" and not paths and not module.whole and type(scope.owner) is ast.ClassDef
        (scope.aside if serves and name not in _LOOKED_AT else scope.bound)[name] = bound


def _decorator_paths(node: Function | ast.ClassDef, scope: Scope) -> list[str]:
    return [
        canonical_path(decorator.func if isinstance(decorator, ast.Call) else decorator, scope.resolve)
        for decorator in node.decorator_list
    ]


def _accessor(paths: list[str], name: str, scope: Scope) -> str | None:
    """Return which accessor of a property of the same class a function is, if it is one."""
    bound = scope.bound.get(name)
    if bound is None or "property" not in bound.labels:
        return None
    own = {f"{scope.path}.{name}.{accessor}": accessor for accessor in ACCESSOR_LABELS}
    return next((own[path] for path in paths if path in own), None)


def _bind_modules(node: ast.Import, scope: Scope, module: _Module) -> None:
    for name in node.names:
        first = name.name.partition(".")[0]
        target, bound = (name.name, name.asname) if name.asname else (first, first)
        if scope.around is None:
            module.imports[bound] = target
        as_itself = name.name == name.asname
        scope.bound[bound] = Bound(bound, node, not module.guarded, target=target, as_itself=as_itself)


def _bind_names_from(node: ast.ImportFrom, scope: Scope, module: _Module) -> None:
    source = _source(node, module)
    for name in node.names:
        if not node.module and node.level == 1 and not name.asname and module.is_package:
            # `from . import part` in a package: what it binds is the submodule itself
            scope.bound.pop(name.name, None)
            continue
        target = source + name.name
        if name.name == "*":
            bound, target = target.replace(".", "/"), target.replace(".*", "")
        else:
            bound = name.asname or name.name
            if scope.around is None:
                module.imports[bound] = target
        if target != f"{scope.path}.{bound}":
            as_itself = name.name == name.asname
            scope.bound[bound] = Bound(bound, node, not module.guarded, target=target, as_itself=as_itself)


def _source(node: ast.ImportFrom, module: _Module) -> str:
    """Return the absolute path of what is imported from, with a dot behind it; `pkg.__init__` is the package."""
    written = f"{node.module}." if node.module else ""
    if written.endswith("__init__."):
        written = re.sub(r"(^|\.)__init__\.$", r"\1", written)
    if not node.level:
        return written
    return f"{absolute_name('.' * node.level, module.name, is_package=module.is_package)}.{written}"


def _bind_attributes(
    node: ast.Assign | ast.AnnAssign, docstring: ast.Constant | None, parent: ast.AST, scope: Scope, module: _Module
) -> None:
    """Bind what an assignment binds, with what documents it."""
    owner, described_in = scope, None
    names = _target_names(node)
    if isinstance(scope.owner, FUNCTIONS):
        assert scope.around is not None
        owner, described_in = scope.around, scope.owner
        names = [name.removeprefix("self.") for name in names if name.startswith("self.")]
    if not names:
        return
    labels, annotation = _attribute_labels(node, scope)
    for name in names:
        if "." in name:
            continue
        if (earlier := owner.bound.get(name)) is not None:
            if isinstance(parent, ast.If | ast.ExceptHandler):
                # what no condition stands before comes first
                continue
            if earlier.target is None:
                labels = labels | earlier.labels
                if docstring is None:
                    docstring, described_in = earlier.described
                annotation = annotation or _earlier_annotation(earlier)
        owner.bound[name] = Bound(
            name, node, not module.guarded, {*labels}, docstring, annotation, node.value, described_in=described_in
        )


def _target_names(node: ast.Assign | ast.AnnAssign) -> list[str]:
    """Return the dotted names that are assigned; none if one of the targets is something else."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [dotted(target) for target in targets]
    return [name for name in names if name is not None] if None not in names else []


def _attribute_labels(node: ast.Assign | ast.AnnAssign, scope: Scope) -> tuple[set[str], str | None]:
    """Return the labels of what is assigned, and its annotation as text: that inside `ClassVar`, where there is one."""
    written = node.annotation if isinstance(node, ast.AnnAssign) else None
    annotation = annotation_text(written, scope)
    match scope.owner:
        case ast.Module():
            return {"module-attribute"}, annotation
        case ast.ClassDef():
            if written is not None and (inside := _class_variable(written, scope)) is not None:
                return {"class-attribute"}, inside
            both = {"class-attribute", "instance-attribute"}
            return (both if node.value is not None else {"instance-attribute"}), annotation
    return {"instance-attribute"}, annotation


def _class_variable(annotation: ast.expr, scope: Scope) -> str | None:
    return inside_text(annotation, "ClassVar", scope.resolve, strings=reads_strings(scope))


def _earlier_annotation(bound: Bound) -> str | None:
    if isinstance(bound.node, FUNCTIONS) and bound.scope is not None:
        return annotation_text(bound.node.returns, bound.scope)
    return bound.annotation
