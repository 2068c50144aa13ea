"""Attributes, properties and parameters that two readers of a class see differently: what the sources say of them."""

from __future__ import annotations

import ast
import functools
import re

import griffe

from pipeline.core.vocabularies.surface import ParameterSource, SymbolKind
from tests.api.surface.griffe_differences import Difference, What, signature
from tests.api.surface.griffe_evidence import Sources, bound
from tests.api.surface.griffe_surface import Signature

_OF_PROPERTIES = ("property", "memoized_attribute", "cache_readonly")


def set_elsewhere(difference: Difference, sources: Sources) -> bool:
    """Return whether a method sets the attribute where griffe does not look, or an assignment below the class.

    griffe looks at plain assignments of `__init__` only.
    """
    owner, _, name = difference.home.rpartition(".")
    module, _ = sources.split(owner)
    absent = difference.what is What.ONLY_OURS
    if absent and any(name in _set_by_methods(body) for body in sources.class_bodies(owner)):
        return True
    return (owner.rpartition(".")[2], name) in _put_into_classes(sources, module)


@functools.cache
def _set_by_methods(body: ast.ClassDef) -> frozenset[str]:
    methods = (m for m in ast.walk(body) if isinstance(m, ast.FunctionDef | ast.AsyncFunctionDef))
    nodes = [node for method in methods for node in ast.walk(method)]
    stored = {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    return frozenset(stored.union(*(_set_in_turn(n) for n in nodes if isinstance(n, ast.For))))


def _set_in_turn(loop: ast.For) -> set[str]:
    """Return the literals that a loop goes over if it hands the current one to `setattr`."""
    calls = (n for n in ast.walk(loop) if isinstance(n, ast.Call) and ast.unparse(n.func) == "setattr")
    if not any(ast.unparse(call.args[1]) == ast.unparse(loop.target) for call in calls):
        return set()
    return {n.value for n in ast.walk(loop.iter) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


@functools.cache
def _put_into_classes(sources: Sources, module: str) -> frozenset[tuple[str, str]]:
    tree = sources.tree(module)
    found = [_put(node) for node in ast.walk(tree)] if tree is not None else []
    return frozenset(pair for pair in found if pair is not None)


def _put(node: ast.AST) -> tuple[str, str] | None:
    match node:
        case ast.Attribute(value=ast.Name(id=owner), attr=attr, ctx=ast.Store()):
            return owner, attr
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=owner), ast.Constant(value=str(attr)), _]):
            return owner, attr
    return None


def unpacked(difference: Difference, sources: Sources) -> bool:
    """Return whether one assignment binds the name among others."""
    assigned = [b.node for b in sources.bindings(difference.home) if isinstance(b.node, ast.Assign)]
    owner, _, name = difference.home.rpartition(".")
    in_class = any(name in _set_by_unpacking(body) for body in sources.class_bodies(owner))
    return in_class or any(isinstance(target, ast.Tuple | ast.List) for node in assigned for target in node.targets)


@functools.cache
def _set_by_unpacking(body: ast.ClassDef) -> frozenset[str]:
    targets = (target for node in ast.walk(body) if isinstance(node, ast.Assign) for target in node.targets)
    parts = (part for target in targets if isinstance(target, ast.Tuple | ast.List) for part in ast.walk(target))
    return frozenset(part.attr for part in parts if isinstance(part, ast.Attribute))


def fields(difference: Difference, sources: Sources) -> bool:
    """Return whether `__slots__` or `namedtuple(…)` declares the name."""
    owner, _, name = difference.home.rpartition(".")
    if any(name in _slots(body) or _is_namedtuple(*body.bases) for body in sources.class_bodies(owner)):
        return True
    values = [b.value for place in (owner, difference.home) for b in sources.bindings(place) if b.value is not None]
    return _is_namedtuple(*values)


@functools.cache
def _slots(body: ast.ClassDef) -> frozenset[str]:
    values = [b.value for b in bound(body.body) if b.name == "__slots__" and b.value is not None]
    return frozenset(str(n.value) for v in values for n in ast.walk(v) if isinstance(n, ast.Constant))


def _is_namedtuple(*expressions: ast.expr) -> bool:
    return any("namedtuple" in ast.unparse(expression).lower() for expression in expressions)


_BEHIND_KWARGS = frozenset(
    {ParameterSource.KWARGS, ParameterSource.DOCSTRING, ParameterSource.PASSED_ON, ParameterSource.ARGS}
)


def _sources_of(difference: Difference) -> set[str]:
    return {str(p["known_from"]) for p in difference.ours["parameters"]} if difference.ours else set()


def signature_from(difference: Difference, *known: ParameterSource) -> Signature:
    """Return those parameters of our row that are known from one of these."""
    assert difference.ours is not None
    row = {"parameters": [p for p in difference.ours["parameters"] if p["known_from"] in known]}
    return signature(row)


def made_parameters(difference: Difference, sources: Sources) -> bool:
    """Return whether we made the parameters of a class from its fields."""
    return ParameterSource.SYNTHESISED in _sources_of(difference)


