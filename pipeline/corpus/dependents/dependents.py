"""Which projects are asked for code that uses a library: those that the rules name, then those that were met."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from packaging.metadata import parse_email
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pipeline.corpus.dependents.rules import DependentRules
from pipeline.index.manifest import Manifest


def dependents_of(library: str, rules: DependentRules, crawled: Iterable[Manifest]) -> list[str]:
    """Return the dependents of a library, at most as many as the rules allow.

    Those that the rules name come first, in their order. Only where they are fewer, what was crawled already is
    searched for others, which come by name: what was crawled depends on what was refreshed before.
    """
    return list(islice(_candidates(library, rules, crawled), rules.dependents_per_library))


def _candidates(library: str, rules: DependentRules, crawled: Iterable[Manifest]) -> Iterator[str]:
    seeds = rules.seeds.get(library, ())
    yield from seeds
    yield from sorted(requirers(library, crawled) - {library, *seeds})


def requirers(library: str, crawled: Iterable[Manifest]) -> set[str]:
    """Return the projects of which some release that was crawled states that it requires a library (Requires-Dist)."""
    spelled = re.compile(rf"^requires-dist:[ \t]*{re.sub('-', '[-_.]+', library)}(?![\w.-]*\w)", re.I | re.M)
    projects = set()
    for manifest in crawled:
        if spelled.search(manifest.metadata):
            raw, _ = parse_email(manifest.metadata)
            if "name" in raw and library in map(_name, raw.get("requires_dist", ())):
                projects.add(str(canonicalize_name(raw["name"])))
    return projects


def _name(requirement: str) -> str | None:
    try:
        return str(canonicalize_name(Requirement(requirement).name))
    except InvalidRequirement:
        return None
