"""`driftline sql`: one query over the lake or a snapshot."""

from __future__ import annotations

import csv
import io
import json as json_
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated

import pyarrow as pa
import typer

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, fail, out, print_json, print_table
from pipeline.cli.snapshots import find_snapshot
from pipeline.core.printable import printable
from pipeline.core.settings import settings
from pipeline.lake.sql import SqlError, SqlProblem, query
from pipeline.lake.tables import Lake
from pipeline.snapshots.format.reader import DATA, DEPRECATED, Snapshot
from pipeline.snapshots.format.rows import TABLES

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

Query = Annotated[str, typer.Argument(metavar="QUERY", help="One query in the SQL of DuckDB.", show_default=False)]
Subject = Annotated[
    str | None,
    typer.Argument(
        metavar="[SNAPSHOT]",
        help="Folder of a snapshot, or the name of a profile for its latest. Default: the lake.",
        show_default=False,
    ),
]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV for a program; nested values are JSON.")]


def sql(query_text: Query, snapshot: Subject = None, json: Json = False, as_csv: Csv = False) -> None:
    """Query the lake, or a snapshot: each table is a view, and only the needed columns and rows are read.

    Removed rows of a snapshot are in views such as `deprecated_completions`. `show tables` lists all.

    Example: driftline sql "select kind, count(*) from changes where library = 'flask' group by all"
    """
    if json and as_csv:
        fail("--json and --csv exclude each other", BAD_USAGE)
    try:
        result = query(query_text, _of_snapshot(snapshot) if snapshot else _of_lake())
    except SqlError as error:
        fail(error, BAD_USAGE if error.code in _OF_QUERY else 1)
    if json:
        print_json(result.to_pylist())
    elif as_csv:
        text = _csv(result)
        print(printable(text) if out.is_terminal else text, end="")  # noqa: T201 - the output itself
    else:
        rows = [["" if value is None else value for value in row.values()] for row in result.to_pylist()]
        print_table(f"{result.num_rows:,} rows", result.column_names, rows)


_OF_QUERY = frozenset({SqlProblem.SYNTAX, SqlProblem.UNKNOWN_NAME, SqlProblem.NOT_READ_ONLY, SqlProblem.FAILED})


def _of_lake() -> Mapping[str, Callable[[], Dataset]]:
    lake = Lake(settings().lake_root)
    return {name: partial(lake.dataset, name) for name in lake.versions()}


def _of_snapshot(name: str) -> Mapping[str, Callable[[], Dataset]]:
    snapshot = Snapshot(find_snapshot(name))
    prefixes = {DATA: "", DEPRECATED: f"{DEPRECATED}_"}
    return {
        f"{prefix}{config}": partial(snapshot.dataset, config, split=split)
        for split, prefix in prefixes.items()
        for config in TABLES
        if snapshot.has(config, split)
    }


def _csv(result: pa.Table) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(result.column_names)
    for row in result.to_pylist():
        writer.writerow(map(_cell, row.values()))
    return text.getvalue()


def _cell(value: object) -> object:
    return json_.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict) else value
