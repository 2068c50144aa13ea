"""Rows of any declared table with as little in them as the declaration allows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pipeline.lake.schema import Column, enum_of, table

TIME = datetime(2021, 6, 1, 12, 30, 0, 123456, tzinfo=UTC)


def filled(name: str, /, **columns: Any) -> Any:
    """A row of a declared table; what is not said is as little as the declaration allows."""
    return {column.name: columns.get(column.name, _least(column)) for column in table(name).columns}


def _least(column: Column) -> Any:
    if column.nullable:
        return None
    if column.type.startswith("list["):
        return []
    if enum := enum_of(column.type):
        return next(iter(enum))
    return {"string": "", "int64": 1, "float64": 1.0, "bool": False, "timestamp": TIME}[column.type]
