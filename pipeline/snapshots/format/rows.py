"""The configurations of a snapshot, and their rows, read from the lake one library at a time to save memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.core.errors import CodedError
from pipeline.families.all_families import FAMILIES
from pipeline.lake.rows import AnyRow, Configurations, R, RejectRow
from pipeline.lake.schema import SchemaError, table
from pipeline.lake.tables import Lake, read_parquet

TABLES: dict[str, str] = {
    **{family.table: family.published for family in FAMILIES},
    "retrievals": "published_retrievals",
    "changes": "published_changes",
    "api_documents": "api_documents",
    "directives": "directives",
    "documents": "documents",
    "environments": "environments",
    "errata": "errata",
    "flags": "flags",
    "function_environments": "function_environments",
    "lifecycles": "lifecycles",
    "problem_environments": "problem_environments",
    "projects": "projects",
    "line_coverage": "line_coverage",
    "rejects": "rejects",
    "releases": "releases",
    "rewrites": "rewrites",
    "snippets": "snippets",
    "survivals": "survivals",
    "symbols": "symbols",
    "traced_functions": "traced_functions",
    "usages": "usages",
    "verdicts": "verdicts",
}
"""Declared tables by configuration of the data set; instance families come first."""

BY_MODEL = {"rewrites": "drafted_rewrites", "verdicts": "drafted_verdicts"}
"""Tables of rows made by a model, which are published with those made by rules, in the columns of both."""

TAGGED = tuple(family.table for family in FAMILIES if family.tagged)
"""The families whose rows have tags."""


class Rows(Configurations):
    """Rows by configuration, read again at each access: nothing stays in memory."""

    def __init__(self, lake: Lake, libraries: Sequence[str]) -> None:
        self._lake, self._libraries = lake, libraries
        self._filters: dict[str, Callable[[list[Any]], Sequence[AnyRow]]] = {}
        self._more: dict[str, Sequence[AnyRow]] = {}
        self._columns: frozenset[str] | None = None

    def _rows_of(self, config: str) -> Sequence[AnyRow]:
        return [row for rows in self.parts(config) for row in rows]

    def __iter__(self) -> Iterator[str]:
        """Go through the names of the configurations."""
        return iter(TABLES)

    def __len__(self) -> int:
        """Return how many configurations there are."""
        return len(TABLES)

    def parts(self, config: str) -> Iterator[Sequence[AnyRow]]:
        """Read the rows of a configuration a library at a time."""
        filtered = self._filters.get(config, list)
        for library in self._libraries:
            yield filtered(self._read(TABLES[config], config, library))
            if config in BY_MODEL:
                yield filtered(self._read(BY_MODEL[config], config, library))
        yield self._more.get(config, ())

    @property
    def covered(self) -> set[str]:
        """The libraries that have any row in the lake."""
        names = sorted(TABLES.values(), key=lambda name: name != TABLES["releases"])
        return {library for library in self._libraries if any(self._lake.count(name, library) for name in names)}

    def only(self, columns: Iterable[str]) -> Rows:
        """Return the same with these columns alone, as far as each configuration has them."""
        return self._but(_columns=frozenset(columns))

    def filtered(self, config: str, which: Callable[[list[R]], Sequence[R]]) -> Rows:
        """Return the same with a function applied to the rows of a configuration."""
        return self._but(_filters=self._filters | {config: which})

    def and_also(self, more: Mapping[str, Sequence[AnyRow]]) -> Rows:
        """Return the same with further rows at the end."""
        return self._but(_more=self._more | {config: [*self._more.get(config, ()), *more[config]] for config in more})

    def _but(self, **changed: object) -> Rows:
        other = copy(self)
        vars(other).update(changed)
        return other

    def _read(self, name: str, config: str, library: str) -> list[AnyRow]:
        if not self._lake.count(name, library):
            return []  # an empty file may have outdated columns
        declared = [column.name for column in table(TABLES[config]).columns]
        names = [column for column in declared if self._columns is None or column in self._columns]
        key = [column for column in table(name).key if column not in names]  # the order of several parts
        return self._lake.read(name, library, columns=[*names, *key]) if names else []


class PublishedRows(Configurations):
    """Some columns of the rows in a folder of configurations, ordered by library, with further rows at the end."""

    def __init__(
        self, folder: Path, columns: Iterable[str], more: Mapping[str, Sequence[AnyRow]] | None = None
    ) -> None:
        self._folder, self._columns, self._more = folder, frozenset(columns), more or {}

    def _rows_of(self, config: str) -> Sequence[AnyRow]:
        rows = sorted(read_columns(self._folder / f"{config}.parquet", self._columns), key=_library)
        return [*rows, *self._more.get(config, ())]

    def __iter__(self) -> Iterator[str]:
        """Go through the names of the configurations."""
        return iter(TABLES)

    def __len__(self) -> int:
        """Return how many configurations there are."""
        return len(TABLES)

    def and_also(self, more: Mapping[str, Sequence[AnyRow]]) -> PublishedRows:
        """Return the same with these rows at the end."""
        return PublishedRows(self._folder, self._columns, more)


def read_columns(path: Path, columns: Iterable[str], where: pc.Expression | None = None) -> list[AnyRow]:
    """Read these columns of a file, as far as it has them; no rows for a missing file."""
    if not path.is_file():
        return []
    names = [name for name in pq.read_schema(path).names if name in columns]
    return read_parquet(path, where, names) if names else []


def _library(row: AnyRow) -> str:
    return str(row.get("library"))


class NothingToPublish(CodedError, ValueError):
    """No instance was accepted: an empty snapshot would replace one that people use."""

    code = "nothing_to_publish"


class OutdatedTables(CodedError, ValueError):
    """Tables of the lake have the columns of another Driftline; the message names their libraries.

    Missing values are not filled in: every row of a snapshot has the guarantees of today's stages.
    """

    code = "tables_outdated"


def read_tables(lake: Lake, profile: str, libraries: Sequence[str]) -> Rows:
    """Return the rows of each configuration, after a check of all of them.

    Errors: OutdatedTables.
    """
    names = sorted({*TABLES.values(), *BY_MODEL.values()})
    outdated = {
        library: name for name in names for library in libraries if _is_outdated(name, lake.read(name, library))
    }
    if outdated:
        raise OutdatedTables(_outdated(profile, outdated))
    return Rows(lake, libraries)


def _is_outdated(name: str, rows: Sequence[AnyRow]) -> bool:
    """Say whether rows of the lake differ from today's declaration of the table."""
    declared = {column.name for column in table(name).columns}
    try:
        for row in rows:
            if row.keys() != declared:
                return True
            table(name).check(row)
    except SchemaError:
        return True
    return False


def _outdated(profile: str, outdated: Mapping[str, str]) -> str:
    libraries = sorted(outdated)
    listed = ", ".join(f"{library} ({outdated[library]})" for library in libraries)
    return (
        f"nothing published for profile {profile}: the lake has rows of these libraries that an older Driftline wrote"
        f" and that do not fit the tables of today: {listed}. `latest` stays as it was. Bring them up to date:"
        f" driftline refresh --profile {profile} --libraries {','.join(libraries)} (or take them out of the profile)"
    )


def nothing_to_publish(profile: str, libraries: Sequence[str], rejects: Sequence[RejectRow]) -> str:
    """Return the most frequent rejects, and what to do."""
    reasons = Counter(f"{row['stage']} refused {row['reason']}" for row in rejects)
    first = sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0]))[:5]
    most = ", ".join(f"{reason} ({number})" for reason, number in first)
    return (
        f"nothing to publish for profile {profile}: no instance of {', '.join(libraries)} passed"
        f" acceptance, so no snapshot was written and `latest` stays as it was. Most frequent: {most or 'no rejects'}."
        " Run the refresh first, correct the libraries' names, or take more releases in the profile"
    )
