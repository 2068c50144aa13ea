"""The surfaces of a library's releases as tables: `symbols` and `documents`, interval coded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from pipeline.lake import Output, Reject, Row, chains, encode, sha256_json
from pipeline.surface.model import Surface
from pipeline.terms import SymbolKind

# Where something stands does not belong to its state: in an sdist the folder's name has the version in it.
_PLACE = frozenset({"file", "line", "library"})


def surface_stage(releases: Sequence[Row], surface_of: Callable[[Row], Surface]) -> Output:
    """Make the `symbols` and `documents` rows of a library out of the surfaces of its releases.

    The unit counted is a module of a release; a module whose file does not parse is rejected under
    "version file".
    """
    surfaces = {release["version"]: surface_of(release) for release in releases}
    library = releases[0]["library"] if releases else ""
    runs = chains(releases)
    symbols = {version: _by_path(rows, library) for version, rows in state_rows(surfaces).items()}
    documents = {version: _by_path(surface.documents, library) for version, surface in surfaces.items()}
    rejects = [
        Reject(f"{version} {problem.key}", problem.reason, problem.detail)
        for version, surface in surfaces.items()
        for problem in surface.problems
    ]
    seen = sum(surface.modules for surface in surfaces.values())
    tables = {"symbols": encode(runs, symbols, _state), "documents": encode(runs, documents, _state)}
    return Output(tables, seen=seen, made=seen - len(rejects), rejects=rejects)


def state_rows(surfaces: Mapping[str, Surface]) -> dict[str, list[Row]]:
    """Return the symbol rows of each version, with the paths that are public in another version only.

    A path that a later release merely imports, without making it public, still works for those who used it: it is
    a row there too (PublicBecause.IMPORTED), so that it does not look removed.
    """
    public = {row["path"] for surface in surfaces.values() for row in surface.symbols}
    states: dict[str, list[Row]] = {}
    for version, surface in surfaces.items():
        wanted = public | _under_own_name(public, surface)
        rows = [*surface.symbols, *(row for row in surface.importable if row["path"] in wanted)]
        states[version] = sorted(rows, key=lambda row: str(row["path"]))
    return states


def _under_own_name(paths: Set[str], surface: Surface) -> set[str]:
    """Return what paths below a second name of a module are below its own name, as numpy.core.defchararray."""
    own = {row["path"]: row["canonical_path"] for row in surface.symbols if row["kind"] == SymbolKind.ALIAS}
    split = (path.rpartition(".") for path in paths)
    return {f"{own[parent]}.{name}" for parent, _, name in split if parent in own}


def _by_path(rows: Sequence[Row], library: str) -> dict[str, Row]:
    return {row["path"]: {"library": library, **row} for row in rows}


def _state(row: Row) -> str:
    return sha256_json({key: value for key, value in row.items() if key not in _PLACE})
