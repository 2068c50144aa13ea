"""The Croissant description of a snapshot for tools such as mlcroissant and data set search.

Made from the declared tables, like the card: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.core.vocabularies.term import Term
from pipeline.lake.rows import AnyRow
from pipeline.lake.schema import Column, Table, enum_of, table
from pipeline.snapshots.description.attribution import licences
from pipeline.snapshots.format.manifest import Entry
from pipeline.snapshots.format.rows import TABLES

CONFORMS_TO = "http://mlcommons.org/croissant/1.1"

_CONTEXT = Path(__file__).with_name("croissant_context.json")

_SCALARS = {
    "string": "sc:Text",
    "int64": "cr:Int64",
    "float64": "cr:Float64",
    "bool": "sc:Boolean",
    "timestamp": "sc:DateTime",
}

LIMITS = (
    "Code from the libraries' own docstrings shows APIs as their authors teach them, which is not always as they are"
    " used.",
    "Surfaces are read statically: what only running can show (compiled modules without stubs, names made at import"
    " time) is missing.",
    "Descriptions by the offline drafter are sentences of the docstring.",
    "Migrations in both directions are each other's answer: splits keep rows of one `pair_id` together, and better all"
    " rows with one `change_id`.",
)
"""Limitations of every snapshot."""

Json = dict[str, Any]


def croissant_text(
    profile: str, end: datetime, tables: Mapping[str, Sequence[AnyRow]], files: Sequence[Entry], canary: str
) -> str:
    """Return the Croissant 1.1 description as JSON-LD; equal tables and files give equal bytes.

    `end` of the covered period (UTC) is version and date: the day of writing would differ in a rebuild. Each
    configuration has a record set, whose fields have meaning, type, key and references. Deprecated rows have record
    sets named `CONFIGURATION/deprecated`, and each vocabulary is an enumeration.
    """
    described = [entry for entry in files if entry.table]
    declared = [table(str(entry.table)) for entry in described]
    day = end.astimezone(UTC)
    return _dump(
        {
            "@context": _context(),
            "@type": "sc:Dataset",
            "name": f"driftline-{profile}",
            "description": _description(profile, canary),
            "conformsTo": CONFORMS_TO,
            "license": [page or name for name, page in licences(_licences(tables))],
            "version": f"{day.year}.{day.month}.{day.day}",
            "datePublished": f"{day:%Y-%m-%d}",
            "citeAs": f"Driftline, profile {profile}, as of {day:%Y-%m-%d}",
            "creator": {"@type": "sc:Organization", "name": "Driftline"},
            "keywords": ["code", "library versions", "API evolution", "benchmark"],
            "inLanguage": "en",
            "rai:dataLimitations": list(LIMITS),
            "distribution": [_file(entry) for entry in described],
            "recordSet": [
                *(_vocabulary(enum) for enum in vocabularies(declared)),
                *(_record_set(entry, {str(other.table) for other in described}) for entry in described),
            ],
        }
    )


def _licences(tables: Mapping[str, Sequence[AnyRow]]) -> set[str]:
    return {row["licence"] for rows in tables.values() for row in rows if row.get("licence")}


def _description(profile: str, canary: str) -> str:
    return (
        "Version-aware code completion, migration, compatibility, problems, task functions, repository tasks and editor"
        " scenes, made from real releases of real libraries and run in pinned environments"
        f" (Driftline, profile {profile}). Code"
        " keeps the licence of its source, which each row and ATTRIBUTION.md name."
        f" Do not train on rows that carry {canary}."
    )


def _dump(value: Json) -> str:
    return json.dumps(value, indent=1, ensure_ascii=True) + "\n"


@functools.cache
def _context() -> Json:
    context: Json = json.loads(_CONTEXT.read_text(encoding="utf-8"))
    return context


def vocabularies(tables: Iterable[Table]) -> list[type[Term]]:
    """Return the closed vocabularies that tables use, by name."""
    columns = [c for declared in tables for group in (declared.columns, *declared.types.values()) for c in group]
    names = {column.type.removeprefix("list[").removesuffix("]") for column in columns}
    return [enum for name in sorted(names) if (enum := enum_of(name))]


def _file(entry: Entry) -> Json:
    return {
        "@type": "cr:FileObject",
        "@id": entry.path,
        "name": entry.path,
        "contentUrl": entry.path,
        "contentSize": f"{entry.bytes} B",
        "encodingFormat": "application/x-parquet",
        "sha256": entry.sha256,
    }


def _vocabulary(enum: type[Term]) -> Json:
    name = enum.__name__
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "dataType": "sc:Enumeration",
        "key": {"@id": f"{name}/value"},
        "field": [
            {"@type": "cr:Field", "@id": f"{name}/{column}", "name": column, "dataType": "sc:Text"}
            for column in ("value", "meaning")
        ],
        "data": [{f"{name}/value": term.value, f"{name}/meaning": term.meaning} for term in enum],
    }


def _record_set(entry: Entry, described: set[str]) -> Json:
    """Describe the rows of a file; `data/NAME.parquet` is named NAME, those of other folders NAME/FOLDER."""
    path = Path(entry.path)
    name = path.stem if path.parent.name == "data" else f"{path.stem}/{path.parent.name}"
    declared = table(str(entry.table))
    columns = (column for column in declared.columns if not column.volatile)
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": declared.meaning,
        "key": [{"@id": f"{name}/{column}"} for column in declared.key],
        "field": [_field(column, name, entry, declared, described) for column in columns],
    }


def _field(column: Column, within: str, entry: Entry, declared: Table, described: set[str]) -> Json:
    """Describe a column; the members of its structs are fields within it."""
    inner = column.type.removeprefix("list[").removesuffix("]")
    field: Json = {
        "@type": "cr:Field",
        "@id": f"{within}/{column.name}",
        "name": column.name,
        "description": column.meaning,
    }
    if inner != column.type:
        field |= {"isArray": True, "arrayShape": "-1"}
    if inner in declared.types:
        members = (_member(member, field["@id"], entry, column) for member in declared.types[inner])
        return field | {"subField": list(members)}
    field |= {"dataType": _SCALARS.get(inner, "sc:Text"), "source": _source(entry, column.name)}
    return field | _references(column, described)


def _member(member: Column, within: str, entry: Entry, column: Column) -> Json:
    inner = member.type.removeprefix("list[").removesuffix("]")
    return {
        "@type": "cr:Field",
        "@id": f"{within}/{member.name}",
        "name": member.name,
        "description": member.meaning,
        "dataType": _SCALARS.get(inner, "sc:Text"),
        "source": _source(entry, column.name) | {"transform": {"jsonPath": member.name}},
    }


def _source(entry: Entry, column: str) -> Json:
    return {"fileObject": {"@id": entry.path}, "extract": {"column": column}}


def _references(column: Column, described: set[str]) -> Json:
    if not column.references:
        return {}
    named, _, key = column.references.partition(".")
    config = next((config for config, name in TABLES.items() if config == named and name in described), None)
    return {"references": {"field": {"@id": f"{config}/{key}"}}} if config else {}
