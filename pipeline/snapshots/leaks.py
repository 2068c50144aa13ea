"""Checks of a snapshot's instances: no row reveals the name that it hides, and masking can be undone."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import duckdb

from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.all_families import BY_NAME, FAMILIES
from pipeline.families.completions_and_migrations.masks import readable, unmask
from pipeline.families.family import Hidden, InstanceFamily

_SHOWING = {family.published: family for family in FAMILIES if family.hidden and family.hidden.readable_columns}
"""Families with text columns that hide a name, by table. Retrieved documents may contain the answer."""

_LEVELS = {str(level): level for level in Granularity}


def leaks(database: duckdb.DuckDBPyConnection, name: str, tables: Collection[str]) -> Iterator[str]:
    """Yield problems with the hidden names of a table; `tables` are the readable ones.

    Another case of the name is no leak here: the rules of each snapshot decide about that.
    """
    family = _SHOWING.get(name)
    if family is None or family.hidden is None:
        return
    readable_here = family.view_of is None or BY_NAME[family.view_of].published in tables
    if leaking := list(_leaking(database, family, family.hidden)) if readable_here else []:
        yield f"{name}: {len(leaking)} rows show the name that they hide, first {leaking[0]}"
    if "masked_code" in family.hidden.readable_columns:
        level = "granularity" if "granularity" in family.scoring else f"'{Granularity.BLOCK}'"
        query = f"SELECT id, masked_code, {level}, answer, core_token, code FROM {name} ORDER BY id"  # noqa: S608
        rows = database.execute(query).fetchall()
        lost = [row_id for row_id, masked, of, answer, token, code in rows if _lost(masked, of, answer, token, code)]
        if lost:
            yield f"{name}: masking cannot be undone in {len(lost)} rows, first {lost[0]}"


def _leaking(database: duckdb.DuckDBPyConnection, family: InstanceFamily, hidden: Hidden) -> Iterator[str]:
    """Yield the rows that reveal the name, each with the column; a view has the name of the row behind it."""
    where = family.published
    if family.view_of is not None:
        viewed = BY_NAME[family.view_of].published
        where += f" JOIN (SELECT id, {hidden.column} FROM {viewed}) ON {family.key} = id"  # noqa: S608
    columns = ", ".join((family.key, hidden.column, *hidden.readable_columns))
    query = f"SELECT {columns} FROM {where} ORDER BY {family.key}"  # noqa: S608
    for key, name, *texts in database.execute(query).fetchall():
        for column, text in zip(hidden.readable_columns, texts, strict=True):
            if readable(text or "", name or "", ignore_case=False):
                yield f"{key}: {column}"
                break


def _lost(masked_code: str, level: str, answer: str, core_token: str, code: str) -> bool:
    granularity = _LEVELS.get(level)
    return granularity is None or unmask(masked_code, granularity, answer, core_token) != code
