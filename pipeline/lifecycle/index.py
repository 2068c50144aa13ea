"""The symbols of one release, by path: what a path leads to, through aliases, and what is not known."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence

from pipeline.lake import Row
from pipeline.surface import DYNAMIC, EXTENDS, STARS, UNPARSED, UNPARSED_MODULE
from pipeline.terms import PublicBecause, SymbolKind

_POINTERS = frozenset({SymbolKind.ALIAS})
_UNSEEN = frozenset({SymbolKind.EXTERNAL, SymbolKind.LAZY, SymbolKind.ATTRIBUTE})


class Index:
    """The symbol rows of one release; every row stands for the state of its path there."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = {row["path"]: row for row in sorted(rows, key=lambda row: str(row["path"]))}
        self._below: dict[str, list[Row]] | None = None
        self.owners: dict[str, Row] = {}
        for row in self.rows.values():
            known = self.owners.get(row["canonical_path"])
            if row["kind"] not in _POINTERS and (known is None or _rank(row) < _rank(known)):
                self.owners[row["canonical_path"]] = row
        modules = (row for row in self.rows.values() if row["kind"] == SymbolKind.MODULE)
        self.unparsed = frozenset(name for row in modules for name in _labelled(row, UNPARSED_MODULE))

    def find(self, path: str) -> Row | None:
        """Return the row with the state of a path: its own, or that of what it is another name of."""
        return self._find(path, 0)

    def _find(self, path: str, depth: int) -> Row | None:
        row = self.rows.get(path)
        if row is not None:
            return self.owners.get(row["canonical_path"], row) if row["kind"] in _POINTERS else row
        parent, _, name = path.rpartition(".")
        if not parent or depth > path.count("."):
            return None
        above = self._above(parent, depth)
        return self._find(f"{above['path']}.{name}", depth + 1) if above and above["path"] != parent else None

    def _above(self, parent: str, depth: int) -> Row | None:
        row = self.rows.get(parent)
        if row is not None and row["kind"] not in _POINTERS:
            return row
        return self._find(parent, depth + 1)

    def unknown(self, path: str) -> bool:
        """Return whether the release may have a path without our seeing it.

        So it is below a module that does not parse, a name that another distribution defines, or one that a call
        made (`ns = IntEnum("ns", names)`).
        """
        parent = path.rpartition(".")[0]
        while parent:
            row = self.find(parent)
            if row is not None and (row["kind"] in _UNSEEN or UNPARSED in row["labels"]):
                return True
            parent = parent.rpartition(".")[0]
        return False

    def in_unparsed(self, canonical: str) -> bool:
        """Return whether a canonical path is that of a module whose file does not parse, or below one."""
        segments = canonical.split(".")
        return any(".".join(segments[: n + 1]) in self.unparsed for n in range(len(segments)))

    def sources_unseen(self, path: str) -> frozenset[str]:
        """Return where the module at a path may have names from that we do not see.

        So may the modules that it star-imports, and a `__getattr__` of its own that does not tell its names.
        """
        module = self.find(path)
        if module is None or module["kind"] != SymbolKind.MODULE:
            return frozenset()
        return frozenset([*_labelled(module, STARS), *(label for label in module["labels"] if label == DYNAMIC)])

    def below(self, path: str) -> list[Row]:
        """Return the rows of the public members right below a path."""
        if self._below is None:
            self._below = {}
            for row in self.rows.values():
                self._below.setdefault(row["path"].rpartition(".")[0], []).append(row)
        return self._below.get(path, [])

    def alive(self, path: str) -> bool:
        """Return whether the release has a path for certain."""
        return self.find(path) is not None

    def outside_bases(self, path: str) -> list[str]:
        """Return the bases from other distributions of the class that a member's path stands in."""
        class_ = self._class_of(path)
        return _labelled(class_, EXTENDS) if class_ is not None else []

    def dynamic(self, path: str) -> bool:
        """Return whether the class that a member's path stands in answers names in its `__getattr__`."""
        class_ = self._class_of(path)
        return class_ is not None and DYNAMIC in class_["labels"]

    def _class_of(self, path: str) -> Row | None:
        class_ = self.find(path.rpartition(".")[0])
        return class_ if class_ is not None and class_["kind"] == SymbolKind.CLASS else None


def _labelled(row: Row, prefix: str) -> list[str]:
    """Return what the labels with a prefix name."""
    return [label.removeprefix(prefix) for label in row["labels"] if label.startswith(prefix)]


def _rank(row: Row) -> tuple[bool, int, str]:
    """Order the rows of one definition: where it stands itself, then fewest segments, then letters."""
    inherited = row["public_because"] == PublicBecause.INHERITED
    return inherited, row["path"].count("."), row["path"]


@functools.cache
def standard_members(base: str, modules: tuple[str, ...]) -> frozenset[str] | None:
    """Return the members of a class of the standard library, or None if it is not among those that may be asked."""
    module, _, name = base.rpartition(".")
    for candidate in [module] if module else ["builtins"]:
        if candidate in modules:
            found = getattr(importlib.import_module(candidate), name, None)
            return frozenset(dir(found)) if isinstance(found, type) else None
    return None
