"""The public names of a library's releases: whether who knows another release knows a name as well."""

from __future__ import annotations

from collections.abc import Iterable

from packaging.version import Version

from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.lake.reads import Read
from pipeline.lake.rows import ReleaseRow, SymbolRow
from pipeline.quality.acceptance.quality import QualityRules

OF_PLACES = Read("symbols", ("path", "kind", "canonical_path", "first_version", "last_version"))
"""The columns of `symbols` that names are made of."""


class PublicNames:
    """The public paths of a library's releases."""

    def __init__(self, symbols: Iterable[SymbolRow], releases: Iterable[ReleaseRow]) -> None:
        symbols = list(symbols)
        versions = sorted((row["version"] for row in releases), key=Version)
        self._rank = {version: rank for rank, version in enumerate(versions)}
        self._states = [
            (row["path"], (row["kind"], row["canonical_path"]), row["first_version"], row["last_version"])
            for row in symbols
        ]
        self._modules = {row["path"] for row in symbols if row["kind"] == SymbolKind.MODULE}
        self._paths: dict[str, dict[str, tuple[str, str]]] = {}

    def has_name(self, path: str, other: str) -> bool:
        """Return whether another release has the name of a path: at the path, or where `only_place_differs`."""
        return path in self._of(other) or self.only_place_differs(path, other)

    def only_place_differs(self, path: str, other: str) -> bool:
        """Return whether another release lacks a path, and has its name in a place where it may be the same API.

        That is any place if the other release lacks the module or class of the path, and else, for a path of a module,
        another module (`sqlalchemy.Engine`, where the other has `sqlalchemy.engine.Engine`). The prompt gives the
        module or class, so that the name is the same for who knows only the other release.
        """
        place, _, name = path.rpartition(".")
        paths = self._of(other)
        if path in paths:
            return False
        places = {parent for parent, _, its_name in (there.rpartition(".") for there in paths) if its_name == name}
        if any(f"{there}.".startswith(f"{place}.") for there in paths):
            places = places & self._modules if place in self._modules else set()
        return bool(places)

    def has_last_name(self, path: str, other: str) -> bool:
        """Return whether another release has the last name of a path in any module or class."""
        name = path.rpartition(".")[2]
        return any(there.rpartition(".")[2] == name for there in self._of(other))

    def kind_of(self, path: str, version: str) -> str | None:
        """Return the kind of an API, by whichever of its paths; None where the release has nothing public there."""
        paths = self._of(version)
        kind, definition = paths.get(path, (None, None))
        if kind != SymbolKind.ALIAS:
            return kind
        kinds = (other for other, place in paths.values() if place == definition)
        return next((other for other in kinds if other != SymbolKind.ALIAS), None)

    def some_is_common(self, paths: Iterable[str], version: str, rules: QualityRules) -> bool:
        """Return whether one of the APIs is a function with a name that anybody would write (`common_functions`)."""
        functions = (path for path in paths if self.kind_of(path, version) == SymbolKind.FUNCTION)
        return any(rules.is_common_function(path.rpartition(".")[2]) for path in functions)

    def _of(self, version: str) -> dict[str, tuple[str, str]]:
        """Return the paths of a release, each with its kind and where its definition stands."""
        if version not in self._paths:
            rank = self._rank[version]
            self._paths[version] = {
                path: state
                for path, state, first, last in self._states
                if self._rank[first] <= rank and (last is None or rank <= self._rank[last])
            }
        return self._paths[version]
