"""Which libraries and releases somebody may have meant who misspelt one."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Iterable
from difflib import get_close_matches

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pipeline.core import spelling
from pipeline.index.library_facts import FOLDER, read_ranking

NEIGHBOURS = 2
"""Releases that are named on either side of a version that does not exist."""


def did_you_mean(library: str) -> str:
    """Return a question that follows a name which the index does not know; empty where no name is alike.

    The index gives no list of its names that could be asked for in passing; those of the ranking are looked through.
    """
    return spelling.did_you_mean(canonicalize_name(library), _ranked())


def nearest_versions(version: str, versions: Iterable[str]) -> list[str]:
    """Return the releases next to a version that is not among them and those spelled alike, in order of version.

    Of what is no version and is spelled like none, these are the newest releases.
    """
    spellings = {parsed: spelled for spelled in versions if (parsed := _parsed(spelled))}
    ordered = sorted(spellings)
    near = {Version(spelled) for spelled in get_close_matches(version, spellings.values(), n=NEIGHBOURS, cutoff=0.8)}
    if target := _parsed(version):
        place = bisect.bisect(ordered, target)
        near |= {*ordered[max(place - NEIGHBOURS, 0) : place + NEIGHBOURS]}
    near = near or {*ordered[-NEIGHBOURS:]}
    return [spellings[parsed] for parsed in sorted(near)]


@functools.cache
def _ranked() -> tuple[str, ...]:
    path = FOLDER / "ranking.csv"
    return tuple(ranked.library for ranked in read_ranking(path)) if path.is_file() else ()


def _parsed(version: str) -> Version | None:
    try:
        return Version(version)
    except InvalidVersion:
        return None
