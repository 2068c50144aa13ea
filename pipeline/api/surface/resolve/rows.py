"""The rows of one release, made of records: which path of a definition has its state, and what the state says."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.api.surface.parse.module_model import Definition, Mark
from pipeline.api.surface.resolve.public import PublicName
from pipeline.core.vocabularies.surface import PublicBecause, SourceKind, SymbolKind
from pipeline.lake.rows import SymbolState


def preferred_paths(names: Iterable[PublicName]) -> dict[str, str]:
    """Return the public path of each definition: of fewest segments, then where it stands, then by letters.

    An unlisted path comes last, before it one by which access is deprecated, and before that one of another top-level
    package: `pylab` passes all of Matplotlib on by a star import.
    """
    best: dict[str, PublicName] = {}
    for public in names:
        if public.resolution.definition is not None and not public.lazy:
            current = best.get(public.resolution.path)
            if current is None or _rank(public) < _rank(current):
                best[public.resolution.path] = public
    return {canonical: public.path for canonical, public in best.items()}


def _rank(public: PublicName) -> tuple[bool, bool, bool, int, bool, str]:
    path, canonical = public.path, public.resolution.path
    elsewhere = path.partition(".")[0] != canonical.partition(".")[0]
    unlisted = public.because is PublicBecause.UNLISTED
    return unlisted, public.mark is not None, elsewhere, path.count("."), path != canonical, path


def kind_of(definition: Definition, *, member: bool = False) -> SymbolKind:
    """Return what a definition is called in a row, as a member of a class or of a module."""
    if definition.kind == "function":
        return SymbolKind.METHOD if member else SymbolKind.FUNCTION
    return SymbolKind(definition.kind)


def defined_row(
    path: str, canonical: str, kind: SymbolKind, because: PublicBecause, file: str, source: SourceKind, of: Definition
) -> SymbolState:
    """Return a row with the columns that come from a definition as they are."""
    return {
        **bare_row(path, canonical, kind, because, file, source),
        "returns": of.returns,
        "value": of.value,
        "bases": of.bases,
        "decorators": of.decorators,
        "labels": of.labels,
        "overloads": of.overloads,
        "body_sketch": of.sketch,
        "deprecation": of.deprecation,
    }


def bare_row(
    path: str, canonical: str, kind: SymbolKind, because: PublicBecause, file: str, source: SourceKind
) -> SymbolState:
    """Return a row that says where a path leads and nothing of its state."""
    nothing: Mark | None = None
    return {
        "path": path,
        "canonical_path": canonical,
        "kind": kind,
        "public_because": because,
        "parameters": [],
        "returns": None,
        "value": None,
        "bases": [],
        "decorators": [],
        "labels": [],
        "overloads": [],
        "docstring_sha256": None,
        "docstring_sketch": [],
        "body_sketch": [],
        "deprecation": nothing,
        "file": file,
        "source": source,
    }
