"""Verification of a snapshot: hashes, schemas, keys, vocabularies, references between tables, counts, errata.

A snapshot may come from anybody: paths of the manifest open no file, they are looked up among the regular files of the
folder.
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
from pipeline.core.vocabularies.snapshots import ErratumReason
from pipeline.lake.schema import Column, Table, enum_of, table
from pipeline.snapshots.candidate import TEXTS
from pipeline.snapshots.comparison.column_comparison import count_rows
from pipeline.snapshots.comparison.errata import CONCERNED
from pipeline.snapshots.description.attribution import Source, unnamed
from pipeline.snapshots.format.manifest import Entry, SnapshotError
from pipeline.snapshots.format.reader import DATA, DEPRECATED, Snapshot, paths_of
from pipeline.snapshots.format.rows import TABLES, TAGGED
from pipeline.snapshots.leaks import leaks
from pipeline.snapshots.references import dangling

PREFIX = "deprecated_"
"""Prefix of the views of tables in the split `deprecated`."""


def errata_problems(database: duckdb.DuckDBPyConnection, readable: Collection[str]) -> Iterator[str]:
    """Yield contradictions between errata and deprecated rows; `readable` are the tables with a view."""
    if "errata" not in readable:
        return
    for config in CONCERNED:
        name, deprecated = TABLES[config], PREFIX + TABLES[config]
        if name not in readable:
            continue
        carried = f"SELECT row_id FROM errata WHERE config = '{config}' AND kept"  # noqa: S608
        if deprecated in readable:
            yield from _deprecated_problems(database, config, name, deprecated, carried)
        elif number := count_rows(database, carried):
            yield f"errata: {number} rows of {config} are marked as kept, and there is no deprecated/{config}.parquet"
        yield from _gone(database, config, name)
    unknown = ", ".join(f"'{config}'" for config in CONCERNED)
    if number := count_rows(database, f"SELECT 1 FROM errata WHERE config NOT IN ({unknown})"):  # noqa: S608
        yield f"errata.config: {number} rows name no configuration that can have errata"


def _deprecated_problems(
    database: duckdb.DuckDBPyConnection, config: str, name: str, deprecated: str, carried: str
) -> Iterator[str]:
    """Check the deprecated rows of a configuration against the errata and against the current rows."""
    checks = {
        "errata are marked as kept, and the split deprecated lacks them": (
            f"SELECT row_id FROM ({carried}) AS a ANTI JOIN {deprecated} AS b ON a.row_id = b.id"  # noqa: S608
        ),
        "deprecated rows have no erratum marked as kept": (
            f"SELECT id FROM {deprecated} AS a ANTI JOIN ({carried}) AS b ON a.id = b.row_id"  # noqa: S608
        ),
        "rows are both deprecated and current": (
            f"SELECT a.id FROM {deprecated} AS a JOIN {name} AS b ON a.id = b.id"  # noqa: S608
        ),
    }
    for problem, query in checks.items():
        if number := count_rows(database, query):
            yield f"deprecated/{config}.parquet: {number} {problem}"


def _gone(database: duckdb.DuckDBPyConnection, config: str, name: str) -> Iterator[str]:
    """Check that rows with an erratum are removed unless restored."""
    query = (
        f"SELECT row_id FROM errata AS a JOIN {name} AS b ON a.row_id = b.id WHERE a.config = '{config}'"  # noqa: S608
        f" AND NOT a.restored AND a.reason <> '{ErratumReason.CORRECTED}'"
    )
    if number := count_rows(database, query):
        yield f"errata: {number} rows of {config} are reported as removed, and are current"


if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

_BROKEN = (pa.ArrowException, duckdb.Error, OSError, ValueError, MemoryError)
"""Errors of queries over broken Parquet files."""

_NAMED = 5
"""Missing sources that are listed one by one."""


def verify(folder: Path) -> list[str]:
    """Return the problems of a snapshot, one line each; none if all checks pass.

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
    """Return a problem as one printable line, whatever names it contains."""
    plain = " ".join(problem.split())
    return plain if plain.isprintable() else ascii(plain)[1:-1]


def _view(entry: Entry) -> str:
    """Return the view of a table: its name, in the split deprecated with a prefix."""
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
    for kind, counted in (("path", listed), ("table", Counter(_view(entry) for entry in files if entry.table))):
        for name in sorted(name for name, number in counted.items() if number > 1):
            yield f"{name}: {kind} listed {counted[name]} times in the manifest"
    for name in TEXTS:
        if name not in listed:
            yield f"{name}: missing in the manifest"


