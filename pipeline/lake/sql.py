"""SQL over declared tables, of the lake or of a snapshot: DuckDB, with each table as a view."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

import pyarrow as pa

from pipeline.core.errors import FatalError

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset


class SqlProblem(StrEnum):
    """The code of an error of a query."""

    SYNTAX = "syntax"
    UNKNOWN_NAME = "unknown_name"
    NOT_READ_ONLY = "not_read_only"
    NO_ROWS = "no_rows"
    UNREADABLE = "unreadable"
    FAILED = "failed"


_ADVICE = {
    SqlProblem.SYNTAX: "correct the query; its dialect is that of DuckDB (duckdb.org/docs/sql)",
    SqlProblem.UNKNOWN_NAME: "`driftline sql 'show tables'` lists the tables, `driftline sql 'describe NAME'` columns",
    SqlProblem.NOT_READ_ONLY: "ask with SELECT, FROM, SHOW, DESCRIBE or SUMMARIZE; stages alone write tables",
    SqlProblem.NO_ROWS: "run `driftline refresh` first, or name a snapshot",
    SqlProblem.UNREADABLE: "`driftline refresh` makes a damaged file of the lake again, `driftline verify` names that"
    " of a snapshot",
    SqlProblem.FAILED: "correct the query, or select fewer rows and columns",
}


_READING = frozenset({"SELECT", "EXPLAIN", "MULTI"})
"""DuckDB's types of FROM, SHOW, DESCRIBE and SUMMARIZE are SELECT, and that of PIVOT is MULTI."""


class SqlError(FatalError):
    """A query has no result; the message has the cause and advice."""

    code: SqlProblem

    def __init__(self, code: SqlProblem, why: object) -> None:
        super().__init__(f"query: {code} ({' '.join(str(why).split())[:500]}). What to do: {_ADVICE[code]}", code=code)


def query(text: str, tables: Mapping[str, Callable[[], Dataset]]) -> pa.Table:
    """Return the result of one query over tables, each of which is opened only if the text names it.

    Times are in UTC. The query reads the columns and rows that it needs, and nothing but these tables.

    Errors: SqlError; whatever opening a table raises.
    """
    # 0.1 s to import
    import duckdb

    if not tables:
        raise SqlError(SqlProblem.NO_ROWS, "there is no table")
    words = set(re.findall(r"\w+", text.lower()))
    with duckdb.connect(config={"enable_external_access": False}) as database:
        database.execute("LOAD icu; SET TimeZone = 'UTC'")
        try:
            statements = database.extract_statements(text)
            if len(statements) != 1:
                raise SqlError(SqlProblem.SYNTAX, f"{len(statements)} statements instead of one")
            if statements[0].type.name not in _READING:
                raise SqlError(SqlProblem.NOT_READ_ONLY, statements[0].type.name)
            for name in sorted(words & tables.keys()) or tables:
                database.register(name, tables[name]())
            result = database.sql(statements[0].query)
            rows: pa.Table = pa.table({}) if result is None else result.to_arrow_table()
            return rows
        except duckdb.ParserException as error:
            raise SqlError(SqlProblem.SYNTAX, error) from None
        except (duckdb.CatalogException, duckdb.BinderException) as error:
            raise SqlError(SqlProblem.UNKNOWN_NAME, error) from None
        except duckdb.Error as error:
            is_unreadable = isinstance(error, duckdb.InvalidInputException) and "reading the stream" in str(error)
            raise SqlError(SqlProblem.UNREADABLE if is_unreadable else SqlProblem.FAILED, error) from None
