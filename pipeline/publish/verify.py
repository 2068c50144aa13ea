"""Verification of a snapshot: hashes, schemas, keys, vocabularies, references between tables, counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.lake import sha256_file, table
from pipeline.lake.schema import Column, Table, enum_of
from pipeline.publish.snapshot import FAMILIES, read_manifest, tag_counts


def verify(snapshot: Path) -> list[str]:
    """Return what is wrong with a snapshot, one line a problem; nothing means that every check held.

    Errors: ValueError where the folder is no snapshot.
    """
    manifest = read_manifest(snapshot)
    problems = [*_files(snapshot, manifest)]
    readable = {}
    for entry in manifest["files"]:
        path = snapshot / entry["path"]
        if "table" in entry and path.is_file():
            found = list(_schema(path, entry))
            problems += found
            if not found:
                readable[entry["table"]] = path
    with duckdb.connect() as database:
        for name, path in readable.items():
            database.read_parquet(str(path)).create_view(name)
        for name in readable:
            problems += _content(database, table(name), readable)
    for family in FAMILIES:
        problems += _tags(snapshot, manifest, family, readable)
    return problems


def _files(snapshot: Path, manifest: dict[str, Any]) -> Iterator[str]:
    listed = {entry["path"] for entry in manifest["files"]} | {"manifest.json"}
    there = {str(path.relative_to(snapshot)) for path in snapshot.rglob("*") if path.is_file()}
    for path in sorted(there - listed):
        yield f"{path}: not listed in the manifest"
    for entry in manifest["files"]:
        path = snapshot / entry["path"]
        if not path.is_file():
            yield f"{entry['path']}: listed in the manifest, but missing"
        elif (digest := sha256_file(path)) != entry["sha256"]:
            yield f"{entry['path']}: sha256 is {digest}, the manifest says {entry['sha256']}"


def _schema(path: Path, entry: dict[str, Any]) -> Iterator[str]:
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        yield f"{entry['path']}: not a Parquet file: {error}"
        return
    with file:
        if file.metadata.num_rows != entry["rows"]:
            yield f"{entry['path']}: {file.metadata.num_rows} rows, the manifest says {entry['rows']}"
        declared = table(entry["table"]).arrow(volatile=False)
        if not file.schema_arrow.equals(declared):
            differing = {field.name for field in set(declared) ^ set(file.schema_arrow)}
            yield f"{entry['path']}: columns differ from schemas/{entry['table']}.yaml: {', '.join(sorted(differing))}"


def _content(database: duckdb.DuckDBPyConnection, declared: Table, readable: dict[str, Path]) -> Iterator[str]:
    name = declared.name
    key = ", ".join(declared.key)
    twice = _count(database, f"SELECT {key} FROM {name} GROUP BY ALL HAVING count(*) > 1")  # noqa: S608
    if twice:
        yield f"{name}: {twice} keys ({key}) stand in more than one row"
    for column in declared.columns:
        if column.volatile:
            continue
        if column.references:
            yield from _reference(database, name, column, readable)
        if values := enum_of(column.type):
            allowed = ", ".join(f"'{value}'" for value in values)
            wrong = _count(database, f"SELECT 1 FROM {name} WHERE {column.name} NOT IN ({allowed})")  # noqa: S608
            if wrong:
                yield f"{name}.{column.name}: {wrong} values are not in the vocabulary {column.type}"
        if column.name == "canary" and _count(database, f"SELECT 1 FROM {name} WHERE length(canary) < 16"):  # noqa: S608
            yield f"{name}: rows without a canary"


def _reference(
    database: duckdb.DuckDBPyConnection, name: str, column: Column, readable: dict[str, Path]
) -> Iterator[str]:
    target, _, key = str(column.references).partition(".")
    if target not in readable:
        yield f"{name}.{column.name}: cannot be checked, the table {target} is missing or broken"
        return
    query = f"SELECT 1 FROM {name} AS a ANTI JOIN {target} AS b ON a.{column.name} = b.{key} WHERE a.{column.name} IS NOT NULL"  # noqa: E501, S608
    if dangling := _count(database, query):
        yield f"{name}.{column.name}: {dangling} rows refer to no row of {column.references}"


def _count(database: duckdb.DuckDBPyConnection, query: str) -> int:
    row = database.execute(f"SELECT count(*) FROM ({query})").fetchone()  # noqa: S608
    return int(row[0]) if row else 0


def _tags(snapshot: Path, manifest: dict[str, Any], family: str, readable: dict[str, Path]) -> Iterator[str]:
    path = readable.get(f"published_{family}")
    if path is None:
        yield f"{snapshot.name}: the instance family {family} is missing or broken"
        return
    counted = tag_counts(pq.read_table(path, columns=["libevolutioneval_tag"]).to_pylist())
    if counted != manifest["tags"].get(family):
        yield f"{family}: tags {counted}, the manifest says {manifest['tags'].get(family)}"
