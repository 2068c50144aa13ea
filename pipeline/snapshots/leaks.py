"""No row shows the name that it hides, and what is masked can be put back: checks of a snapshot's instances."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.completions_and_migrations.masks import readable, unmask


@dataclass(frozen=True, slots=True)
class _Shown:
    """Where rows with a hidden name are, and the columns that whoever answers them is shown."""

    rows: str
    key: str
    columns: tuple[str, ...]
    tables: tuple[str, ...] = ()


_SHOWN: Mapping[str, _Shown] = {
    "published_completions": _Shown("published_completions", "id", ("masked_code", "description")),
    "published_block_completions": _Shown("published_block_completions", "id", ("masked_code", "description")),
    "published_functions": _Shown("published_functions", "id", ("masked_code", "description")),
    "published_contexts": _Shown(
        "published_contexts JOIN (SELECT id, core_token FROM published_completions) ON completion_id = id",
        "completion_id",
        ("imports", "left_context", "hint", "right_context", "query"),
        ("published_completions",),
    ),
    "published_controlled_completions": _Shown(
        "published_controlled_completions", "id", ("left_context", "hint", "description")
    ),
}
"""By table. Documents that a retriever found are none of it: they are what the documentation has, answer and all."""

_MASKED = {
    "published_completions": "granularity",
    "published_functions": "granularity",
    "published_block_completions": f"'{Granularity.BLOCK}'",
}
"""Tables with masked code, and where the level of the mask is told."""

_LEVELS = {str(level): level for level in Granularity}


def leaks(database: duckdb.DuckDBPyConnection, name: str, tables: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with the hidden names of a table, where it has some; `tables` are those that can be read.

    Another case of the name is no leak here, since the rules that a snapshot was made by decide about that.
    """
    shown = _SHOWN.get(name)
    if shown is not None and set(shown.tables) <= set(tables):
        found = [one for row in _rows(database, shown) if (one := _leaking(shown, row))]
        if found:
            yield f"{name}: {len(found)} rows show the name that they hide, first {found[0]}"
    if name in _MASKED:
        query = f"SELECT id, masked_code, {_MASKED[name]}, answer, core_token, code FROM {name} ORDER BY id"  # noqa: S608
        rows = database.execute(query).fetchall()
        lost = [
            row_id for row_id, masked, level, answer, token, code in rows if _lost(masked, level, answer, token, code)
        ]
        if lost:
            yield f"{name}: masking cannot be undone in {len(lost)} rows, first {lost[0]}"


def _rows(database: duckdb.DuckDBPyConnection, shown: _Shown) -> Sequence[tuple[str | None, ...]]:
    columns = ", ".join((shown.key, "core_token", *shown.columns))
    return database.execute(f"SELECT {columns} FROM {shown.rows} ORDER BY {shown.key}").fetchall()  # noqa: S608


def _leaking(shown: _Shown, row: Sequence[str | None]) -> str | None:
    key, name, *texts = row
    for column, text in zip(shown.columns, texts, strict=True):
        if readable(text or "", name or "", ignore_case=False):
            return f"{key}: {column}"
    return None


def _lost(masked_code: str, level: str, answer: str, core_token: str, code: str) -> bool:
    known = _LEVELS.get(level)
    return known is None or unmask(masked_code, known, answer, core_token) != code
