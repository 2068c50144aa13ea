"""References between the tables of a snapshot: those of several columns, and those that a column declares."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import duckdb

from pipeline.lake.schema import Column, table
from pipeline.snapshots.comparison.column_comparison import count_rows
from pipeline.snapshots.format.rows import TABLES


@dataclass(frozen=True, slots=True)
class Together:
    """Columns of a table that together refer to a row of another one; a row with a null among them refers to none."""

    name: str
    columns: tuple[str, ...]
    target: str
    key: tuple[str, ...]
    where: str = "true"


def _to_releases(name: str, *columns: str, where: str = "true") -> Iterator[Together]:
    """A version is one of a release of the same library."""
    for column in columns:
        yield Together(name, ("library", column), "releases", ("library", "version"), where)


_OF_FAMILY = ("version", "previous_version")
_LOCK = ("library", "version", "lock_id")
_OF_PROJECT = ("project_id", "sha256", "lock_id")

TOGETHER: tuple[Together, ...] = (
    *_to_releases("published_completions", *_OF_FAMILY, "neighbour_version"),
    *_to_releases("published_migrations", *_OF_FAMILY, "target_version"),
    *_to_releases("published_controlled_completions", *_OF_FAMILY, "neighbour_version"),
    *_to_releases("published_compatibilities", "version"),
    *_to_releases("published_problems", *_OF_FAMILY, "other_version"),
    *_to_releases("published_functions", *_OF_FAMILY, "other_version"),
    *_to_releases("published_changes", "old_version", "new_version"),
    *_to_releases("snippets", "version", "last_version", where="language = 'python'"),
    *_to_releases("symbols", "first_version", "last_version"),
    *_to_releases("documents", "first_version", "last_version"),
    *_to_releases("environments", "version"),
    *_to_releases("verdicts", "version"),
    Together("published_completions", ("usage_id", "snippet_id"), "usages", ("id", "snippet_id")),
    Together("published_completions", _LOCK, "environments", _LOCK),
    Together("published_controlled_completions", _LOCK, "environments", _LOCK),
    Together("published_controlled_completions", ("document_id", "path"), "api_documents", ("id", "path")),
    Together("published_migrations", _LOCK, "environments", _LOCK),
    Together("published_migrations", ("library", "target_version", "target_lock_id"), "environments", _LOCK),
    Together("published_compatibilities", ("library", "lock_id"), "environments", ("library", "lock_id")),
    Together("published_problems", _LOCK, "problem_environments", _LOCK),
    Together("published_functions", _LOCK, "function_environments", _LOCK),
    Together("published_repository_tasks", _OF_PROJECT, "projects", ("id", "sha256", "lock_id")),
    Together("published_scenes", _OF_PROJECT, "projects", ("id", "sha256", "lock_id")),
    Together("published_repository_tasks", ("function_id", "project_id"), "traced_functions", ("id", "project_id")),
    Together("published_scenes", ("function_id", "project_id"), "traced_functions", ("id", "project_id")),
    Together("published_retrievals", ("document_id", "path"), "api_documents", ("id", "path")),
    Together("published_contexts", ("completion_id", "library"), "published_completions", ("id", "library")),
    Together("rewrites", ("snippet_id", "library"), "snippets", ("id", "library")),
    Together("usages", ("snippet_id", "library"), "snippets", ("id", "library")),
    Together("verdicts", ("lock_id",), "environments", ("lock_id",)),
)
"""References of several columns: a lock must be that of this release, a use that of this code."""


def dangling(database: duckdb.DuckDBPyConnection, name: str, readable: Collection[str]) -> Iterator[str]:
    """Yield the references of a table with dangling rows; `readable` are the tables with a view in the database."""
    declared = (column for column in table(name).columns if column.references and not column.volatile)
    # a missing table is reported once, by the references that columns declare
    together = (reference for reference in TOGETHER if reference.name == name and reference.target in readable)
    for each in (*of_columns(name, declared), *together):
        columns = ", ".join(each.columns)
        if each.target not in readable:
            yield f"{name}.{columns}: cannot be checked, the table {each.target} is missing or broken"
        elif number := count_rows(database, _dangling_query(each)):
            yield f"{name}.{columns}: {number} rows refer to no row of {each.target}.{', '.join(each.key)}"


def of_columns(name: str, columns: Iterable[Column]) -> Iterator[Together]:
    """Yield the references of columns to tables of the lake, or to their published forms in the snapshot."""
    for column in columns:
        named, _, key = str(column.references).partition(".")
        yield Together(name, (column.name,), TABLES.get(named, named), (key,))


def _dangling_query(reference: Together) -> str:
    pairs = zip(reference.columns, reference.key, strict=True)
    joined = " AND ".join(f"a.{column} = b.{key}" for column, key in pairs)
    named = " AND ".join(f"a.{column} IS NOT NULL" for column in reference.columns)
    return (
        f"SELECT 1 FROM {reference.name} AS a ANTI JOIN {reference.target} AS b ON {joined}"  # noqa: S608
        f" WHERE {named} AND ({reference.where})"
    )
