"""Verification of a snapshot: hashes, schemas, keys, vocabularies, references between tables, counts, errata.

A snapshot may come from anybody: what the manifest says is never used to open a file, only to look it up among the
regular files that lie in the folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
from more_itertools import first

from pipeline.core.vocabularies.changes import Agreement
from pipeline.core.vocabularies.projects import ProjectOutcome
from pipeline.lake.schema import Column, Table, enum_of, table
from pipeline.snapshots.candidate import TEXTS
from pipeline.snapshots.comparison.errata import CONCERNED
from pipeline.snapshots.description.attribution import Source, unnamed
from pipeline.snapshots.format.manifest import Entry, SnapshotError
from pipeline.snapshots.format.reader import DATA, DEPRECATED, Snapshot
from pipeline.snapshots.format.tables import TABLES, TAGGED
from pipeline.snapshots.leaks import leaks
from pipeline.snapshots.references import dangling
from pipeline.snapshots.verify_errata import PREFIX, errata_problems

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

_BROKEN = (pa.ArrowException, duckdb.Error, OSError, ValueError, MemoryError)
"""What a query over a broken Parquet file can end with."""

_NAMED = 5
"""Of sources that nobody names so many are told one by one."""


def verify(folder: Path) -> list[str]:
    """Return what is wrong with a snapshot, one line a problem; nothing means that every check held.

    Errors: SnapshotError where the folder is no snapshot.
    """
    snapshot = Snapshot(folder)
    problems = [*_listing(snapshot)]
    readable: dict[str, Dataset] = {}
    for entry in snapshot.manifest.files:
        try:
            data = _checked(snapshot, entry)
        except SnapshotError as error:
            problems.append(str(error))
        else:
            if data is not None:
                readable[_view(entry)] = data
    problems += _tables(snapshot, readable)
    return [_line(problem) for problem in problems]


def _line(problem: str) -> str:
    """Return a problem as one line that any terminal can show, whatever the names in it are."""
    plain = " ".join(problem.split())
    return plain if plain.isprintable() else ascii(plain)[1:-1]


def _view(entry: Entry) -> str:
    """Return what a table is called here: by its name, in the split deprecated with a prefix."""
    return f"{PREFIX if _is_deprecated(entry) else ''}{entry.table}"


def _is_deprecated(entry: Entry) -> bool:
    return entry.path.startswith(f"{DEPRECATED}/")


def _listing(snapshot: Snapshot) -> Iterator[str]:
    """Compare the names in the manifest with those in the folder."""
    files = snapshot.manifest.files
    listed = Counter(entry.path for entry in files)
    for path in sorted(set(snapshot.files) - set(listed) - {"manifest.json"}):
        yield f"{path}: not listed in the manifest"
    for other in sorted(snapshot.folder.rglob("*")):
        if other.is_symlink() or not (other.is_file() or other.is_dir()):
            yield f"{other.relative_to(snapshot.folder).as_posix()}: neither a regular file nor a folder"
    for what, counted in (("path", listed), ("table", Counter(_view(entry) for entry in files if entry.table))):
        for name in sorted(name for name, number in counted.items() if number > 1):
            yield f"{name}: {what} listed {counted[name]} times in the manifest"
    for name in TEXTS:
        if name not in listed:
            yield f"{name}: missing in the manifest"


def _checked(snapshot: Snapshot, entry: Entry) -> Dataset | None:
    """Return the table in a file, None of a text; what is in a file with a wrong hash is not looked at.

    Errors: SnapshotError.
    """
    if problem := snapshot.problem_of(entry):
        raise SnapshotError(problem)
    if entry.table is None:
        return None
    if entry.table not in TABLES.values():
        raise SnapshotError(f"{entry.path}: {entry.table} is not a table of a snapshot")
    config = first(config for config, name in TABLES.items() if name == entry.table)
    split = DEPRECATED if _is_deprecated(entry) else DATA
    if split == DEPRECATED and config not in CONCERNED:
        raise SnapshotError(f"{entry.path}: rows of {entry.table} are never deprecated")
    if entry.path != f"{split}/{config}.parquet":
        raise SnapshotError(f"{entry.path}: {entry.table} stands in {split}/{config}.parquet")
    return snapshot.dataset(config, split=split)


def _tables(snapshot: Snapshot, readable: Mapping[str, Dataset]) -> Iterator[str]:
    """Check the rows of the tables that can be read, and that the attribution names their sources."""
    text, tags = snapshot.files.get("ATTRIBUTION.md"), snapshot.manifest.tags
    with duckdb.connect() as database:
        for name, data in readable.items():
            database.register(name, data)
        for name in readable:
            try:
                yield from _content(database, name, readable)
            except _BROKEN as error:
                yield f"{name}: cannot be read: {error}"
        for what, problems in (
            ("errata", errata_problems(database, readable)),
            ("ATTRIBUTION.md", _attribution(database, readable, text)),
        ):
            try:
                yield from problems
            except _BROKEN as error:
                yield f"{what}: cannot be read: {error}"
        for family in TAGGED:
            yield from _counted(database, readable, TABLES[family], "libevolutioneval_tag", tags.get(family))
        yield from _counted(database, readable, "releases", "library", snapshot.manifest.libraries)


def _attribution(database: duckdb.DuckDBPyConnection, readable: Collection[str], text: Path | None) -> Iterator[str]:
    """Every source of a row must be named with its licence and its author; where the file is missing others say so."""
    if text is None:
        return
    sources: set[Source] = set()
    for name in readable:
        columns = {column.name for column in table(name.removeprefix(PREFIX)).columns}
        if {"purl", "licence", "attribution"} <= columns:
            url = "url" if "url" in columns and name != "releases" and name != "projects" else "NULL"
            # of a project that could not be taken nothing is quoted
            taken = f"outcome = '{ProjectOutcome.TRACED}'" if name == "projects" else "true"
            query = f"SELECT DISTINCT purl, {url}, licence, attribution FROM {name} WHERE {taken}"  # noqa: S608
            sources |= {Source(*row) for row in database.execute(query).fetchall()}
    lacking = unnamed(text.read_text(encoding="utf-8"), sources)
    for source in lacking[:_NAMED]:
        yield f"ATTRIBUTION.md: does not name {source.purl or source.url}, {source.licence}, {source.attribution}"
    if len(lacking) > _NAMED:
        yield f"ATTRIBUTION.md: does not name {len(lacking) - _NAMED} more sources"


def _content(database: duckdb.DuckDBPyConnection, name: str, readable: Collection[str]) -> Iterator[str]:
    """Check the rows of a table; what a deprecated row refers to may be gone, so that is not asked."""
    declared = table(name.removeprefix(PREFIX))
    key = ", ".join(declared.key)
    twice = _count(database, f"SELECT {key} FROM {name} GROUP BY ALL HAVING count(*) > 1")  # noqa: S608
    if twice:
        yield f"{name}: {twice} keys ({key}) stand in more than one row"
    columns = tuple(column for column in declared.columns if not column.volatile)
    if name == declared.name:
        yield from dangling(database, name, readable)
    yield from _vocabularies(database, _terms(declared, columns, name, "", f"{name}."))
    if "canary" in {column.name for column in columns}:
        yield from _canary(database, name)
    if "agreement" in {column.name for column in columns}:
        yield from _both_versions(database, name)
    if name == declared.name:
        yield from leaks(database, name, readable)


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of one closed vocabulary: what they are called, where they come from, and which are wrong."""

    where: str
    vocabulary: str
    source: str
    wrong: str