def unfollowed(difference: Difference, sources: Sources) -> bool:
    """Return whether griffe does not find a base of the class, which is in the release, and so not what it hands on."""
    called = difference.what is What.PARAMETERS and difference.theirs is not None
    class_ = difference.theirs.made if called and difference.theirs else difference.owner
    if not isinstance(class_, griffe.Class) or (called and "__init__" in class_.members):
        return False
    classes = [class_, *class_.mro()]
    here = {c.path for c in classes}
    return difference.home.rpartition(".")[0] not in here - {class_.path if called else ""} and any(
        sources.split(_base(base))[0] and _base(base) not in here for c in classes for base in c.bases
    )


def helped(difference: Difference, sources: Sources) -> bool:
    """Return whether a decorator takes the parameters that griffe lacks, and no others differ."""
    if difference.theirs is None:
        return False
    told = signature_from(difference, ParameterSource.SIGNATURE)
    return told == difference.theirs.parameters and bool({"helper", "decorator"} & _sources_of(difference))


def mangled(difference: Difference, sources: Sources) -> bool:
    """Return whether of written parameters only private names differ, by the name of the class before them."""
    if difference.theirs is None or difference.ours is None:
        return False
    ours, theirs = signature_from(difference, ParameterSource.SIGNATURE), difference.theirs.parameters
    pairs = [(a[0], b[0]) for a, b in zip(ours, theirs, strict=False) if a != b]
    same = len(ours) == len(theirs) and all(a[1:] == b[1:] for a, b in zip(ours, theirs, strict=True))
    return same and all(b.startswith("__") and a.startswith("_") and a.endswith(b) for a, b in pairs)


def overloads_only(difference: Difference, sources: Sources) -> bool:
    """Return whether the function, or what makes an instance of the class, is defined by overloads alone."""
    homes = [difference.home, *(f"{difference.home}.{name}" for name in ("__init__", "__new__"))]
    found = [b.node for home in homes for b in sources.bindings(home) if isinstance(b.node, ast.FunctionDef)]
    marks = [{ast.unparse(d).rpartition(".")[2] for d in node.decorator_list} for node in found]
    return bool(marks) and all("overload" in mark for mark in marks)


def _base(base: str | griffe.Expr) -> str:
    return base if isinstance(base, str) else base.canonical_path


def new(difference: Difference, sources: Sources) -> bool:
    """Return whether a class is called as its `__new__` says."""
    made = difference.theirs.made if difference.theirs else None
    if not isinstance(made, griffe.Class):
        return False
    return "__new__" in made.all_members


def kwargs(difference: Difference, sources: Sources) -> bool:
    """Return whether docstring, body or a base gave us the parameters that griffe lacks, and no others differ.

    A body that refuses what is left in `**kwargs` leaves us without that one.
    """
    if difference.theirs is None:
        return False
    written = signature_from(difference, ParameterSource.SIGNATURE)
    *others, last = difference.theirs.parameters or [("", "", None, None)]
    if last[1] == "var_keyword" and written == tuple(others):
        nodes = [b.node for b in sources.bindings(difference.home)]
        constructors = (part for node in nodes if isinstance(node, ast.ClassDef) for part in node.body)
        functions = (node for node in (*nodes, *constructors) if isinstance(node, ast.FunctionDef))
        refused = re.compile(rf"(?:len\()?{last[0]}\b")
        ifs = (part for function in functions for part in ast.walk(function) if isinstance(part, ast.If))
        return any(refused.match(ast.unparse(part.test)) and isinstance(part.body[-1], ast.Raise) for part in ifs)
    return written == difference.theirs.parameters and bool(_BEHIND_KWARGS & _sources_of(difference))


def only_raises(difference: Difference, sources: Sources) -> bool:
    """Return whether the name is a property whose every accessor does nothing but raise an AttributeError."""
    nodes = [b.node for b in sources.bindings(difference.home)]
    return bool(nodes) and all(isinstance(n, ast.FunctionDef) and n.decorator_list and _refuses(n) for n in nodes)


def _refuses(node: ast.FunctionDef) -> bool:
    *said, last = node.body
    told = all(isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) for statement in said)
    return (
        told and isinstance(last, ast.Raise) and re.match(r"raise Attribute\w*Error\b", ast.unparse(last)) is not None
    )


def made_property(difference: Difference, sources: Sources) -> bool:
    """Return whether what is a property for us has a decorator whose name says that it makes one, or a call does."""
    ours = difference.ours is not None and difference.ours["kind"] == SymbolKind.PROPERTY
    bound_to = [b.node for b in sources.bindings(difference.home)]
    nodes = [node for node in bound_to if isinstance(node, ast.FunctionDef)]
    decorators = [ast.unparse(d).lower() for node in nodes for d in node.decorator_list]
    assigned = (node.value for node in bound_to if isinstance(node, ast.Assign))
    if ours and any(isinstance(call, ast.Call) and ast.unparse(call.func) == "property" for call in assigned):
        return True
    return ours and any(word in decorator for word in _OF_PROPERTIES for decorator in decorators)
