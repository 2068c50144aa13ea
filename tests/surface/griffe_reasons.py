"""Why our surface differs from griffe's: a closed list, each reason decided by what stands in the sources."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping

import griffe

from pipeline.terms import ParameterSource, SymbolKind, Term
from tests.surface.griffe_differences import Difference, What, signature
from tests.surface.griffe_evidence import Binding, Branch, Sources
from tests.surface.griffe_surface import Signature

_TYPING_CALLS = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple", "NewType"})


class Reason(Term):
    """Why a difference is meant; the meaning is the sentence of ARCHITECTURE.md."""

    BELOW = "below another", "a member of what differs itself: it comes, goes or stands with that"
    LAZY = "module __getattr__", "the module's `__getattr__` answers the name; griffe does not read it"
    REEXPORT = (
        "re-export of a package",
        "a package imports it into its `__init__`, where users import it; for griffe all imports are private",
    )
    ALL = (
        "__all__ that griffe does not read",
        "`__all__` is extended, sorted, or made as the module is imported; griffe reads literals, `+` and `+=`",
    )
    SHADOWED = (
        "a definition hides a module",
        "the package binds the name of its submodule to something else; in griffe's tree the module wins",
    )
    UNSEEN = (
        "compiled, or made at import",
        "the package imports it from a module that no source shows: we have an opaque row",
    )
    OTHER_BRANCH = (
        "another branch runs",
        "the name is bound in several branches: we take the one that runs on Python 3.11, griffe the last",
    )
    HANDLER = (
        "fallback",
        "an `except` branch binds it in place of what may be missing: we take the real one, griffe the last",
    )
    TYPING_ONLY = (
        "for type checkers only",
        "it is bound under TYPE_CHECKING, or a TypeVar or alias of a type that is not in `__all__`",
    )
    PROGRAM = "of a program", "it is bound under `if __name__ == '__main__'`"
    SCRATCH = "scratch", "a loop binds it in passing, or `del` unbinds it"
    BORROWED = (
        "another library's",
        "an assignment or star import gives the module a name of the standard library or of another distribution",
    )
    LATER = (
        "a name bound later in the class",
        "griffe is right: in a class body `new = old` above `def old` is the module's `old`, and we take the method",
    )
    SECOND_NAME = (
        "second name",
        "`new = old` gives a class or function a second name: an alias for us, an attribute for griffe",
    )
    SET_ELSEWHERE = (
        "set outside __init__",
        "a method other than `__init__` sets the attribute, or an assignment below the class",
    )
    FIELDS = "fields", "`__slots__` or `namedtuple(…)` declares it"
    MADE_PARAMETERS = (
        "parameters made of fields",
        "the class is a NamedTuple, attrs or pydantic class, or a dataclass, whose parameters are its fields",
    )
    NEW = "__new__", "the class has no `__init__`; it is called as its `__new__` says"
    KWARGS = "behind **kwargs", "the docstring or the body says which parameters `**kwargs` takes"
    UNPACKED = "unpacked", "one assignment binds several names in a class body; griffe reads those of a module"
    PROPERTY = "property", "a decorator that griffe does not know makes a property"
    STUB = (
        "stub",
        "a stub stands beside the source: it adds for us what the source leaves open, and replaces it for griffe",
    )
    REBOUND = "imported, then bound", "the module binds the name again after importing it: its own, and public"


def _bindings(difference: Difference, sources: Sources) -> list[Binding]:
    """Return what binds the name at its path, and where either side says that it stands."""
    places = {difference.path, difference.home}
    if difference.theirs is not None:
        places.add(difference.theirs.canonical_path)
    return [binding for place in sorted(places) for binding in sources.bindings(place)]


def _lazy(difference: Difference, sources: Sources) -> bool:
    module, _, name = difference.path.rpartition(".")
    modules = [module, difference.home.rpartition(".")[0], *sources.star_sources(module)]
    return any({"__getattr__", name} <= sources.words(other) for other in modules)


def _reexport(difference: Difference, sources: Sources) -> bool:
    package = difference.path.rpartition(".")[0]
    imported = any(isinstance(b.node, ast.Import | ast.ImportFrom) for b in sources.bindings(difference.path))
    return difference.what is What.PUBLIC and sources.is_package(_real(package, sources)) and imported


def _real(module: str, sources: Sources) -> str:
    return module if sources.has(module) else ""


def _unread_all(difference: Difference, sources: Sources) -> bool:
    module, _ = sources.split(difference.path.rpartition(".")[0])
    return any(_is_unread(sources, other) for other in {module, *sources.star_sources(module)})


@functools.cache
def _is_unread(sources: Sources, module: str) -> bool:
    tree = sources.tree(module)
    return tree is not None and any(_changes_all(node) for node in ast.walk(tree))


def _changes_all(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="__all__"))):
            return True
        case (
            ast.Assign(targets=[ast.Name(id="__all__")], value=value)
            | ast.AugAssign(target=ast.Name(id="__all__"), value=value)
        ):
            plain = (
                ast.List,
                ast.Tuple,
                ast.Constant,
                ast.BinOp,
                ast.Add,
                ast.Attribute,
                ast.Name,
                ast.Load,
                ast.Starred,
            )
            names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
            modules = {
                n.value.id for n in ast.walk(value) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
            }
            return not all(isinstance(n, plain) for n in ast.walk(value)) or bool(names - modules)
    return False


def _shadowed(difference: Difference, sources: Sources) -> bool:
    if sources.has(difference.home):
        return False
    *_, module, name = ["", *difference.home.split(".")]
    if difference.theirs is None:
        return module == name
    return sources.has(difference.theirs.canonical_path)


def _unseen(difference: Difference, sources: Sources) -> bool:
    opaque = difference.ours is not None and "opaque" in difference.ours["labels"]
    return opaque and not sources.bindings(difference.home)


def _other_branch(difference: Difference, sources: Sources) -> bool:
    found = [*_bindings(difference, sources), *sources.bindings(difference.home.rpartition(".")[0])]
    return any({Branch.IF, Branch.ELSE} & {*binding.branches} for binding in found)


def _handler(difference: Difference, sources: Sources) -> bool:
    return any({Branch.HANDLER, Branch.TRY} & {*binding.branches} for binding in _bindings(difference, sources))


def _typing_only(difference: Difference, sources: Sources) -> bool:
    found = _bindings(difference, sources)
    return bool(found) and any(Branch.TYPING in binding.branches or _is_typing(binding) for binding in found)


def _is_typing(binding: Binding) -> bool:
    match binding.node:
        case ast.AnnAssign(annotation=annotation) if ast.unparse(annotation).endswith("TypeAlias"):
            return True
    match binding.value:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _TYPING_CALLS
        case ast.Subscript():
            return True
    return False


def _program(difference: Difference, sources: Sources) -> bool:
    return any(Branch.PROGRAM in binding.branches for binding in _bindings(difference, sources))


def _scratch(difference: Difference, sources: Sources) -> bool:
    found = _bindings(difference, sources)
    looped = any(Branch.LOOP in binding.branches or isinstance(binding.node, ast.For) for binding in found)
    return looped or sources.deletes(difference.home)


def _borrowed(difference: Difference, sources: Sources) -> bool:
    if difference.theirs is not None and difference.theirs.kind == "unresolved":
        return not sources.has(difference.theirs.canonical_path.split(".")[0])
    return any(_is_foreign(binding, sources, difference) for binding in _bindings(difference, sources))


def _is_foreign(binding: Binding, sources: Sources, difference: Difference) -> bool:
    match binding.value:
        case ast.Attribute() | ast.Name():
            module, _ = sources.split(difference.home)
            first = ast.unparse(binding.value).split(".")[0]
            return any(isinstance(b.node, ast.Import | ast.ImportFrom) for b in sources.bindings(f"{module}.{first}"))
    return False


def _later(difference: Difference, sources: Sources) -> bool:
    place = difference.theirs.canonical_path if difference.theirs is not None else ""
    values = [b for b in sources.bindings(place) if isinstance(b.value, ast.Name)]
    owner = place.rpartition(".")[0]
    inside = bool(sources.class_bodies(owner))
    return inside and any(
        other.node.lineno > binding.node.lineno
        for binding in values
        for other in sources.bindings(f"{owner}.{ast.unparse(binding.value)}" if binding.value else "")
    )


def _second_name(difference: Difference, sources: Sources) -> bool:
    places = [difference.path, *([difference.theirs.canonical_path] if difference.theirs else [])]
    found = [binding for place in places for binding in sources.bindings(place)]
    if any(isinstance(binding.value, ast.Name | ast.Attribute) for binding in found):
        return True
    # a class that derives from one by its second name inherits nothing for griffe
    owner = difference.home.rpartition(".")[0]
    return difference.what is What.ONLY_OURS and owner.rpartition(".")[2] in sources.named_twice(
        sources.split(owner)[0]
    )


def _set_elsewhere(difference: Difference, sources: Sources) -> bool:
    owner, _, name = difference.home.rpartition(".")
    module, _ = sources.split(owner)
    if any(name in _set_by_methods(body) for body in sources.class_bodies(owner)):
        return True
    return (owner.rpartition(".")[2], name) in _put_into_classes(sources, module)


@functools.cache
def _set_by_methods(body: ast.ClassDef) -> frozenset[str]:
    methods = (m for m in ast.walk(body) if isinstance(m, ast.FunctionDef | ast.AsyncFunctionDef))
    nodes = (node for method in methods if method.name != "__init__" for node in ast.walk(method))
    return frozenset(n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))


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


def _unpacked(difference: Difference, sources: Sources) -> bool:
    assigned = [b.node for b in sources.bindings(difference.home) if isinstance(b.node, ast.Assign)]
    return any(isinstance(target, ast.Tuple | ast.List) for node in assigned for target in node.targets)


def _fields(difference: Difference, sources: Sources) -> bool:
    owner, _, name = difference.home.rpartition(".")
    for body in sources.class_bodies(owner):
        for node in ast.walk(body):
            slots = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__slots__"
            if slots and name in {c.value for c in ast.walk(node) if isinstance(c, ast.Constant)}:
                return True
        if any("namedtuple" in ast.unparse(base).lower() for base in body.bases):
            return True
    return any(
        "namedtuple(" in ast.unparse(b.node).lower()
        for b in [*sources.bindings(owner), *sources.bindings(difference.home)]
    )


def _sources_of(difference: Difference) -> set[str]:
    return {str(p["known_from"]) for p in difference.ours["parameters"]} if difference.ours else set()


def _signature_from(difference: Difference, *known: ParameterSource) -> Signature:
    assert difference.ours is not None
    row = {"parameters": [p for p in difference.ours["parameters"] if p["known_from"] in known]}
    return signature(row)


def _made_parameters(difference: Difference, sources: Sources) -> bool:
    return difference.what is What.PARAMETERS and ParameterSource.SYNTHESISED in _sources_of(difference)


def _new(difference: Difference, sources: Sources) -> bool:
    made = difference.theirs.made if difference.theirs else None
    if difference.what is not What.PARAMETERS or not isinstance(made, griffe.Class):
        return False
    return "__new__" in made.all_members


def _kwargs(difference: Difference, sources: Sources) -> bool:
    if difference.what is not What.PARAMETERS or difference.theirs is None:
        return False
    told = _signature_from(difference, ParameterSource.SIGNATURE)
    return told == difference.theirs.parameters and bool({"kwargs", "docstring"} & _sources_of(difference))


def _property(difference: Difference, sources: Sources) -> bool:
    ours = difference.ours is not None and difference.ours["kind"] == SymbolKind.PROPERTY
    nodes = [b.node for b in sources.bindings(difference.home) if isinstance(b.node, ast.FunctionDef)]
    return ours and any("property" in ast.unparse(d).lower() for node in nodes for d in node.decorator_list)


def _stub(difference: Difference, sources: Sources) -> bool:
    places = {difference.path, difference.home, difference.theirs.canonical_path if difference.theirs else ""}
    return any(sources.has_stub(sources.split(place)[0]) for place in places)


def _rebound(difference: Difference, sources: Sources) -> bool:
    kinds = [isinstance(b.node, ast.Import | ast.ImportFrom) for b in sources.bindings(difference.path)]
    return difference.what is What.PUBLIC and True in kinds and False in kinds


_PREDICATES: dict[Reason, Callable[[Difference, Sources], bool]] = {
    Reason.LAZY: lambda d, s: d.what is What.ONLY_OURS and _lazy(d, s),
    Reason.REBOUND: _rebound,
    Reason.REEXPORT: _reexport,
    Reason.SHADOWED: _shadowed,
    Reason.PROGRAM: _program,
    Reason.SCRATCH: lambda d, s: d.what is What.ONLY_GRIFFE and _scratch(d, s),
    Reason.PROPERTY: _property,
    Reason.MADE_PARAMETERS: _made_parameters,
    Reason.KWARGS: _kwargs,
    Reason.NEW: _new,
    Reason.HANDLER: _handler,
    Reason.TYPING_ONLY: _typing_only,
    Reason.OTHER_BRANCH: _other_branch,
    Reason.BORROWED: lambda d, s: d.what is What.ONLY_GRIFFE and _borrowed(d, s),
    Reason.SET_ELSEWHERE: lambda d, s: (
        d.ours is not None and d.ours["kind"] == SymbolKind.ATTRIBUTE and _set_elsewhere(d, s)
    ),
    Reason.UNPACKED: lambda d, s: d.what is What.ONLY_OURS and _unpacked(d, s),
    Reason.FIELDS: _fields,
    Reason.LATER: lambda d, s: d.what is What.CANONICAL and _later(d, s),
    Reason.SECOND_NAME: _second_name,
    Reason.ALL: lambda d, s: d.what in (What.ONLY_OURS, What.PUBLIC) and _unread_all(d, s),
    Reason.STUB: _stub,
    Reason.UNSEEN: _unseen,
}


def reason_of(difference: Difference, sources: Sources, above: Mapping[str, Difference]) -> Reason | None:
    """Return the first reason that the sources give for a difference; `above` are those of presence, by path."""
    for reason, holds in _PREDICATES.items():
        if holds(difference, sources):
            return reason
    parent = difference.path.rpartition(".")[0]
    return Reason.BELOW if parent in above else None