def _vocabularies(database: duckdb.DuckDBPyConnection, values: Iterable[_Values]) -> Iterator[str]:
    """Look for values outside their vocabularies, with one pass over each source."""
    sources: dict[str, list[_Values]] = {}
    for each in values:
        sources.setdefault(each.source, []).append(each)
    for source, group in sources.items():
        counts = ", ".join(f"count(*) FILTER (WHERE {each.wrong})" for each in group)
        counted = database.execute(f"SELECT {counts} FROM {source}").fetchone() or ()  # noqa: S608
        for each, number in zip(group, counted, strict=True):
            if number:
                yield f"{each.where}: {number} values are not in the vocabulary {each.vocabulary}"


def _terms(declared: Table, columns: tuple[Column, ...], source: str, prefix: str, where: str) -> Iterator[_Values]:
    """Yield the values of every closed vocabulary, those in lists and structs too."""
    for column in columns:
        inner, values = source, f'{prefix}"{column.name}"'
        kind = column.type.removeprefix("list[").removesuffix("]")
        if kind != column.type:
            inner, values = f"(SELECT unnest({values}) AS item FROM {source})", "item"  # noqa: S608
        if kind in declared.types:
            yield from _terms(declared, declared.types[kind], inner, f"{values}.", f"{where}{column.name}.")
        elif enum := enum_of(kind):
            allowed = ", ".join(f"'{value}'" for value in enum)
            yield _Values(f"{where}{column.name}", kind, inner, f"{values} NOT IN ({allowed})")


def _canary(database: duckdb.DuckDBPyConnection, name: str) -> Iterator[str]:
    if _count(database, f"SELECT 1 FROM {name} WHERE length(trim(canary)) < 16"):  # noqa: S608
        yield f"{name}: rows without a canary"
    if (different := _count(database, f"SELECT DISTINCT canary FROM {name}")) > 1:  # noqa: S608
        yield f"{name}: {different} different canaries"


def _both_versions(database: duckdb.DuckDBPyConnection, name: str) -> Iterator[str]:
    """A contradiction is no news without the two versions that contradict each other."""
    lacking = "stated_version IS NULL OR found_version IS NULL"
    contradicting = f"agreement = '{Agreement.CONTRADICTS}'"
    if number := _count(database, f"SELECT 1 FROM {name} WHERE {contradicting} AND ({lacking})"):  # noqa: S608
        yield f"{name}: {number} contradictions without the stated version or the one that was found"


def _count(database: duckdb.DuckDBPyConnection, query: str) -> int:
    row = database.execute(f"SELECT count(*) FROM ({query})").fetchone()  # noqa: S608
    return int(row[0]) if row else 0


def _counted(
    database: duckdb.DuckDBPyConnection,
    readable: Collection[str],
    name: str,
    column: str,
    stated: Mapping[str, int] | None,
) -> Iterator[str]:
    """Compare the rows of a table, counted by a column, with what the manifest states."""
    if name not in readable:
        yield f"{name}: the table is missing or broken"
        return
    try:
        counted = dict(database.execute(f"SELECT {column}, count(*) FROM {name} GROUP BY 1 ORDER BY 1").fetchall())  # noqa: S608
    except _BROKEN as error:
        yield f"{name}: cannot be read: {error}"
        return
    if counted != stated:
        yield f"{name}: by {column} there are {counted}, the manifest says {stated}"
