"""The symbols of one release by path, aliases resolved, and where the release is unobservable."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from pipeline.api.surface.parse.module_model import INSTEAD, PATCHED_BY
from pipeline.api.surface.resolve.labels import DYNAMIC, EXTENDS, OPAQUE, STARS, UNPARSED, UNPARSED_MODULE
from pipeline.core.vocabularies.surface import PublicBecause, SourceKind, SymbolKind
from pipeline.lake.rows import SymbolState

_POINTERS = frozenset({SymbolKind.ALIAS})
_HIDDEN = frozenset({UNPARSED, OPAQUE})
_RUN = frozenset({SourceKind.PY, SourceKind.PY2})
_UNSEEN = frozenset({SymbolKind.EXTERNAL, SymbolKind.LAZY, SymbolKind.ATTRIBUTE})


class Index:
    """The symbol rows of one release; every row stands for the state of its path there.

    `importable_names` are rows of what can be imported without being public: only that it is there is known.
    """

    def __init__(self, rows: Iterable[SymbolState] = (), importable_names: Iterable[SymbolState] = ()) -> None:
        self.rows: dict[str, SymbolState] = {}
        self.importable_names = {row["path"]: row for row in importable_names}
        self.owners: dict[str, SymbolState] = {}
        self.unparsed: frozenset[str] = frozenset()
        self._named: dict[str, frozenset[str]] = {}
        self._below: dict[str, frozenset[str]] = {}
        self._unknown: dict[str, bool] = {}
        self._sources: dict[str, frozenset[str]] = {}
        self._resolved: dict[str, SymbolState | None] = {}
        self._implements: dict[str, bool] = {}
        self._outside: dict[str, list[str]] = {}
        self._change((), rows)

    def advance(
        self, gone: Iterable[str], come: Iterable[SymbolState], importable_names: dict[str, SymbolState | None]
    ) -> Index:
        """Return the index of the next release, of which only what differs is given; this one stays as it is.

        `importable_names` gives the rows that came or changed there, and None for those that went.
        """
        following = Index()
        following.importable_names = (
            {path: row for path, row in (self.importable_names | importable_names).items() if row is not None}
            if importable_names
            else self.importable_names
        )
        for name in ("rows", "owners", "_named", "_below"):
            setattr(following, name, dict(getattr(self, name)))
        following.unparsed = self.unparsed
        following._change(gone, come)
        return following

    def _change(self, gone: Iterable[str], come: Iterable[SymbolState]) -> None:
        before = {path: self.rows.pop(path) for path in gone}
        after = {row["path"]: row for row in come}
        self.rows |= after
        was, is_ = ({(row["canonical_path"], path) for path, row in rows.items()} for rows in (before, after))
        _regroup(self._named, was, is_)
        removed, added = before.keys() - after.keys(), after.keys() - before.keys()
        _regroup(self._below, *({(path.rpartition(".")[0], path) for path in paths} for paths in (removed, added)))
        for canonical in {canonical for canonical, _ in was | is_}:
            self._own(canonical)
        if _unparsed([*before.values(), *after.values()]):
            self.unparsed = _unparsed(self.rows.values())

    def _own(self, canonical: str) -> None:
        """Settle which row has the state of a definition."""
        owners = [row for path in self._named[canonical] if (row := self.rows[path])["kind"] not in _POINTERS]
        if owners:
            self.owners[canonical] = min(owners, key=_rank) if len(owners) > 1 else owners[0]
        else:
            self.owners.pop(canonical, None)

    @cached_property
    def bases(self) -> dict[str, Sequence[str]]:
        """The bases as written of each public class, by its last name; of two of one name the last path counts."""
        classes = {path: row for path, row in self.rows.items() if row["kind"] == SymbolKind.CLASS}
        return {path.rpartition(".")[2]: classes[path]["bases"] for path in sorted(classes)}

    @cached_property
    def has_sources(self) -> bool:
        """Whether anything was read from what runs, and not all from stubs."""
        return any(row["source"] in _RUN for row in self.rows.values())

    def named(self, canonical: str) -> frozenset[str]:
        """Return the paths that lead to a definition."""
        return self._named.get(canonical, frozenset())

    def find(self, path: str) -> SymbolState | None:
        """Return the row with the state of a path: its own, or that of what it is another name of."""
        row = self.rows.get(path)
        if row is not None and row["kind"] not in _POINTERS:
            return row
        if path not in self._resolved:
            self._resolved[path] = self._find(path, 0)
        return self._resolved[path]

    def _find(self, path: str, depth: int) -> SymbolState | None:
        row = self.rows.get(path) or self.importable_names.get(path)
        if row is not None:
            return self.owners.get(row["canonical_path"], row) if row["kind"] in _POINTERS else row
        parent, _, name = path.rpartition(".")
        if not parent or depth > path.count("."):
            return None
        above = self._above(parent, depth)
        return self._find(f"{above['path']}.{name}", depth + 1) if above and above["path"] != parent else None

    def _above(self, parent: str, depth: int) -> SymbolState | None:
        row = self.rows.get(parent) or self.importable_names.get(parent)
        if row is not None and row["kind"] not in _POINTERS:
            return row
        return self._find(parent, depth + 1)

    def unknown(self, path: str) -> bool:
        """Return whether the release may have a path without our seeing it.

        So it is below a module that does not parse, a name that another distribution defines, or one that a call
        made (`ns = IntEnum("ns", names)`).
        """
        parent = path.rpartition(".")[0]
        if not parent:
            return False
        if parent not in self._unknown:
            row = self.find(parent)
            self._unknown[parent] = (row is not None and hides_members(row)) or self.unknown(parent)
        return self._unknown[parent]

    def in_unparsed(self, canonical: str) -> bool:
        """Return whether a canonical path is that of a module whose file does not parse, or below one."""
        if not self.unparsed:
            return False
        segments = canonical.split(".")
        return any(".".join(segments[: n + 1]) in self.unparsed for n in range(len(segments)))

    def unobservable_sources(self, path: str) -> frozenset[str]:
        """Return where the module at a path may have names from that we do not see.

        So may the modules that it star-imports, and a `__getattr__` of its own that does not tell its names.
        """
        if path not in self._sources:
            module = self.find(path)
            labels = module["labels"] if module is not None and module["kind"] == SymbolKind.MODULE else ()
            named = (label.removeprefix(STARS) for label in labels if label.startswith(STARS) or label == DYNAMIC)
            self._sources[path] = frozenset(named)
        return self._sources[path]

    def advice(self, path: str) -> str | None:
        """Return what a module says to use instead of a name that it does not have any more."""
        parent, _, name = path.rpartition(".")
        module = self.find(parent)
        if module is None or module["kind"] != SymbolKind.MODULE:
            return None
        advice = (label.partition("=") for label in _labelled(module, INSTEAD))
        return next((other for removed, _, other in advice if removed == name), None)

    def below(self, path: str) -> list[SymbolState]:
        """Return the rows of the public members right below a path."""
        return [self.rows[member] for member in sorted(self._below.get(path, ()))]

    def implements(self, module: str) -> bool:
        """Return whether packages above a module offer names that it defines: then it is where they are written.

        `pandas.core.frame` is such a module, for `pandas.DataFrame` is defined there. A package is none: users import
        from it what its `__init__` defines, as from `flask.json`, though `flask` offers `jsonify` too.
        """
        if module not in self._implements:
            own = (row for row in self.below(module) if row["kind"] != SymbolKind.MODULE)
            offered = (
                path
                for row in own
                if row["canonical_path"].rpartition(".")[0] == module
                for path in self.named(row["canonical_path"])
            )
            above = (path.rpartition(".")[0] for path in offered)
            is_package = module in self.rows and PurePosixPath(self.rows[module]["file"]).stem == "__init__"
            self._implements[module] = not is_package and any(module.startswith(f"{place}.") for place in above)
        return self._implements[module]

    def alive(self, path: str) -> bool:
        """Return whether the release has a path for certain."""
        return self.find(path) is not None

    def outside_bases(self, path: str) -> list[str]:
        """Return the bases from other distributions of the class that a member's path stands in."""
        parent = path.rpartition(".")[0]
        if parent not in self._outside:
            class_ = self._class_of(path)
            self._outside[parent] = _labelled(class_, EXTENDS) if class_ is not None else []
        return self._outside[parent]

    def dynamic(self, path: str) -> bool:
        """Return whether the class that a member's path stands in answers names in its `__getattr__`."""
        class_ = self._class_of(path)
        return class_ is not None and DYNAMIC in class_["labels"]

    def givers(self, path: str) -> set[str]:
        """Return what gives members to the class that a member's path stands in."""
        class_ = self._class_of(path)
        return set(_labelled(class_, PATCHED_BY)) if class_ is not None else set()

    def _class_of(self, path: str) -> SymbolState | None:
        class_ = self.find(path.rpartition(".")[0])
        return class_ if class_ is not None and class_["kind"] == SymbolKind.CLASS else None


