"""The public API of one version, as the finder of uses asks about it: what a path leads to and what a call gives."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence

from pipeline.lake import Row
from pipeline.surface import EXTENDS
from pipeline.terms import SymbolKind
from pipeline.usage.annotations import Stated, read_annotation
from pipeline.usage.values import UNKNOWN, Elements, Instance, Reference, Value

_CALLED = (SymbolKind.FUNCTION, SymbolKind.METHOD)
_HELD = (SymbolKind.ATTRIBUTE, SymbolKind.PROPERTY)


class Api:
    """Answers about the public paths of a library at one version.

    `symbols_at` maps each public path to its `symbols` row; `returns` adds what calls give and attributes hold where
    the library does not annotate it: a path, or a pattern of paths, to the path of a public class.
    """

    def __init__(
        self, symbols_at: Mapping[str, Row], import_names: Sequence[str], returns: Mapping[str, str] | None = None
    ) -> None:
        self.symbols = symbols_at
        self.roots = frozenset(import_names)
        self.returns = returns or {}
        self._parents = {path.rpartition(".")[0] for path in symbols_at}
        self._definitions: dict[str, str] = {}
        self._classes: dict[str, list[str]] = {}
        for path in sorted(symbols_at, key=lambda p: (p.count("."), p)):
            row = symbols_at[path]
            if row["kind"] != SymbolKind.ALIAS:
                self._definitions.setdefault(row["canonical_path"], path)
            if row["kind"] == SymbolKind.CLASS:
                self._classes.setdefault(path.rpartition(".")[2], []).append(path)

    def preferred(self, path: str) -> str:
        """Return the public path that holds the full state of what stands at `path` (itself, if it is no alias)."""
        row = self.symbols.get(path)
        return self._definitions.get(row["canonical_path"], path) if row else path

    def kind(self, path: str) -> str | None:
        """Return what stands at a path, seen through aliases; None if it is not public."""
        row = self.symbols.get(self.preferred(path))
        return row["kind"] if row else None

    def is_module(self, path: str) -> bool:
        """Tell whether a path is a module: a name that is not in it does not exist, whatever runs."""
        kind = self.kind(path)
        return kind == SymbolKind.MODULE or (kind is None and (path in self.roots or path in self._parents))

    def member(self, path: str, name: str) -> str | None:
        """Return the public path of a name inside what stands at `path`, or None if it has no such public name."""
        for parent in (path, self.preferred(path)):
            inside = f"{parent}.{name}"
            if inside in self.symbols or (self.is_module(parent) and inside in self._parents):
                return inside
        return None

    def is_open(self, path: str) -> bool:
        """Tell whether a class has a base outside the library, whose members it has without being listed here."""
        row = self.symbols.get(self.preferred(path))
        return row is not None and any(label.startswith(EXTENDS) for label in row["labels"])

    def locate(self, path: str) -> str | None:
        """Return the public path that a dotted path leads to, following aliases, or None."""
        first, *rest = path.split(".")
        found: str | None = first if first in self.roots else None
        for name in rest:
            found = self.member(found, name) if found else None
        return found

    def exported(self, module: str) -> list[str]:
        """Return the names that `from module import *` brings, sorted."""
        prefix = f"{module}."
        names = (path.removeprefix(prefix) for path in self.symbols if path.startswith(prefix))
        return sorted(name for name in names if "." not in name and not name.startswith("_"))

    def result_of_call(self, path: str) -> Value:
        """Return what a call of the API at `path` gives."""
        if self.kind(path) == SymbolKind.CLASS:
            return Instance(self.preferred(path))
        return self._stated(path) if self.kind(path) in _CALLED else UNKNOWN

    def held_by(self, path: str) -> Value:
        """Return what the attribute or property at `path` holds."""
        return self._stated(path) if self.kind(path) in _HELD else UNKNOWN

    def _stated(self, path: str) -> Value:
        """Return what a curator states of a call or attribute, or else its annotation."""
        for pattern, result in self.returns.items():
            if fnmatch.fnmatchcase(path, pattern) and self.kind(result) == SymbolKind.CLASS:
                return Instance(self.preferred(result))
        row = self.symbols[self.preferred(path)]
        stated = read_annotation(row["returns"]) if row["returns"] else None
        found = self._class_named(stated, path, row) if stated else None
        if stated is None or found is None:
            return UNKNOWN
        if stated.is_class:
            return Reference(found)
        return Elements(found) if stated.many else Instance(found)

    def _class_named(self, stated: Stated, path: str, row: Row) -> str | None:
        """Return the public class that an annotation means, only where no other class can be meant."""
        owner = self.preferred(path.rpartition(".")[0])
        if stated.name == "Self":
            return owner if self.kind(owner) == SymbolKind.CLASS else None
        candidates = self._classes.get(stated.name.rpartition(".")[2], [])
        if "." in stated.name:
            candidates = [c for c in candidates if f".{self.symbols[c]['canonical_path']}".endswith(f".{stated.name}")]
        beside = [c for c in candidates if _module_like(self.symbols[c]) == _module_like(row)]
        chosen = beside or candidates
        return chosen[0] if len(chosen) == 1 else None


def _module_like(row: Row) -> str:
    """Return the file a definition stands in, which is its module under another name."""
    return str(row["file"])
