"""Interval coding: a state that holds over a run of consecutive releases is one row with its first and last version."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from packaging.version import Version

from pipeline.lake.schema import Row


def chains(releases: Iterable[Row]) -> list[list[str]]:
    """Group the versions of a library's `releases` rows into runs without a gap, in PEP 440 order.

    A gap is a release that the index has and the lake has not: what happened inside it is not known, so no state
    is said to hold across it and no change is derived over it.
    """
    runs: list[list[str]] = []
    for release in sorted(releases, key=lambda row: Version(row["version"])):
        if runs and release["predecessor"] == runs[-1][-1]:
            runs[-1].append(release["version"])
        else:
            runs.append([release["version"]])
    return runs


def encode(
    runs: Sequence[Sequence[str]],
    states: Mapping[str, Mapping[str, Row]],
    state_of: Callable[[Row], Hashable],
) -> list[Row]:
    """Turn the rows of each version into rows with `first_version` and `last_version`.

    `states` maps version to key to row; two rows are one state when `state_of` gives the same for both. The row
    that is kept is that of the first version of its run.
    """
    coded: list[Row] = []
    for run in runs:
        living: dict[str, tuple[Hashable, Row]] = {}
        for version in run:
            now = states.get(version, {})
            for key in [key for key in living if key not in now]:
                del living[key]
            for key, row in now.items():
                state = state_of(row)
                if key in living and living[key][0] == state:
                    living[key][1]["last_version"] = version
                else:
                    fresh = row | {"first_version": version, "last_version": version}
                    living[key] = (state, fresh)
                    coded.append(fresh)
    return coded


def holding_at(rows: Iterable[Row], version: str) -> list[Row]:
    """Return the interval-coded rows that hold in a version, that is first_version <= version <= last_version."""
    wanted = Version(version)
    return [row for row in rows if Version(row["first_version"]) <= wanted <= Version(row["last_version"])]
