"""Version numbers of stages and caches: `versions.yaml` beside this file, with the hash of the sources behind each.

A number is in the fingerprint of a stage, or in the key of a cache: when it is raised, the result is made again.
`make versions` writes the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

import yaml

FILE = Path(__file__).with_name("versions.yaml")


class Recorded(NamedTuple):
    """A version, and the hash of the sources that it was decided for."""

    version: int
    sources: str


def stage_version(name: str) -> int:
    """Return the version of a stage, for its fingerprint."""
    return read_versions()["stages"][name].version


def cache_version(name: str) -> int:
    """Return the version of what a cache holds, for its keys."""
    return read_versions()["caches"][name].version


def all_versions() -> dict[str, int]:
    """Return the versions of all stages and caches, by name."""
    return {name: recorded.version for entries in read_versions().values() for name, recorded in entries.items()}


@cache
def read_versions() -> Mapping[str, Mapping[str, Recorded]]:
    """Return what is recorded of `stages` and `caches`, by name."""
    written = cast("Mapping[str, Mapping[str, Mapping[str, str]]]", yaml.safe_load(FILE.read_text(encoding="utf-8")))
    return {
        group: {name: Recorded(int(entry["version"]), str(entry["sources"])) for name, entry in entries.items()}
        for group, entries in written.items()
    }
