"""Parquet files under names in a database."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa


def register_parquet(database: duckdb.DuckDBPyConnection, name: str, path: Path) -> pa.Schema:
    """Let a database read a Parquet file under a name, and return the file's columns.

    It is an Arrow data set, since DuckDB would take characters of the folder's name for a pattern of names.
    """
    # slow to import, the more so where pandas is installed
    import pyarrow.dataset

    data = pyarrow.dataset.dataset(path, format="parquet")
    database.register(name, data)
    return data.schema
