"""Which runs the instances of a library ask for: snippets in the versions that matter, and probes of what changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from packaging.version import Version

from pipeline.core.vocabularies.changes import GONE, OF_PARAMETERS, PROBED, RELOCATED, WHOLE, ChangeKind
from pipeline.core.vocabularies.running import VerdictRole
from pipeline.core.vocabularies.samples import Language, SnippetSource
from pipeline.core.vocabularies.surface import ParameterSource, SymbolKind
from pipeline.lake.intervals import holding_at
from pipeline.lake.reads import Read
from pipeline.lake.rows import (
    ChangeRow,
    CompletionRow,
    ControlledCompletionRow,
    MigrationRow,
    ReleaseRow,
    RewriteRow,
    SnippetRow,
    SymbolRow,
)

# What binding a call may show; what a docstring, a stub or a decorator's list of old names says, it does not.
_BINDABLE = frozenset(
    {
        ParameterSource.SIGNATURE,
        ParameterSource.SYNTHESISED,
        ParameterSource.DECORATOR,
        ParameterSource.KWARGS,
        ParameterSource.PASSED_ON,
    }
)


SYMBOLS = Read(
    "symbols",
    ("path", "first_version", "last_version", "canonical_path", "kind", "parameters", "value", "labels"),
)
"""What the plan of runs reads of the table."""

EXAMPLES = Read(
    "snippets",
    ("library", "version", "last_version", "path", "language", "source", "preamble", "code", "checks"),
)
"""What of an example is run and read as code; the rest is where it comes from."""


@dataclass(frozen=True, slots=True)
class Run:
    """One thing to run in one version: a snippet by its id, or, as a PROBE, an API path.

    One that `is_missed` is refused where its version has no environment. The others are left out there: they say in
    which further releases a row is right.
    """

    subject_id: str
    version: str
    role: VerdictRole
    is_missed: bool = field(default=True, compare=False)

    @property
    def order(self) -> tuple[Version, str, str]:
        """Where it stands among others: by version, role and subject."""
        return Version(self.version), str(self.role), self.subject_id


def plan_runs(
    releases: Collection[ReleaseRow],
    snippets: Iterable[SnippetRow],
    completions: Iterable[CompletionRow],
    migrations: Iterable[MigrationRow],
    changes: Iterable[ChangeRow],
    symbols: Iterable[SymbolRow],
    executable_sources: Collection[SnippetSource],
    controlled_completions: Iterable[ControlledCompletionRow] = (),
    rewrites: Iterable[RewriteRow] = (),
) -> tuple[Run, ...]:
    """Return every run that a library's instances need, each once, in a fixed order.

    A program runs in every release of the library: the rows made from it say where it is right. So do both sides of a
    migration. Outside of the versions that a program is written for, its runs are not missed. A path that changed in a
    way that can be seen by importing it is probed in both releases of the change, and so is the path that it has
    afterwards. Of a snippet whose source is none of `executable_sources`, the path that a completion hides is probed in
    every release; missed are the probes in its version, in the release before, and in both releases of the change
    behind it. So is that of a controlled completion, which has no snippet. Other languages than Python are not run.
    """
    index = _Symbols(symbols)
    by_id = {
        row["id"]: row for row in snippets if row["source"] in executable_sources and row["language"] == Language.PYTHON
    }
    subjects = [(subject, release["version"]) for subject in by_id for release in releases]
    span = {subject: (row["version"], row["last_version"]) for subject, row in by_id.items()}
    span |= {row["id"]: (row["version"], row["version"]) for row in rewrites}
    changes = list(changes)
    around = {change["id"]: (change["old_version"], change["new_version"]) for change in changes}
    probes = list(_probes(changes, index))
    without_program: set[str] = set()
    for row in completions:
        if row["snippet_id"] in by_id or not index.reachable(row["path"], row["version"]):
            continue
        versions = [version for version in (row["version"], row["previous_version"]) if version]
        if row["version"] in (sides := around.get(row["change_id"] or "", ())):
            versions += [version for version in sides if version not in versions]
        probes += [Run(row["path"], version, VerdictRole.PROBE) for version in versions]
        without_program.add(row["path"])
    for controlled in controlled_completions:
        if index.reachable(controlled["path"], controlled["version"]):
            versions = [version for version in (controlled["version"], controlled["previous_version"]) if version]
            probes += [Run(controlled["path"], version, VerdictRole.PROBE) for version in versions]
            without_program.add(controlled["path"])
    of_migrations: set[str] = set()
    for migration in migrations:
        both = (migration["version"], migration["target_version"])
        subjects += [(subject, version) for subject in subjects_of(migration) for version in both]
        of_migrations.update(subjects_of(migration))
    runs = {_program_run(subject, version, *span[subject]) for subject, version in subjects if subject in span}
    first = {*runs, *probes}
    further = {
        Run(path, release["version"], VerdictRole.PROBE, is_missed=False)
        for path in without_program
        for release in releases
        if index.shows_absence(path, release["version"])
    }
    further |= {
        _program_run(subject, release["version"], *span[subject])
        for subject in of_migrations & span.keys()
        for release in releases
    }
    return tuple(sorted(first | (further - first), key=lambda run: run.order))


def subjects_of(migration: MigrationRow) -> tuple[str, str]:
    """Return what is run for the sides of a migration: ids of snippets, or of what a codemod made of them."""
    source, target = migration["source_rewrite_id"], migration["target_rewrite_id"]
    return source or migration["snippet_id"], target or migration["target_snippet_id"]


def planned_versions(releases: Sequence[ReleaseRow], **planned: Any) -> tuple[str, ...]:
    """Return the versions among the releases in which anything is to run, missed or not, in PEP 440 order.

    Each gets an environment. What is planned from is given as to `plan_runs`.
    """
    needed = {run.version for run in plan_runs(releases, **planned)}
    return tuple(sorted(needed & {release["version"] for release in releases}, key=Version))


def _program_run(subject_id: str, version: str, first: str, last: str) -> Run:
    if Version(first) <= Version(version) <= Version(last):
        return Run(subject_id, version, VerdictRole.REFERENCE)
    return Run(subject_id, version, VerdictRole.OTHER_VERSION, is_missed=False)


def _probes(changes: Iterable[ChangeRow], index: _Symbols) -> Iterator[Run]:
    for change in changes:
        for path in _paths(change, index):
            for version in (change["old_version"], change["new_version"]):
                yield Run(path, version, VerdictRole.PROBE)


def _paths(change: ChangeRow, index: _Symbols) -> Iterator[str]:
    """Yield the paths whose probes can say something about a change."""
    kind, path, versions = change["kind"], change["path"], (change["old_version"], change["new_version"])
    if kind in WHOLE:
        present_in = versions[kind not in GONE]
        places = [(path, present_in), *([(change["new"], versions[1])] if kind in RELOCATED else [])]
        yield from (place for place, version in places if place and index.reachable(place, version))
    elif kind in PROBED and all(index.reachable(path, version) for version in versions):
        states = [state for version in versions for state in index.at(path, version)]
        yield from [path] if kind not in OF_PARAMETERS or _is_bindable(change, states) else []


def _is_bindable(change: ChangeRow, states: Sequence[SymbolRow]) -> bool:
    """Say whether calls show the parameter that a change is about, in each release that has it."""
    names = {change["parameter"], change["new"] if change["kind"] == ChangeKind.PARAMETER_RENAMED else None}
    return all(p["known_from"] in _BINDABLE for state in states for p in state["parameters"] if p["name"] in names)


class _Symbols:
    """The states of a library's paths, at a version; members of a class are found under its second names too."""

    def __init__(self, symbols: Iterable[SymbolRow]) -> None:
        self._by_path: dict[str, list[SymbolRow]] = defaultdict(list)
        self._owners: dict[str, list[SymbolRow]] = defaultdict(list)
        for row in symbols:
            self._by_path[row["path"]].append(row)
            if row["kind"] != SymbolKind.ALIAS:
                self._owners[row["canonical_path"]].append(row)

    def at(self, path: str, version: str) -> list[SymbolRow]:
        """Return the states of a path in a version; none where it is not there."""
        if states := holding_at(self._by_path.get(path, ()), version):
            return states
        parent, _, name = path.rpartition(".")
        aliases = holding_at(self._by_path.get(parent, ()), version)
        owners = [owner for alias in aliases for owner in self._owners[alias["canonical_path"]]]
        return [
            state
            for owner in holding_at(owners, version)
            for state in holding_at(self._by_path.get(f"{owner['path']}.{name}", ()), version)
        ]

    def reachable(self, path: str, version: str) -> bool:
        """Say whether importing and taking attributes must reach a path where it lives."""
        states, parents = self.at(path, version), self.at(path.rpartition(".")[0], version)
        of_module = all(parent["kind"] == SymbolKind.MODULE for parent in parents)
        return bool(states) and (of_module or not any(_may_hang_on_instances(state) for state in states))

    def shows_absence(self, path: str, version: str) -> bool:
        """Say whether a release that has a path would show it to a probe: a probe that misses it shows its absence."""
        return not self.at(path, version) or self.reachable(path, version)


def _may_hang_on_instances(state: SymbolRow) -> bool:
    """Say whether an attribute of a class may be on its instances only.

    `__init__` or another method sets it, or it is annotated and has no value, or a call such as `field()` makes it,
    which the class then takes away.
    """
    if state["kind"] != SymbolKind.ATTRIBUTE:
        return False
    of_class = "class-attribute" in state["labels"] and "set-outside-init" not in state["labels"]
    return not of_class or state["value"] is None or "(" in state["value"]
