"""The configurations of a snapshot, and their rows: read from the lake a library at a time, since all are too many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.families.all_families import FAMILIES
from pipeline.lake.schema import Row, table
from pipeline.lake.tables import Lake, read_parquet, rows_in

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
    "reaches": "reaches",
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
"""Name of a configuration of the data set to the declared table that it holds; instance families come first."""

BY_MODEL = {"rewrites": "drafted_rewrites", "verdicts": "drafted_verdicts"}
"""Tables of the lake whose rows stand with those that rules made, in the columns that both have."""

TAGGED = tuple(family.table for family in FAMILIES if family.tagged)
"""The families whose rows have tags."""


class Rows(Mapping[str, Sequence[Row]]):
    """Rows by configuration, which are read anew each time they are asked for: nothing is held."""

    def __init__(self, lake: Lake, libraries: Sequence[str]) -> None:
        self._lake, self._libraries = lake, libraries
        self._kept: dict[str, Callable[[list[Row]], list[Row]]] = {}
        self._more: dict[str, Sequence[Row]] = {}
        self._columns: frozenset[str] | None = None

    def __getitem__(self, config: str) -> Sequence[Row]:
        """Read the rows of a configuration."""
        return [row for rows in self.parts(config) for row in rows]

    def __iter__(self) -> Iterator[str]:
        """Go through the names of the configurations."""
        return iter(TABLES)

    def __len__(self) -> int:
        """Return how many configurations there are."""
        return len(TABLES)

    def parts(self, config: str) -> Iterator[Sequence[Row]]:
        """Read the rows of a configuration a library at a time."""
        kept = self._kept.get(config, list)
        for library in self._libraries:
            yield kept(self._read(TABLES[config], config, library))
            if config in BY_MODEL:
                yield kept(self._read(BY_MODEL[config], config, library))
        yield self._more.get(config, ())

    @property
    def covered(self) -> set[str]:
        """The libraries that have any row; those of files alone are looked at, releases first."""
        names = sorted(TABLES.values(), key=lambda name: name != TABLES["releases"])
        return {
            library
            for library in self._libraries
            if any(rows_in(part) for name in names for part in self._lake.parts(name, library))
        }

    def only(self, columns: Iterable[str]) -> Rows:
        """Return the same with these columns alone, as far as each configuration has them."""
        return self._but(_columns=frozenset(columns))

    def kept(self, config: str, which: Callable[[list[Row]], list[Row]]) -> Rows:
        """Return the same with those rows of a configuration that a function keeps."""
        return self._but(_kept=self._kept | {config: which})

    def and_also(self, more: Mapping[str, Sequence[Row]]) -> Rows:
        """Return the same with more rows behind those that it has."""
        return self._but(_more=self._more | {config: [*self._more.get(config, ()), *more[config]] for config in more})

    def _but(self, **changed: object) -> Rows:
        other = copy(self)
        vars(other).update(changed)
        return other

    def _read(self, name: str, config: str, library: str) -> list[Row]:
        if not any(rows_in(part) for part in self._lake.parts(name, library)):
            return []  # a file of another time, whose columns are others, may stay as long as it has no rows
        declared = [column.name for column in table(TABLES[config]).columns]
        wanted = [column for column in declared if self._columns is None or column in self._columns]
        key = [column for column in table(name).key if column not in wanted]  # what several parts are put in order by
        return self._lake.read(name, library, columns=[*wanted, *key]) if wanted else []


class Written(Mapping[str, Sequence[Row]]):
    """Some columns of the rows of a folder of configurations, in the order of their libraries, and more rows behind."""

    def __init__(self, folder: Path, columns: Iterable[str], more: Mapping[str, Sequence[Row]] | None = None) -> None:
        self._folder, self._columns, self._more = folder, frozenset(columns), more or {}

    def __getitem__(self, config: str) -> Sequence[Row]:
        """Read the rows of a configuration."""
        rows = sorted(read_columns(self._folder / f"{config}.parquet", self._columns), key=_library)
        return [*rows, *self._more.get(config, ())]

    def __iter__(self) -> Iterator[str]:
        """Go through the names of the configurations."""
        return iter(TABLES)

    def __len__(self) -> int:
        """Return how many configurations there are."""
        return len(TABLES)

    def and_also(self, more: Mapping[str, Sequence[Row]]) -> Written:
        """Return the same with these rows behind those that it has."""
        return Written(self._folder, self._columns, more)


def read_columns(path: Path, columns: Iterable[str], where: pc.Expression | None = None) -> list[Row]:
    """Read these columns of a file, as far as it has them; no rows where there is no such file."""
    if not path.is_file():
        return []
    wanted = [name for name in pq.read_schema(path).names if name in columns]
    return read_parquet(path, where, wanted) if wanted else []


def _library(row: Row) -> str:
    return str(row.get("library"))
