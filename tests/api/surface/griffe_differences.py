"""Where our surface of a release and griffe's tree of it differ: every path that only one has, every fact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import griffe

from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.core.vocabularies.term import Term
from tests.api.surface.griffe_surface import Signature, State, class_states, module_states

_NO_STATE = (SymbolKind.ALIAS, SymbolKind.EXTERNAL, SymbolKind.LAZY)
_KINDS = {SymbolKind.METHOD: "function", SymbolKind.EXTERNAL: "unresolved"}


class What(Term):
    """What two readers say differently of a path."""

    ONLY_OURS = "only ours", "we have a row, griffe has nothing at this path"
    ONLY_GRIFFE = "only griffe's", "griffe calls it public, we have no row"
    PUBLIC = "public", "griffe has it and does not call it public, we have a row"
    CANONICAL = "canonical path", "where the definition stands"
    KIND = "kind", "module, class, function, property or attribute"
    PARAMETERS = "parameters", "names, kinds, defaults and annotations of the parameters"
    RETURNS = "returns", "return annotation, or annotation of an attribute"
    VALUE = "value", "value of an attribute"
    BASES = "bases", "bases of a class"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is said differently of a path, with all that either side says of the path."""

    path: str
    what: What
    ours: Any | None
    theirs: State | None
    owner: griffe.Object | None = None
    """What griffe has above the path."""

    @property
    def home(self) -> str:
        """Where the definition stands, by the side that has it, ours first."""
        return str(self.ours["canonical_path"]) if self.ours else self.theirs.canonical_path if self.theirs else ""


@dataclass(frozen=True, slots=True)
class Compared:
    """The paths that at least one side has for public, and where the sides differ about them."""

    paths: frozenset[str]
    differences: tuple[Difference, ...]


def compare(rows: Mapping[str, Any], modules: Iterable[griffe.Module]) -> Compared:
    """Compare the rows of a release with griffe's tree of it.

    An alias has no facts of its own on our side: there only where it leads is compared, and its target elsewhere.
    """
    states = _states(rows, modules)
    paths = {path for path, state in states.items() if state.public} | rows.keys()
    found = [
        replace(difference, owner=_above(path, states))
        for path in sorted(paths)
        for difference in _differences(path, rows.get(path), states.get(path))
    ]
    return Compared(frozenset(paths), tuple(found))


def _above(path: str, states: Mapping[str, State]) -> griffe.Object | None:
    state = states.get(path.rpartition(".")[0])
    return state.made if state is not None else None


def _states(rows: Mapping[str, Any], modules: Iterable[griffe.Module]) -> dict[str, State]:
    """Return griffe's states by path; of what we hold for a class or a module in a second place, what is below too."""
    found: dict[str, State] = {}
    waiting = [state for module in modules for state in module_states(module.path, module)]
    while waiting:
        state = waiting.pop()
        if state.path in found:
            continue
        found[state.path] = state
        kind = rows[state.path]["kind"] if state.path in rows else None
        if kind == SymbolKind.CLASS and isinstance(state.made, griffe.Class):
            waiting.extend(class_states(state.path, state.made))
        elif kind == SymbolKind.MODULE and isinstance(state.made, griffe.Module):
            waiting.extend(module_states(state.path, state.made))
    return found


def _differences(path: str, row: Any | None, state: State | None) -> Iterator[Difference]:
    if row is None or state is None:
        yield Difference(path, What.ONLY_GRIFFE if row is None else What.ONLY_OURS, row, state)
        return
    if not state.public:
        yield Difference(path, What.PUBLIC, row, state)
    if row["canonical_path"] != state.canonical_path:
        yield Difference(path, What.CANONICAL, row, state)
    if row["kind"] in _NO_STATE:
        return
    if _KINDS.get(row["kind"], row["kind"]) != state.kind:
        yield Difference(path, What.KIND, row, state)
        return
    yield from (Difference(path, what, row, state) for what, same in _facts(row, state) if not same)


def _facts(row: Any, state: State) -> Iterator[tuple[What, bool]]:
    yield What.PARAMETERS, signature(row) == state.parameters
    yield What.RETURNS, row["returns"] == state.returns
    cut = len(row["value"] or "")
    # ours is cut at a length of the rules
    yield What.VALUE, row["value"] == (state.value[:cut] if state.value and cut >= 200 else state.value)
    yield What.BASES, tuple(row["bases"]) == state.bases


def signature(row: Any) -> Signature:
    """Return the parameters of a row in the form of griffe's."""
    # a default that is the value `...` is told from one that a stub does not tell
    defaults = (("..." if p["default"] == "Ellipsis" else p["default"]) for p in row["parameters"])
    return tuple(
        (p["name"], str(p["kind"]), default, p["annotation"])
        for p, default in zip(row["parameters"], defaults, strict=True)
    )
