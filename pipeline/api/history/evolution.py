"""The evolution of a library: how many APIs each release introduced, deprecated, removed and modified."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from packaging.version import Version

from pipeline.core.vocabularies.changes import GONE, MARKED, RELOCATED, WHOLE, ChangeKind
from pipeline.lake.rows import ChangeRow, LifecycleRow, ReleaseRow

INTRODUCED = WHOLE - GONE
REMOVED = GONE - RELOCATED
MODIFIED = frozenset(ChangeKind) - WHOLE - MARKED
"""What is neither coming, going nor a mark: the API is there before and after, and something about it differs."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one release did to the API: counts of public paths, each counted once in each column that it belongs to.

    `compared` is False for a release whose predecessor is not in the lake: what it changed is not known. `breaking`
    counts those of the `modified` after which code that was right can fail; `size` the public paths that it has.
    """

    version: str
    release_time: datetime
    major: bool
    compared: bool
    introduced: int
    deprecated: int
    removed: int
    moved: int
    modified: int
    breaking: int
    size: int

    @property
    def total(self) -> int:
        """What changed in all."""
        return self.introduced + self.deprecated + self.removed + self.moved + self.modified


def evolution_of(
    releases: Sequence[ReleaseRow],
    changes: Iterable[ChangeRow],
    lifecycles: Iterable[LifecycleRow],
    uncompared: Collection[str] = (),
) -> list[Step]:
    """Count the changes of each release of a library, in PEP 440 order; of those `uncompared` they are not known.

    An API that came or went as a whole is one row of `changes` and counts once, without its members; `size` counts
    every path of `lifecycles`.
    """
    ordered = sorted(releases, key=lambda row: Version(row["version"]))
    by_version: dict[str, list[ChangeRow]] = {row["version"]: [] for row in ordered}
    for change in changes:
        by_version[change["new_version"]].append(change)
    versions = [row["version"] for row in ordered]
    sizes = _sizes(versions, lifecycles)
    before: ReleaseRow | None = None
    steps = []
    for row, size in zip(ordered, sizes, strict=True):
        compared = row["version"] not in uncompared
        steps.append(_step(row, before, by_version[row["version"]], size, compared=compared))
        before = row
    return steps


def _step(
    release: ReleaseRow, before: ReleaseRow | None, changes: Sequence[ChangeRow], size: int, *, compared: bool
) -> Step:
    version = Version(release["version"])
    return Step(
        version=release["version"],
        release_time=release["release_time"],
        major=before is None or (version.epoch, version.major) != _major(before),
        compared=compared and before is not None and release["predecessor"] == before["version"],
        introduced=_count(changes, INTRODUCED),
        deprecated=_count(changes, MARKED),
        removed=_count(changes, REMOVED),
        moved=_count(changes, RELOCATED),
        modified=_count(changes, MODIFIED),
        breaking=_count((change for change in changes if change["breaking"]), MODIFIED),
        size=size,
    )


def _major(release: ReleaseRow) -> tuple[int, int]:
    version = Version(release["version"])
    return version.epoch, version.major


def _count(changes: Iterable[ChangeRow], kinds: frozenset[ChangeKind]) -> int:
    return len({change["path"] for change in changes if change["kind"] in kinds})


def _sizes(versions: Sequence[str], lifecycles: Iterable[LifecycleRow]) -> Iterator[int]:
    """Yield how many paths live in each version."""
    place = {version: at for at, version in enumerate(versions)}
    steps = [0] * (len(versions) + 1)
    for life in lifecycles:
        steps[place[life["first_version"]]] += 1
        steps[place[life["last_version"]] + 1 if life["last_version"] else -1] -= 1
    alive = 0
    for step in steps[:-1]:
        alive += step
        yield alive


def since(steps: Sequence[Step], version: str) -> list[Step]:
    """Return the steps from a version on.

    Errors: packaging's InvalidVersion for what is no version by PEP 440.
    """
    return [step for step in steps if Version(step.version) >= Version(version)]


def as_rows(steps: Iterable[Step]) -> list[dict[str, object]]:
    """Return steps in the form that `driftline evolution --json` promises; times are ISO 8601."""
    rows = [{field.name: getattr(step, field.name) for field in fields(Step)} for step in steps]
    return [row | {"release_time": row["release_time"].isoformat()} for row in rows]