def _checked(snapshot: Snapshot, entry: Entry) -> Dataset | None:
    """Return the table in a file, None for a text; files with a wrong hash are not read.

    Errors: SnapshotError.
    """
    if problem := snapshot.problem_of(entry):
        raise SnapshotError(problem, code="snapshot_file_differs")
    if entry.table is None:
        return None
    if entry.table not in TABLES.values():
        raise SnapshotError(f"{entry.path}: {entry.table} is not a table of a snapshot", code="snapshot_table_unknown")
    config = first(config for config, name in TABLES.items() if name == entry.table)
    split = DEPRECATED if _is_deprecated(entry) else DATA
    if split == DEPRECATED and config not in CONCERNED:
        raise SnapshotError(
            f"{entry.path}: rows of {entry.table} are never deprecated", code="snapshot_table_misplaced"
        )
    if entry.path not in (paths := paths_of(config, split)):
        raise SnapshotError(f"{entry.path}: {entry.table} belongs in {paths[0]}", code="snapshot_table_misplaced")
    return snapshot.dataset(config, split=split)


def _tables(snapshot: Snapshot, readable: Mapping[str, Dataset]) -> Iterator[str]:
    """Check the rows of the readable tables, and that the attribution names their sources."""
    text, tags = snapshot.files.get("ATTRIBUTION.md"), snapshot.manifest.tags
    with duckdb.connect() as database:
        for name, data in readable.items():
            database.register(name, data)
        for name in readable:
            try:
                yield from _content(database, name, readable)
            except _BROKEN as error:
                yield f"{name}: cannot be read: {error}"
        for subject, problems in (
            ("errata", errata_problems(database, readable)),
            ("ATTRIBUTION.md", _attribution(database, readable, text)),
        ):
            try:
                yield from problems
            except _BROKEN as error:
                yield f"{subject}: cannot be read: {error}"
        for family in TAGGED:
            yield from _counted(database, readable, TABLES[family], "libevolutioneval_tag", tags.get(family))
        yield from _counted(database, readable, "releases", "library", snapshot.manifest.libraries)


def _attribution(database: duckdb.DuckDBPyConnection, readable: Collection[str], text: Path | None) -> Iterator[str]:
    """Check that every source of a row is named with its licence and author; other checks report a missing file."""
    if text is None:
        return
    sources: set[Source] = set()
    for name in readable:
        columns = {column.name for column in table(name.removeprefix(PREFIX)).columns}
        if {"purl", "licence", "attribution"} <= columns:
            url = "url" if "url" in columns and name != "releases" and name != "projects" else "NULL"
            # nothing is quoted from projects that could not be traced
            quoted = f"outcome = '{ProjectOutcome.TRACED}'" if name == "projects" else "true"
            query = f"SELECT DISTINCT purl, {url}, licence, attribution FROM {name} WHERE {quoted}"  # noqa: S608
            sources |= {Source(*row) for row in database.execute(query).fetchall()}
    missing = unnamed(text.read_text(encoding="utf-8"), sources)
    for source in missing[:_NAMED]:
        yield f"ATTRIBUTION.md: does not name {source.purl or source.url}, {source.licence}, {source.attribution}"
    if len(missing) > _NAMED:
        yield f"ATTRIBUTION.md: does not name {len(missing) - _NAMED} more sources"


def _content(database: duckdb.DuckDBPyConnection, name: str, readable: Collection[str]) -> Iterator[str]:
    """Check the rows of a table; references of deprecated rows are not checked, since their targets may be gone."""
    declared = table(name.removeprefix(PREFIX))
    key = ", ".join(declared.key)
    twice = count_rows(database, f"SELECT {key} FROM {name} GROUP BY ALL HAVING count(*) > 1")  # noqa: S608
    if twice:
        yield f"{name}: {twice} keys ({key}) are in more than one row"
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
    """The values of one closed vocabulary: path of the column, source query, and condition for wrong ones."""

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
    """Yield the values of every closed vocabulary, also in lists and structs."""
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
    if count_rows(database, f"SELECT 1 FROM {name} WHERE length(trim(canary)) < 16"):  # noqa: S608
        yield f"{name}: rows without a canary"
    if (different := count_rows(database, f"SELECT DISTINCT canary FROM {name}")) > 1:  # noqa: S608
        yield f"{name}: {different} different canaries"


def _both_versions(database: duckdb.DuckDBPyConnection, name: str) -> Iterator[str]:
    """Check that contradictions name both versions."""
    incomplete = "stated_version IS NULL OR found_version IS NULL"
    contradicting = f"agreement = '{Agreement.CONTRADICTS}'"
    if number := count_rows(database, f"SELECT 1 FROM {name} WHERE {contradicting} AND ({incomplete})"):  # noqa: S608
        yield f"{name}: {number} contradictions without both the stated and the found version"


def _counted(
    database: duckdb.DuckDBPyConnection,
    readable: Collection[str],
    name: str,
    column: str,
    declared: Mapping[str, int] | None,
) -> Iterator[str]:
    """Compare the rows of a table, counted by a column, with the counts of the manifest."""
    if name not in readable:
        yield f"{name}: the table is missing or broken"
        return
    try:
        counted = dict(database.execute(f"SELECT {column}, count(*) FROM {name} GROUP BY 1 ORDER BY 1").fetchall())  # noqa: S608
    except _BROKEN as error:
        yield f"{name}: cannot be read: {error}"
        return
    if counted != declared:
        yield f"{name}: by {column} there are {counted}, the manifest says {declared}"
