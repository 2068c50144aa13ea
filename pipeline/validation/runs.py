"""Which runs the instances of a library ask for: snippets in the versions that matter, and probes of what changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from pipeline.lake import Row, holding_at
from pipeline.terms import ChangeKind, SymbolKind, VerdictRole

_CHANGED_PLACE = frozenset({ChangeKind.RENAMED, ChangeKind.MOVED})
_PROBED = _CHANGED_PLACE | {ChangeKind.INTRODUCED, ChangeKind.REMOVED}


@dataclass(frozen=True, slots=True)
class Run:
    """One thing to run in one version: a snippet by its id, or, as a PROBE, an API path."""

    subject_id: str
    version: str
    role: VerdictRole

    @property
    def order(self) -> tuple[Version, str, str]:
        """Where it stands among others: by version, role and subject."""
        return Version(self.version), str(self.role), self.subject_id


def plan_runs(
    snippets: Iterable[Row],
    completions: Iterable[Row],
    migrations: Iterable[Row],
    changes: Iterable[Row],
    symbols: Iterable[Row],
) -> tuple[Run, ...]:
    """Return every run that a library's instances need, each once, in a fixed order.

    A snippet runs in its own version, and in those of the completions made from it and the release before each; both
    sides of a migration run in both versions; a path that came, went or changed its place is probed in both releases
    of the change, and so is the path it has afterwards.
    """
    by_id = {row["id"]: row for row in snippets}
    wanted = [(row["id"], row["version"]) for row in by_id.values()]
    for row in completions:
        wanted += [(row["snippet_id"], version) for version in (row["version"], row["previous_version"]) if version]
    for row in migrations:
        versions = (row["version"], row["target_version"])
        wanted += [(row[side], version) for side in ("snippet_id", "target_snippet_id") for version in versions]
    runs = {Run(subject, version, _role(by_id[subject], version)) for subject, version in wanted if subject in by_id}
    return tuple(sorted({*runs, *_probes(changes, symbols)}, key=lambda run: run.order))


def wanted_versions(
    releases: Iterable[Row],
    snippets: Iterable[Row],
    completions: Iterable[Row],
    migrations: Iterable[Row],
    changes: Iterable[Row],
    symbols: Iterable[Row],
) -> tuple[str, ...]:
    """Return the versions among the releases that need an environment, in PEP 440 order."""
    needed = {run.version for run in plan_runs(snippets, completions, migrations, changes, symbols)}
    return tuple(sorted(needed & {release["version"] for release in releases}, key=Version))


def _role(snippet: Row, version: str) -> VerdictRole:
    holds = Version(snippet["version"]) <= Version(version) <= Version(snippet["last_version"])
    return VerdictRole.REFERENCE if holds else VerdictRole.OTHER_VERSION


def _probes(changes: Iterable[Row], symbols: Iterable[Row]) -> Iterator[Run]:
    by_path: Mapping[str, Sequence[Row]] = _grouped(symbols)
    for change in changes:
        if change["kind"] not in _PROBED:
            continue
        new_path = change["new"] if change["kind"] in _CHANGED_PLACE else None
        for path, lives_in in _places(change, new_path):
            if _reachable(path, lives_in, by_path):
                for version in (change["old_version"], change["new_version"]):
                    yield Run(path, version, VerdictRole.PROBE)


def _places(change: Row, new_path: str | None) -> Iterator[tuple[str, str]]:
    """Yield the paths of a change, each with the release that has it."""
    introduced = change["kind"] == ChangeKind.INTRODUCED
    yield change["path"], change["new_version"] if introduced else change["old_version"]
    if new_path:
        yield new_path, change["new_version"]


def _reachable(path: str, version: str, by_path: Mapping[str, Sequence[Row]]) -> bool:
    """Say whether importing and taking attributes must reach a path where it lives."""
    states = holding_at(by_path.get(path, ()), version)
    parents = holding_at(by_path.get(path.rpartition(".")[0], ()), version)
    of_class = any(parent["kind"] == SymbolKind.CLASS for parent in parents)
    return bool(states) and not (of_class and any(_may_hang_on_instances(state) for state in states))


def _may_hang_on_instances(state: Row) -> bool:
    """Say whether an attribute of a class may be on its instances only.

    `__init__` sets it, or it is annotated and has no value, or a call such as `field()` makes it, which the class
    then takes away.
    """
    if state["kind"] != SymbolKind.ATTRIBUTE:
        return False
    return "class-attribute" not in state["labels"] or state["value"] is None or "(" in state["value"]


def _grouped(symbols: Iterable[Row]) -> dict[str, list[Row]]:
    by_path: dict[str, list[Row]] = defaultdict(list)
    for row in symbols:
        by_path[row["path"]].append(row)
    return by_path
