"""How far an API reaches: whether a library offers a path to its users, or only does not hide it.

Code breaks by a change of what people use. A library lists what it offers (`__all__`, imports into a package), writes
docstrings for it, and warns before it takes something away. Names that have none of this are public by spelling
alone: `UNLISTED` if the `__all__` of their module leaves them out, else `INTERNAL`.
"""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.api.history.index import Index
from pipeline.core.vocabularies.changes import OFFERED, Reach
from pipeline.core.vocabularies.surface import PublicBecause, SourceKind, SymbolKind
from pipeline.lake.rows import SymbolState

_LISTED = frozenset({PublicBecause.ROOT, PublicBecause.DUNDER_ALL, PublicBecause.REEXPORT, PublicBecause.GETATTR})
_WITHOUT_DOCSTRINGS = frozenset({SourceKind.PYI, SourceKind.COMPILED, SourceKind.INSPECTED})
"""Sources that lack the docstrings which the library may have all the same."""


def reach_of(path: str, index: Index) -> Reach:
    """Return how far a path reaches in a release: that of the API of a module that it is, or is a member of.

    A member of a class that is listed is listed. One that is marked as deprecated itself is documented by that mark.
    """
    marked = _is_marked(path, index)
    while True:
        row = index.rows.get(path)
        parent = path.rpartition(".")[0]
        above = index.find(parent) if parent else None
        if above is None or above["kind"] == SymbolKind.MODULE:
            break
        path = parent
    reach = _of_module_member(path, row, index) if row is not None else Reach.INTERNAL
    return Reach.DOCUMENTED if marked and reach not in OFFERED else reach


def _is_marked(path: str, index: Index) -> bool:
    return any(row is not None and row["deprecation"] is not None for row in (index.rows.get(path), index.find(path)))


def _of_module_member(path: str, row: SymbolState, index: Index) -> Reach:
    """Return how far a name of a module reaches; those of a top-level module are listed by being there."""
    state = index.find(path) or row
    parent = path.rpartition(".")[0]
    if row["public_because"] == PublicBecause.UNLISTED:
        return Reach.INTERNAL if index.implements(parent) else Reach.UNLISTED
    # import names may have dots: nothing of the release is above `google.cloud.storage`
    if row["public_because"] in _LISTED or not index.alive(parent.rpartition(".")[0]):
        return Reach.LISTED
    module = path if state["kind"] == SymbolKind.MODULE else path.rpartition(".")[0]
    if index.implements(module):
        return Reach.INTERNAL
    documented = state["docstring_sha256"] is not None or state["source"] in _WITHOUT_DOCSTRINGS
    own = Reach.DOCUMENTED if documented else Reach.INTERNAL
    inside = index.below(path) if state["kind"] == SymbolKind.MODULE else ()
    return farthest([own, *(reach_of(member["path"], index) for member in inside)])


def farthest(reaches: Iterable[Reach]) -> Reach:
    """Return the farthest of some reaches, of which there is at least one."""
    return min(reaches, key=list(Reach).index)
