"""Names that are bound in branches: which binding each of two readers of a release takes, as the sources have it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.api.surface.griffe_differences import Difference, What
from tests.api.surface.griffe_evidence import Binding, Branch, Sources

_TYPING_CALLS = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple", "NewType"})
_EITHER = frozenset({Branch.IF, Branch.ELSE})


def places(difference: Difference, sources: Sources) -> list[str]:
    """Return the path of a difference, where imports lead from it, and where either side says that it stands."""
    theirs = [difference.theirs.canonical_path] if difference.theirs is not None else []
    return sorted({*sources.way(difference.path), difference.home, *theirs})


def bindings(difference: Difference, sources: Sources) -> list[Binding]:
    """Return what binds the name at its path, and where either side says that it stands."""
    return [binding for place in places(difference, sources) for binding in sources.bindings(place)]


def taken(difference: Difference, sources: Sources) -> Iterator[tuple[Binding, list[Binding]]]:
    """Yield what griffe took for the name, known by its line, with all that binds the name in that place."""
    state = difference.theirs
    lines = {difference.path: state.line} if state is not None else {}
    if state is not None and state.made is not None:
        lines |= {state.canonical_path: state.made.lineno}
    for place, line in lines.items():
        found = sources.bindings(place)
        yield from ((binding, found) for binding in found if binding.line == line)


def handler(difference: Difference, sources: Sources) -> bool:
    """Return whether griffe took what an `except` branch binds, or annotates, in place of what is bound elsewhere.

    What only `except` branches bind has no row, as it may not be there.
    """
    absent = difference.what is What.ONLY_GRIFFE
    annotated = difference.what is What.RETURNS
    for binding, found in taken(difference, sources):
        fallbacks = [b for b in found if Branch.HANDLER in b.branches and (not annotated or _is_annotated(b))]
        if absent == (len(fallbacks) == len(found)) and (binding in fallbacks or (annotated and fallbacks)):
            return True
    return False


def _is_annotated(binding: Binding) -> bool:
    return isinstance(binding.node, ast.AnnAssign | ast.FunctionDef | ast.AsyncFunctionDef)


def other_branch(difference: Difference, sources: Sources) -> bool:
    """Return whether a branch of an `if` and its other branch, or what is outside, bind the name that griffe took.

    Where griffe has nothing, or a member of a class that is itself bound in several, the name or its class must be.
    """
    took = list(taken(difference, sources))
    if any(_is_alternative(binding, found) for binding, found in took):
        return True
    if difference.what is What.ONLY_GRIFFE and any(_is_of_python2(binding) for binding, _ in took):
        return True
    owners = [place.rpartition(".")[0] for place in places(difference, sources)]
    classes = [sources.bindings(owner) for owner in owners if sources.class_bodies(owner)]
    absent = [sources.bindings(place) for place in places(difference, sources)] if difference.theirs is None else []
    return any(_is_alternative(binding, found) for found in [*classes, *absent] for binding in found)


def _is_of_python2(binding: Binding) -> bool:
    """Return whether a name is bound under `if PY2`."""
    tests = (place.test for place, branch in binding.within if isinstance(place, ast.If) and branch is Branch.IF)
    return any(isinstance(test, ast.Name) and test.id == "PY2" for test in tests)


def _is_alternative(binding: Binding, found: list[Binding]) -> bool:
    """Return whether the name is bound once more, in another branch of an `if` or outside of it."""
    mine = {place for place in binding.within if place[1] in _EITHER}
    return any({place for place in other.within if place[1] in _EITHER} != mine for other in found)


def typing_only(difference: Difference, sources: Sources) -> bool:
    """Return whether a name that we lack is bound under TYPE_CHECKING, or is a TypeVar or an alias of a type.

    Of a name that both have, griffe must have taken what is bound there.
    """
    if difference.what is not What.ONLY_GRIFFE:
        return any(Branch.TYPING in binding.branches for binding, _ in taken(difference, sources))
    found = bindings(difference, sources)
    return any(Branch.TYPING in binding.branches or _is_typing(binding) for binding in found)


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


def typing_else(difference: Difference, sources: Sources) -> bool:
    """Return whether the name is bound in the `else` of TYPE_CHECKING."""
    found = [b for place in places(difference, sources) for b in sources.bindings(place)]
    return any(Branch.TYPING_ELSE in binding.branches for binding in found)


def program(difference: Difference, sources: Sources) -> bool:
    """Return whether a name is bound under `if __name__ == "__main__"`."""
    return any(Branch.PROGRAM in binding.branches for binding in bindings(difference, sources))


def scratch(difference: Difference, sources: Sources) -> bool:
    """Return whether a loop binds a name in passing, or `del` unbinds it."""
    found = bindings(difference, sources)
    looped = any(Branch.LOOP in binding.branches or isinstance(binding.node, ast.For) for binding in found)
    return looped or sources.deletes(difference.home)
