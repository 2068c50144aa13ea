"""The dataset card and the attribution file of a snapshot, made from the schemas, the vocabularies and the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from pipeline.lake import Row, table
from pipeline.lake.schema import Column, Table, enum_of
from pipeline.terms import ProjectOutcome, SnippetSource, Term

_templates = Environment(
    loader=PackageLoader("pipeline.publish", "."),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701 - the card is Markdown, and cell() keeps text inside its cell
)

FAMILIES = (
    "completions",
    "migrations",
    "block_completions",
    "controlled_completions",
    "problems",
    "functions",
    "repository_tasks",
    "scenes",
)
"""The instance families; other tables say where their rows come from."""

_DESCRIBED = ("completions", "migrations", "functions")
"""The families whose rows say which model described them."""

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"} | {character: f"\\{character}" for character in "\\|`*_[]~"}


def card_text(profile: str, tables: Mapping[str, Sequence[Row]], declared: Mapping[str, str]) -> str:
    """Return the dataset card: front matter of the Hub, what the rows mean, their counts, sources and limits."""
    configs = {config: table(name) for config, name in declared.items()}
    return _templates.get_template("card.md.jinja").render(
        profile=profile,
        configs=configs,
        rows={config: len(rows) for config, rows in tables.items()},
        size=_size(sum(len(tables[family]) for family in FAMILIES)),
        published={config: [c for c in declared.columns if not c.volatile] for config, declared in configs.items()},
        structs={config: declared.types for config, declared in configs.items()},
        vocabularies=_vocabularies(list(configs.values())),
        families={family: _family(tables[family]) for family in FAMILIES},
        releases=_release_lines(tables["releases"]),
        statements=sorted(Counter((row["directive"], row["agreement"]) for row in tables["directives"]).items()),
        rejects=sorted(Counter((row["stage"], str(row["reason"])) for row in tables["rejects"]).items()),
        models=sorted(Counter(row["model"] for family in _DESCRIBED for row in tables[family] if row["model"]).items()),
        canary=next((row["canary"] for family in FAMILIES for row in tables[family]), ""),
        type_of=_type_of,
        cell=cell,
    )


def cell(text: object) -> str:
    """Return text that stays inside its cell of a Markdown table and is not read as markup or HTML.

    What cannot be printed goes: marks of writing direction could show a licence or a name as another one.
    """
    plain = "".join(character for character in " ".join(str(text).split()) if character.isprintable())
    return "".join(_ESCAPES.get(character, character) for character in plain)


def attribution_text(releases: Sequence[Row], snippets: Sequence[Row], projects: Sequence[Row]) -> str:
    """Return who wrote the code that the snapshot quotes, under which licence: releases, then code of others."""
    columns = ("place", "url", "licence", "attribution")
    others = {tuple(row[column] for column in columns) for row in snippets if row["source"] != SnippetSource.DOCSTRING}
    named = {row["purl"] for row in releases}
    others |= {
        (row["purl"], row["project_url"], row["licence"], row["attribution"])
        for row in projects
        if row["purl"] not in named and row["outcome"] == ProjectOutcome.TRACED
    }
    return _templates.get_template("attribution.md.jinja").render(
        releases=sorted(releases, key=lambda row: (row["library"], row["release_time"])),
        others=[dict(zip(columns, row, strict=True)) for row in sorted(others, key=str)],
        cell=cell,
    )


def _size(rows: int) -> str:
    for limit, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")):
        if rows < limit:
            return name
    return "1M<n<10M"


def _family(rows: Sequence[Row]) -> dict[str, list[tuple[str, int]]]:
    columns = (
        "library",
        "language",
        "source",
        "version_evidence",
        "libevolutioneval_tag",
        "versicode_tag",
        "evidence",
        "category",
        "discriminating",
        "granularity",
        "access",
        "pattern",
        "direction",
        "basis",
        "scene",
        "block_type",
    )
    return {
        column: sorted(Counter(str(row[column]) for row in rows).items())
        for column in columns
        if rows and column in rows[0]
    }


def _release_lines(releases: Sequence[Row]) -> list[dict[str, Any]]:
    libraries: dict[str, list[Row]] = {}
    for row in sorted(releases, key=lambda row: (row["library"], row["release_time"])):
        libraries.setdefault(row["library"], []).append(row)
    return [
        {
            "library": library,
            "versions": ", ".join(row["version"] for row in rows),
            "licences": ", ".join(sorted({row["licence"] or "unknown" for row in rows})),
        }
        for library, rows in libraries.items()
    ]


def _vocabularies(tables: Sequence[Table]) -> list[type[Term]]:
    """Return the closed vocabularies that the tables use, by name."""
    columns = [c for declared in tables for group in (declared.columns, *declared.types.values()) for c in group]
    names = {column.type.removeprefix("list[").removesuffix("]") for column in columns}
    return [enum for name in sorted(names) if (enum := enum_of(name))]


def _type_of(column: Column) -> str:
    return column.type + (", may be null" if column.nullable else "")
