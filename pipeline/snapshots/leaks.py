"""No row shows the name that it hides, and what is masked can be put back: checks of a snapshot's instances."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import duckdb

from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.all_families import BY_NAME, FAMILIES
from pipeline.families.completions_and_migrations.masks import readable, unmask
from pipeline.families.family import Hidden, InstanceFamily

_SHOWING = {family.published: family for family in FAMILIES if family.hidden and family.hidden.shown}
"""By table. Documents that a retriever found are none of it: they are what the documentation has, answer and all."""

_LEVELS = {str(level): level for level in Granularity}


def leaks(database: duckdb.DuckDBPyConnection, name: str, tables: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with the hidden names of a table, where it has some; `tables` are those that can be read.

    Another case of the name is no leak here, since the rules that a snapshot was made by decide about that.
    """
    family = _SHOWING.get(name)
    if family is None or family.hidden is None:
        return
    readable_here = family.view_of is None or BY_NAME[family.view_of].published in tables
    if found := list(_leaking(database, family, family.hidden)) if readable_here else []:
        yield f"{name}: {len(found)} rows show the name that they hide, first {found[0]}"
    if "masked_code" in family.hidden.shown:
        level = "granularity" if "granularity" in family.scoring else f"'{Granularity.BLOCK}'"
        query = f"SELECT id, masked_code, {level}, answer, core_token, code FROM {name} ORDER BY id"  # noqa: S608
        rows = database.execute(query).fetchall()
        lost = [row_id for row_id, masked, of, answer, token, code in rows if _lost(masked, of, answer, token, code)]
        if lost:
            yield f"{name}: masking cannot be undone in {len(lost)} rows, first {lost[0]}"


def _leaking(database: duckdb.DuckDBPyConnection, family: InstanceFamily, hidden: Hidden) -> Iterator[str]:
    """Yield the rows that show the name, each with the column; a view has the name of the row that it shows."""
    where = family.published
    if family.view_of is not None:
        shown = BY_NAME[family.view_of].published
        where += f" JOIN (SELECT id, {hidden.column} FROM {shown}) ON {family.key} = id"  # noqa: S608
    columns = ", ".join((family.key, hidden.column, *hidden.shown))
    query = f"SELECT {columns} FROM {where} ORDER BY {family.key}"  # noqa: S608
    for key, name, *texts in database.execute(query).fetchall():
        for column, text in zip(hidden.shown, texts, strict=True):
            if readable(text or "", name or "", ignore_case=False):
                yield f"{key}: {column}"
                break


def _lost(masked_code: str, level: str, answer: str, core_token: str, code: str) -> bool:
    known = _LEVELS.get(level)
    return known is None or unmask(masked_code, known, answer, core_token) != code
