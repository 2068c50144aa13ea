"""The public API of one version, as the finder of uses asks about it: what a path leads to and what a call gives."""

from __future__ import annotations

import fnmatch
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pipeline.api.surface.parse.module_model import UNSEEN_MEMBERS
from pipeline.api.surface.resolve.labels import DYNAMIC, EXTENDS, OPAQUE, STARS, UNPARSED
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.corpus.usages.annotations import read_annotation
from pipeline.corpus.usages.values import NOTHING, UNKNOWN, Calling, Instance, Value
from pipeline.lake.rows import SymbolState

_CALLED = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})
_HELD = frozenset({SymbolKind.ATTRIBUTE, SymbolKind.PROPERTY})
# A row does not call these bases from outside, but they hand on the members of dict and tuple (PEP 589, typing).
_WITH_MEMBERS = frozenset({"TypedDict", "NamedTuple"})
_UNSEEN = frozenset({DYNAMIC, OPAQUE, UNPARSED, UNSEEN_MEMBERS})

COLUMNS = ("path", "first_version", "last_version", "canonical_path", "kind", "returns", "labels", "bases", "file")
"""The columns of `symbols` that an API at a version is made of."""


class Api:
    """Answers about the public paths of a library at one version.

    `symbols_at` maps each public path to its `symbols` row; `returns` adds what calls give and attributes hold where
    the library does not annotate it: a path, or a pattern of paths, to the path of a public class.
    """

    def __init__(
        self,
        symbols_at: Mapping[str, SymbolState],
        import_names: Sequence[str],
        returns: Mapping[str, str] | None = None,
    ) -> None:
        self.symbols = symbols_at
        self.roots = frozenset(import_names)
        self.returns = {path: result for path, result in (returns or {}).items() if "*" not in path}
        self._patterns = [(path, result) for path, result in (returns or {}).items() if "*" in path]
        self._below: dict[str, list[str]] = defaultdict(list)
        self._named: dict[str, list[str]] = defaultdict(list)
        self._definitions: dict[str, str] = {}
        self._paths: dict[str, list[str]] = defaultdict(list)
        self._classes: dict[str, list[str]] = defaultdict(list)
        self._results: dict[str, Value] = {}
        self._members: dict[tuple[str, str], str | None] = {}
        for path in sorted(symbols_at, key=lambda p: (p.count("."), p)):
            row = symbols_at[path]
            parent, _, name = path.rpartition(".")
            self._below[parent].append(name)
            self._named[name].append(path)
            self._paths[row["canonical_path"]].append(path)
            if row["kind"] != SymbolKind.ALIAS:
                self._definitions.setdefault(row["canonical_path"], path)
            if row["kind"] == SymbolKind.CLASS:
                self._classes[name].append(path)

    def preferred(self, path: str) -> str:
        """Return the public path that holds the full state of what stands at `path` (itself, if it is no alias)."""
        row = self.symbols.get(path)
        return self._definitions.get(row["canonical_path"], path) if row else path

    def paths_of(self, canonical: str) -> list[str]:
        """Return the public paths of what is defined at a path, or at the place that a public path leads to."""
        row = self.symbols.get(canonical)
        return self._paths.get(row["canonical_path"] if row else canonical, [])

    def kind(self, path: str) -> str | None:
        """Return what stands at a path, seen through aliases; None if it is not public."""
        row = self.symbols.get(self.preferred(path))
        return row["kind"] if row else None

    def is_module(self, path: str) -> bool:
        """Tell whether a path is a module: a name that is not in it does not exist, whatever runs."""
        kind = self.kind(path)
        return kind == SymbolKind.MODULE or (kind is None and (path in self.roots or path in self._below))

    def is_class(self, path: str) -> bool:
        """Tell whether a path is a public class."""
        return self.kind(path) == SymbolKind.CLASS

    def member(self, path: str, name: str) -> str | None:
        """Return the public path of a name inside what stands at `path`, or None if it has no such public name."""
        key = path, name
        if key not in self._members:
            self._members[key] = self._member(path, name)
        return self._members[key]

    def _member(self, path: str, name: str) -> str | None:
        for parent in (path, self.preferred(path)):
            inside = f"{parent}.{name}"
            if inside in self.symbols or (inside in self._below and self.is_module(parent)):
                return inside
        return None

    def is_open(self, path: str) -> bool:
        """Tell whether a class or module has names that are not listed here: from outside, compiled, or made late."""
        row = self.symbols.get(self.preferred(path))
        if row is None:
            return False
        unobservable = any(label in _UNSEEN or label.startswith((EXTENDS, STARS)) for label in row["labels"])
        return unobservable or any(base.rpartition(".")[2] in _WITH_MEMBERS for base in row["bases"])

    def like(self, path: str) -> list[str]:
        """Return the public paths beside a path, and those of the same name elsewhere, sorted."""
        parent, _, name = path.rpartition(".")
        beside = (f"{parent}.{sibling}" for sibling in self._below.get(parent, ()))
        return sorted({*beside, *self._named.get(name, ())})

    def locate(self, path: str) -> str | None:
        """Return the public path that a dotted path leads to, following aliases, or None."""
        first, *rest = path.split(".")
        result: str | None = first if first in self.roots else None
        for name in rest:
            result = self.member(result, name) if result else None
        return result

    def defined_at(self, path: str) -> str | None:
        """Return the public path of what is defined at a path that is not public itself, or None."""
        return self._definitions.get(path)

    def exported(self, module: str) -> list[str]:
        """Return the names that `from module import *` brings, sorted: those that the version has there."""
        return sorted(name for name in self._below.get(module, ()) if not name.startswith("_"))

    def result_of_call(self, path: str) -> Value:
        """Return what a call of the API at `path` gives."""
        kind = self.kind(path)
        if kind == SymbolKind.CLASS:
            return Instance(self.preferred(path))
        if kind in _CALLED:
            return self._result_of(path)
        held = self.held_by(path)
        return held.result if isinstance(held, Calling) else UNKNOWN

    def held_by(self, path: str) -> Value:
        """Return what the attribute or property at `path` holds."""
        return self._result_of(path) if self.kind(path) in _HELD else UNKNOWN

    def is_variable(self, path: str) -> bool:
        """Tell whether a path is an attribute or property, which is a value and not a name to call."""
        return self.kind(path) in _HELD

    def protocol_result(self, path: str, special: str) -> Value:
        """Return what an object of the class at `path` gives to `with`, `for`, brackets or a call.

        Only what a curator states is known of these; the surface does not list them. A context manager of which
        nothing is stated is taken to give itself.
        """
        curated = self._curated(f"{path}.{special}")
        if curated is not UNKNOWN:
            return curated
        return Instance(path) if special == "__enter__" else UNKNOWN

    def _result_of(self, path: str) -> Value:
        if path not in self._results:
            self._results[path] = self._state(path)
        return self._results[path]

    def _curated(self, path: str) -> Value:
        """Return what a curator states of a call or attribute."""
        results = (result for pattern, result in self._patterns if fnmatch.fnmatchcase(path, pattern))
        result = self.returns.get(path) or next(results, None)
        if result is None:
            return UNKNOWN
        return read_annotation(result, lambda name: Instance(self.preferred(name)) if self.is_class(name) else UNKNOWN)

    def _state(self, path: str) -> Value:
        """Return what a curator states of a call or attribute, or else its annotation."""
        curated = self._curated(path)
        row = self.symbols[self.preferred(path)]
        if curated is not UNKNOWN or not row["returns"]:
            return curated

        def find(name: str) -> Value:
            class_named = self._class_named(name, path, row)
            return Instance(class_named) if class_named else UNKNOWN

        value = read_annotation(row["returns"], find)
        return UNKNOWN if value is NOTHING else value

    def _class_named(self, written: str, path: str, row: SymbolState) -> str | None:
        """Return the public class that an annotation means, only where no other class can be meant."""
        owner = self.preferred(path.rpartition(".")[0])
        if written == "Self":
            return owner if self.is_class(owner) else None
        candidates = self._classes.get(written.rpartition(".")[2], [])
        if "." in written:
            candidates = [c for c in candidates if f".{self.symbols[c]['canonical_path']}".endswith(f".{written}")]
        beside = [c for c in candidates if _module_like(self.symbols[c]) == _module_like(row)]
        chosen = beside or candidates
        return self.preferred(chosen[0]) if len({self.preferred(c) for c in chosen}) == 1 else None


def _module_like(row: SymbolState) -> str:
    """Return the file a definition stands in, which is its module under another name."""
    return str(row["file"])