def hides_members(row: SymbolState) -> bool:
    """Return whether the sources do not show what is below a path: see `Index.unknown`."""
    return row["kind"] in _UNSEEN or not _HIDDEN.isdisjoint(row["labels"])


def _unparsed(rows: Iterable[SymbolState]) -> frozenset[str]:
    """Return the modules that do not parse, as the modules above them tell."""
    modules = (row for row in rows if row["kind"] == SymbolKind.MODULE)
    return frozenset(name for row in modules for name in _labelled(row, UNPARSED_MODULE))


def _regroup(groups: dict[str, frozenset[str]], was: set[tuple[str, str]], is_: set[tuple[str, str]]) -> None:
    """Take paths out of groups and put others into them, each group once: a large one is long to copy."""
    changed: dict[str, tuple[set[str], set[str]]] = {}
    for side, pairs in enumerate((was - is_, is_ - was)):
        for group, path in pairs:
            changed.setdefault(group, (set(), set()))[side].add(path)
    for group, (removed, added) in changed.items():
        groups[group] = groups.get(group, frozenset()) - removed | added


def _labelled(row: SymbolState, prefix: str) -> list[str]:
    """Return what the labels with a prefix name."""
    return [label.removeprefix(prefix) for label in row["labels"] if label.startswith(prefix)]


def _rank(row: SymbolState) -> tuple[bool, int, str]:
    """Order the rows of one definition: where it stands itself, then fewest segments, then letters."""
    inherited = row["public_because"] == PublicBecause.INHERITED
    return inherited, row["path"].count("."), row["path"]


@functools.cache
def standard_members(base: str, modules: tuple[str, ...]) -> frozenset[str] | None:
    """Return the members of a class of the standard library, or None if it is not among those that may be asked."""
    module, _, name = base.rpartition(".")
    for candidate in [module] if module else ["builtins"]:
        if candidate in modules:
            class_ = getattr(importlib.import_module(candidate), name, None)
            return frozenset(dir(class_)) if isinstance(class_, type) else None
    return None
