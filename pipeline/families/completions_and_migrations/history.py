"""What the earlier stages know of a library's releases and APIs, looked up by path and version."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from packaging.version import Version

from pipeline.core.vocabularies.changes import GONE, RELOCATED, ChangeKind, LibEvolutionEvalTag, VersiCodeTag
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.lake.rows import ChangeRow, ReleaseRow, SymbolRow

Tagging = tuple[VersiCodeTag, LibEvolutionEvalTag]
"""VersiCode's and LibEvolutionEval's tag of a path in a version."""

PLAIN: Tagging = (VersiCodeTag.GENERAL, LibEvolutionEvalTag.UNCHANGED)

COLUMNS = ("path", "first_version", "last_version", "canonical_path", "kind")
"""The columns of `symbols` that a history is made of; `definition` gives rows, of which more may be needed."""


class History:
    """Releases in order, the tags of each path, and the change behind a tag; made once for a library."""

    def __init__(
        self,
        releases: Sequence[ReleaseRow],
        symbols: Iterable[SymbolRow],
        changes: Sequence[ChangeRow],
        tags: Callable[[str, str], Tagging | None],
    ) -> None:
        ordered = sorted(releases, key=lambda row: Version(row["version"]))
        self.releases = {row["version"]: row for row in ordered}
        self.tags = functools.cache(tags)
        self._rank = {version: rank for rank, version in enumerate(self.releases)}
        self._next = {row["predecessor"]: row["version"] for row in ordered if row["predecessor"] in self.releases}
        self._roots = {root.partition(".")[0] for row in ordered for root in row["import_names"]}
        self._states: dict[str, list[SymbolRow]] = defaultdict(list)
        self._definitions: dict[str, list[SymbolRow]] = defaultdict(list)
        self._aliases: dict[str, list[SymbolRow]] = defaultdict(list)
        for row in sorted(symbols, key=lambda row: str(row["path"])):
            self._states[row["path"]].append(row)
            if row["kind"] != SymbolKind.ALIAS:
                self._definitions[row["canonical_path"]].append(row)
            else:
                self._aliases[row["canonical_path"]].append(row)
        self._arriving: dict[tuple[str, str], list[ChangeRow]] = defaultdict(list)
        self._departing: dict[tuple[str, str], list[ChangeRow]] = defaultdict(list)
        self._changing: dict[tuple[str, str], list[ChangeRow]] = defaultdict(list)
        for change in sorted(changes, key=_most_specific_first):
            self._enter(change)

    def _enter(self, change: ChangeRow) -> None:
        kind, old_version, new_version = change["kind"], change["old_version"], change["new_version"]
        # Under another public path than the change's own, a definition is known by where it stands.
        for path in dict.fromkeys((change["path"], change["canonical_path"])):
            if kind == ChangeKind.INTRODUCED:
                self._arriving[path, new_version].append(change)
            if kind in GONE:
                self._departing[path, old_version].append(change)
            if change["libevolutioneval_tag"] == LibEvolutionEvalTag.MODIFIED:
                self._changing[path, new_version].append(change)
        if kind in RELOCATED:
            self._arriving[str(change["new"]), new_version].append(change)

    def between(self, first: str, last: str) -> list[str]:
        """Return the versions of the lake from the first to the last, both included, in order."""
        return list(self.releases)[self._rank[first] : self._rank[last] + 1]

    def since(self, first: str) -> list[str]:
        """Return the versions of the lake from the first on, in order."""
        return list(self.releases)[self._rank[first] :]

    def within(self, version: str, first: str, last: str | None) -> bool:
        """Return whether a version of the lake lies in a run of releases, which without a last one goes on."""
        return self._rank[first] <= self._rank[version] and (last is None or self._rank[version] <= self._rank[last])

    def previous(self, version: str) -> str | None:
        """Return the release before, if the lake holds it."""
        predecessor = self.releases[version]["predecessor"]
        return predecessor if predecessor in self.releases else None

    def next(self, version: str) -> str | None:
        """Return the release after, if the lake holds it and none is missing between."""
        return self._next.get(version)

    def is_public(self, path: str, version: str) -> bool:
        """Return whether a public path exists in a version."""
        return self._state(path, version) is not None

    def beside(self, path: str, version: str) -> list[str]:
        """Return the last names of the public paths that stand next to a path in a version, sorted."""
        parent = path.rpartition(".")[0]
        near = (name for name in self._states if name.rpartition(".")[0] == parent and name != path)
        return sorted(name.rpartition(".")[2] for name in near if self.is_public(name, version))

    def preferred_path(self, path: str, version: str) -> str:
        """Return the path under which a version documents an API: another one where a part of the path is an alias.

        `semver.VersionInfo.parse` is documented as `semver.Version.parse` since `VersionInfo` is only another name.
        """
        whole, rest = path, ""
        while whole:
            state = self._state(whole, version)
            if state is not None and state["kind"] == SymbolKind.ALIAS:
                owner = self._holding(self._definitions.get(state["canonical_path"], ()), version)
                return owner["path"] + rest if owner else path
            whole, dot, name = whole.rpartition(".")
            rest = dot + name + rest
        return path

    def definition(self, path: str, version: str) -> SymbolRow | None:
        """Return the state of what a path leads to in a version, through other names; None where it is not public."""
        state = self._state(path, version)
        if state is None:
            preferred = self.preferred_path(path, version)
            return self._state(preferred, version) if preferred != path else None
        if state["kind"] == SymbolKind.ALIAS:
            return self._holding(self._definitions.get(state["canonical_path"], ()), version) or state
        return state

    def old_name(self, path: str, version: str, other: str) -> tuple[str, str] | None:
        """Return the name in a path that another release lacks, and the one it has there, which is still an alias here.

        `semver.Version.parse` was `semver.VersionInfo.parse`: ("Version", "VersionInfo"). None where there is no such.
        """
        names = path.split(".") if self.definition(path, other) is None else []
        for depth in range(len(names), 1, -1):
            parent, name, rest = names[: depth - 1], names[depth - 1], names[depth:]
            state = self._state(".".join(names[:depth]), version)
            for alias in self._aliases.get(state["canonical_path"], ()) if state else ():
                beside, _, second = alias["path"].rpartition(".")
                same_place = beside == ".".join(parent) and second != name and self.is_public(alias["path"], version)
                if same_place and self.definition(".".join([alias["path"], *rest]), other) is not None:
                    return name, second
        return None

    def module_of(self, path: str, version: str) -> str:
        """Return the public module in which a path stands; its first name, or all but the last, where none is known."""
        parents = path.split(".")[:-1]
        for depth in range(len(parents), 0, -1):
            state = self._state(".".join(parents[:depth]), version)
            if state is not None and state["kind"] == SymbolKind.MODULE:
                return ".".join(parents[:depth])
        return parents[0] if parents and self.is_root(parents[0]) else ".".join(parents) or path

    def is_root(self, name: str) -> bool:
        """Return whether a name is that of a package of the library, in any release."""
        return name in self._roots

    def rank(self, version: str) -> int:
        """Return the place of a version in the order of releases."""
        return self._rank[version]

    def change_behind(self, path: str, version: str, tags: Tagging) -> ChangeRow | None:
        """Return the change that a path's tags in a version follow from; None where they are general and unchanged.

        A change is recorded once: at the preferred path of a definition, and at the class or module that came or
        went as a whole. So the definition's own path and the parents are looked up too.
        """
        tag = tags[1]
        if tag == LibEvolutionEvalTag.UNCHANGED:
            return None
        table = {
            LibEvolutionEvalTag.INTRODUCED: self._arriving,
            LibEvolutionEvalTag.DEPRECATED: self._departing,
            LibEvolutionEvalTag.MODIFIED: self._changing,
        }[tag]
        names = self._names(path, version, with_parents=tag != LibEvolutionEvalTag.MODIFIED)
        changes = (change for name in names for change in table.get((name, version), ()))
        return next(changes, None)

    def modifications(self, path: str, version: str) -> list[ChangeRow]:
        """Return all changes by which a release modified an API, the most specific first."""
        names = self._names(path, version, with_parents=False)
        return [change for name in names for change in self._changing.get((name, version), ())]

    def _names(self, path: str, version: str, *, with_parents: bool) -> Iterator[str]:
        while path:
            yield path
            state = self._state(path, version)
            if state is not None and state["canonical_path"] != path:
                yield state["canonical_path"]
            path = path.rpartition(".")[0] if with_parents else ""

    def _state(self, path: str, version: str) -> SymbolRow | None:
        return self._holding(self._states.get(path, ()), version)

    def _holding(self, rows: Iterable[SymbolRow], version: str) -> SymbolRow | None:
        return next((row for row in rows if self.within(version, row["first_version"], row["last_version"])), None)


def _most_specific_first(change: ChangeRow) -> tuple[bool, str, str, str]:
    return not change["breaking"], change["kind"], change["parameter"] or "", change["id"]


def is_major(version: str) -> bool:
    """Return whether a version is X.0.0, a major release in VersiCode's sense (2406.07411, appendix B)."""
    return not any(Version(version).release[1:])
