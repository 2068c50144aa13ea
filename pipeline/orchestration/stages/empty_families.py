"""Why a family has no row of a library: the first empty table, what was refused there, and which file to fill."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow.compute as pc

from pipeline.core.vocabularies.families import Family
from pipeline.families.all_families import FAMILIES, INSTANCES
from pipeline.families.family import CODE_OF_OTHERS
from pipeline.lake.runner import Stage
from pipeline.lake.tables import Lake

NEEDS: Mapping[str, tuple[str, ...]] = {
    "releases": (),
    "documents": ("releases",),
    "changes": ("releases",),
    "snippets": ("releases",),
    "usages": ("snippets",),
    "api_documents": ("documents",),
    "projects": ("releases",),
    "traced_functions": ("projects",),
    **{family.table: family.needs for family in INSTANCES},
    **{family.published: family.needs if family.view_of else (family.table,) for family in FAMILIES},
}
"""The tables that a table of a family cannot do without; an empty one explains why the next is empty."""

_PROFILE = "take more of its releases: `versions` or `latest` in curation_rules/profiles/{profile}.yaml"
WHY: Mapping[str, tuple[str, str]] = {
    "releases": ("no release was taken", _PROFILE),
    "documents": ("no docstring was read", "see curation_rules/surface.yaml and, if compiled, inspection.yaml"),
    "changes": ("no API changed between the releases that were taken", _PROFILE),
    "snippets": ("neither docstrings nor a source of code has an example that uses it", CODE_OF_OTHERS),
    "usages": (
        "no example uses a public API of it",
        "names that examples presume go into curation_rules/snippets.yaml",
    ),
    "api_documents": ("no API is documented", "name its site in curation_rules/documentation.yaml"),
    "projects": ("no project with tests was taken", "name one in curation_rules/dependents.yaml"),
    "traced_functions": ("no test of its projects reached a function", "see curation_rules/repository.yaml"),
    **{family.published if family.view_of else family.table: family.advice for family in FAMILIES},
}
_REFUSED = ("acceptance refused every row", "see curation_rules/quality.yaml")


@dataclass(frozen=True, slots=True)
class EmptyFamilies:
    """Families without a row of some libraries for one cause: the empty table, and what its stage refused by reason."""

    families: tuple[str, ...]
    libraries: tuple[str, ...]
    table: str
    why: str
    rejects: Mapping[str, int]
    advice: str

    def __str__(self) -> str:
        """Say it in a line."""
        most = ", ".join(f"{reason} {number}" for reason, number in self.rejects.items())
        refused = f" (refused: {most})" if most else ""
        return f"No {', '.join(self.families)} of {', '.join(self.libraries)}: {self.why}{refused}. {self.advice}"


def empty_families(
    lake: Lake,
    libraries: Iterable[str],
    stages: Mapping[str, Stage],
    profile: str,
    foreign: Collection[str],
    families: Collection[str] = (),
) -> list[EmptyFamilies]:
    """Return why families (all where none is named) have no row of libraries, those with one cause together.

    `foreign` are libraries of other languages, which have blocks of posts and nothing else; others have no such blocks.
    """
    makers = {table: name for name, stage in stages.items() for table in stage.writes}
    causes: dict[tuple[tuple[str, ...], str], list[str]] = defaultdict(list)
    for library in libraries:
        expected = [f for f in FAMILIES if (f.name is Family.BLOCK_COMPLETION) == (library in foreign)]
        of_library: dict[str, list[str]] = defaultdict(list)
        for family in expected:
            if not families or family.table in families:
                for table in _causes(lake, library, family.published):
                    of_library[table].append(family.table)
        for table, empty in of_library.items():
            causes[tuple(empty), table].append(library)
    return [
        EmptyFamilies(empty, tuple(of), table, why, _rejects(lake, of, makers[table]), advice.format(profile=profile))
        for (empty, table), of in causes.items()
        for why, advice in (WHY.get(table, _REFUSED),)
    ]


def _causes(lake: Lake, library: str, table: str) -> Iterator[str]:
    """Yield the empty tables before a table, each of which has all that it needs; the table itself where that is so."""
    if lake.count(table, library):
        return
    before = list(dict.fromkeys(cause for needed in NEEDS[table] for cause in _causes(lake, library, needed)))
    yield from before or [table]


def _rejects(lake: Lake, libraries: Iterable[str], stage: str) -> Mapping[str, int]:
    """Count what a stage refused, the most frequent reasons first."""
    where = pc.field("stage") == stage
    counted = Counter(str(row["reason"]) for library in libraries for row in lake.read("rejects", library, where))
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))
