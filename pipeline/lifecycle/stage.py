"""The changes of a library over all its releases, and the life of each public path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from packaging.version import Version

from pipeline.lake import Output, Reject, Row, chains
from pipeline.lifecycle.compare import Comparison, changes_of, public_paths
from pipeline.lifecycle.index import Index
from pipeline.lifecycle.missing import is_missing
from pipeline.lifecycle.rules import LifecycleRules
from pipeline.terms import ChangeKind, LibEvolutionEvalTag, RejectReason

_MODIFIED = LibEvolutionEvalTag.MODIFIED


def lifecycle_stage(releases: Sequence[Row], symbols: Sequence[Row], rules: LifecycleRules) -> Output:
    """Make the `changes` and `lifecycles` rows of a library out of its interval-coded symbols.

    The unit counted is a release. One whose predecessor is not in the lake cannot be compared and is rejected; the
    first release of all has none to be compared with, and everything is just there.
    """
    library = releases[0]["library"] if releases else ""
    runs = chains(releases)
    held = _held(runs, symbols)
    changes: list[Row] = []
    lives: list[Row] = []
    for run in runs:
        indexes = {version: Index(held[version]) for version in run}
        pairs = list(pairwise(run))
        steps = [Comparison(indexes[old], indexes[new], rules) for old, new in pairs]
        of_run = [changes_of(step, library, *pair) for step, pair in zip(steps, pairs, strict=True)]
        changes += [change for rows in of_run for change in rows]
        lives += _described(_lives(library, run, indexes[run[0]], steps, changes, rules), run, indexes)
    rejects = _without_predecessor(releases)
    return Output(
        {"changes": changes, "lifecycles": lives},
        seen=len(releases),
        made=len(releases) - len(rejects),
        rejects=rejects,
    )


def _held(runs: Sequence[Sequence[str]], symbols: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows that hold in each version."""
    run_of = {version: run for run in runs for version in run}
    held: dict[str, list[Row]] = {version: [] for version in run_of}
    for row in symbols:
        run = run_of[row["first_version"]]
        for version in run[run.index(row["first_version"]) : run.index(row["last_version"]) + 1]:
            held[version].append(row)
    return held


def _without_predecessor(releases: Sequence[Row]) -> list[Reject]:
    present = {release["version"] for release in releases}
    return [
        Reject(
            release["version"],
            RejectReason.NO_PREDECESSOR,
            f"release {release['predecessor']} comes just before and is not in the lake",
        )
        for release in sorted(releases, key=lambda row: Version(row["version"]))
        if release["predecessor"] is not None and release["predecessor"] not in present
    ]


def _lives(
    library: str,
    run: Sequence[str],
    first: Index,
    steps: Sequence[Comparison],
    changes: Sequence[Row],
    rules: LifecycleRules,
) -> list[Row]:
    """Follow each public path through a run of releases without a gap."""
    stated = {(c["path"], c["new_version"]): c["replacement"] for c in changes if c["replacement"]}
    modifying = frozenset(k for k, tags in rules.changes.items() if tags.libevolutioneval == _MODIFIED)
    living = {path: _born(library, path, run[0], None) for path in public_paths(first)}
    seen = dict.fromkeys(living, run[0])
    done: list[Row] = []
    for step, version in zip(steps, run[1:], strict=True):
        for path in sorted(path for path in living if is_missing(path, step.old, step.new, rules)):
            # what went while it was out of sight went nobody knows when
            known = {"removed_in": version, "replacement": stated.get((path, version))}
            done.append(living.pop(path) | (known if step.old.alive(path) else {"last_version": seen[path]}))
        for path in sorted(set(public_paths(step.new)) - living.keys()):
            # what was not seen to come (its module did not parse before) is just there
            came = is_missing(path, step.new, step.old, rules)
            living[path] = _born(library, path, version, version if came else None)
        seen |= dict.fromkeys((path for path in living if step.new.alive(path)), version)
        _lived(living, step, version, modifying)
    return [*done, *living.values()]


def _lived(living: Mapping[str, Row], step: Comparison, version: str, modifying: frozenset[ChangeKind]) -> None:
    """Take the lives on to a version, and note which of them it modified."""
    for path, life in living.items():
        life["last_version"] = version
        if any(difference.kind in modifying for difference in step.differences(path)):
            life["modified_in"].append(version)


def _born(library: str, path: str, version: str, introduced_in: str | None) -> Row:
    return {
        "library": library,
        "path": path,
        "first_version": version,
        "last_version": version,
        "introduced_in": introduced_in,
        "removed_in": None,
        "deprecated_in": None,
        "replacement": None,
        "modified_in": [],
    }


def _described(lives: Sequence[Row], run: Sequence[str], indexes: Mapping[str, Index]) -> list[Row]:
    """Fill in what each path was in its last release, and since when it has been marked as deprecated."""
    for life in lives:
        versions = run[run.index(life["first_version"]) : run.index(life["last_version"]) + 1]
        for version in versions:
            _at(life, version, indexes[version])
    return sorted(lives, key=lambda life: (life["path"], Version(life["first_version"])))


def _at(life: Row, version: str, index: Index) -> None:
    found = index.find(life["path"])
    row = index.rows.get(life["path"], found)
    if row is None:
        # not seen there: its module does not parse, or a base from outside provides it
        return
    mark = row["deprecation"] or (found["deprecation"] if found else None)
    life["kind"] = row["kind"]
    life["deprecated_in"] = (life["deprecated_in"] or version) if mark else None
    if mark and life["replacement"] is None:
        life["replacement"] = mark["replacement"]
