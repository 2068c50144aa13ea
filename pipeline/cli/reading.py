"""Tables of a library that was never crawled, read from the index for one command."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet

from pipeline import ondemand
from pipeline.lake import Reject, Row
from pipeline.lifecycle import lifecycle_stage
from pipeline.lifecycle.index import Index
from pipeline.surface import Surface, state_rows, surface_stage


@dataclass(frozen=True, slots=True)
class Tables:
    """What all final releases of a library come to."""

    releases: tuple[Row, ...]
    symbols: tuple[Row, ...]
    changes: tuple[Row, ...]
    lifecycles: tuple[Row, ...]
    rejects: tuple[Reject, ...]


def tables_from_index(library: str, tell: Callable[[int, int], None]) -> Tables:
    """Read all final releases of a library; `tell` hears of (done, total) surfaces.

    Errors: NoAnswerError for a library without releases; those of the index.
    """
    house = ondemand._house(library)
    name = house.profile.libraries[0].library
    found = ondemand._crawl(house, name, SpecifierSet(""))
    releases = list(found.tables["releases"])
    if not releases:
        raise ondemand._no_answer(name, found.rejects)
    surfaces: dict[str, Surface] = {}
    for release, surface in ondemand._surfaces(house, releases):
        surfaces[release["version"]] = surface
        tell(len(surfaces), len(releases))
    read = surface_stage(releases, lambda release: surfaces[release["version"]])
    lived = lifecycle_stage(releases, read.tables["symbols"], house.rules.lifecycle)
    return Tables(
        tuple(releases),
        tuple(read.tables["symbols"]),
        tuple(lived.tables["changes"]),
        tuple(lived.tables["lifecycles"]),
        (*found.rejects, *read.rejects),
    )


def states_of(library: str, old: str, new: str, paths: Collection[str]) -> dict[str, tuple[Row, Row]]:
    """Return what some paths that two releases have are in each of them.

    Errors: NoAnswerError where one of them cannot be had; those of the index.
    """
    house = ondemand._house(library)
    name = house.profile.libraries[0].library
    releases = [ondemand._release(house, name, version) for version in (old, new)]
    rows = state_rows({release["version"]: house.surface_of(release) for release in releases})
    before, after = (Index(rows[release["version"]]) for release in releases)
    pairs = {path: (before.find(path), after.find(path)) for path in paths}
    return {path: (was, is_) for path, (was, is_) in pairs.items() if was is not None and is_ is not None}
