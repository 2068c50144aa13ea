"""The public names of a library's releases: whether who knows another release knows a name as well."""

from __future__ import annotations

from collections.abc import Iterable

from packaging.version import Version

from pipeline.lake.reads import Read
from pipeline.lake.rows import ReleaseRow, SymbolRow

OF_PLACES = Read("symbols", ("path", "first_version", "last_version"))
"""The columns of `symbols` that names are made of."""


class PublicNames:
    """The public paths of a library's releases."""

    def __init__(self, symbols: Iterable[SymbolRow], releases: Iterable[ReleaseRow]) -> None:
        versions = sorted((row["version"] for row in releases), key=Version)
        self._rank = {version: rank for rank, version in enumerate(versions)}
        self._states = [(row["path"], row["first_version"], row["last_version"]) for row in symbols]
        self._paths: dict[str, frozenset[str]] = {}

    def has_name(self, path: str, other: str) -> bool:
        """Return whether another release has the name of a path: at the path, or where `only_place_differs`."""
        return path in self._of(other) or self.only_place_differs(path, other)

    def only_place_differs(self, path: str, other: str) -> bool:
        """Return whether another release lacks the module or class of a path, and has its name in another place.

        The prompt gives the module or class, so that the name is the same for who knows only the other release.
        """
        place, _, name = path.rpartition(".")
        paths = self._of(other)
        if any(f"{path_there}.".startswith(f"{place}.") for path_there in paths):
            return False
        return any(path_there.rpartition(".")[2] == name for path_there in paths)

    def _of(self, version: str) -> frozenset[str]:
        if version not in self._paths:
            rank = self._rank[version]
            self._paths[version] = frozenset(
                path
                for path, first, last in self._states
                if self._rank[first] <= rank and (last is None or rank <= self._rank[last])
            )
        return self._paths[version]
