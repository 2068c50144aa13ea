"""The Croissant description is one that mlcroissant finds nothing wrong with, and reads the rows by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mlcroissant
import pyarrow.parquet as pq
import pytest
from mlcroissant._src.core.context import Context, CroissantVersion
from mlcroissant._src.core.rdf import make_context

from pipeline.lake.schema import table
from pipeline.snapshots.description.croissant import CONFORMS_TO, croissant_text, vocabularies
from pipeline.snapshots.format.manifest import Entry, read_manifest
from pipeline.snapshots.format.rows import TABLES
from tests.families.completions_and_migrations.rows import START
from tests.snapshots.lakes import demo_snapshot

Json = dict[str, Any]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("croissant")
    return demo_snapshot(folder)


@pytest.fixture(scope="module")
def described(snapshot: Path) -> Json:
    found: Json = json.loads((snapshot / "croissant.json").read_text())
    return found


@pytest.fixture(scope="module")
def dataset(snapshot: Path) -> mlcroissant.Dataset:
    return mlcroissant.Dataset(str(snapshot / "croissant.json"))


def record_sets(described: Json) -> dict[str, Json]:
    return {each["@id"]: each for each in described["recordSet"]}


def test_mlcroissant_has_nothing_against_it(dataset: mlcroissant.Dataset) -> None:
    issues = dataset.metadata.ctx.issues
    assert (issues.errors, issues.warnings) == (set(), set())
    assert dataset.metadata.ctx.conforms_to == CroissantVersion.V_1_1


def test_the_context_is_the_one_of_the_version(described: Json) -> None:
    assert described["conformsTo"] == CONFORMS_TO == CroissantVersion.V_1_1.value
    assert described["@context"] == make_context(Context(conforms_to=CroissantVersion.V_1_1))


def test_every_file_and_column_is_described(snapshot: Path, described: Json) -> None:
    entries = {entry.path: entry for entry in read_manifest(snapshot).files if entry.table}
    assert {file["@id"]: file["sha256"] for file in described["distribution"]} == {
        path: entry.sha256 for path, entry in entries.items()
    }
    known = record_sets(described)
    for config in TABLES:
        fields = [field["name"] for field in known[config]["field"]]
        assert fields == pq.read_schema(snapshot / "data" / f"{config}.parquet").names


def test_every_vocabulary_is_an_enumeration(described: Json) -> None:
    known = record_sets(described)
    for enum in vocabularies(table(name) for name in TABLES.values()):
        values = {
            row[f"{enum.__name__}/value"]: row[f"{enum.__name__}/meaning"] for row in known[enum.__name__]["data"]
        }
        assert values == {term.value: term.meaning for term in enum}


@pytest.mark.parametrize("config", ["releases", "documents", "snippets", "api_documents", "migrations"])
def test_rows_are_read_by_it(snapshot: Path, dataset: mlcroissant.Dataset, config: str) -> None:
    """Columns of text, numbers, times, lists and structs."""
    rows = pq.read_table(snapshot / "data" / f"{config}.parquet").to_pylist()
    read = list(dataset.records(config))
    assert len(read) == len(rows) > 0
    for column in table(TABLES[config]).key:
        found = [each[f"{config}/{column}"] for each in read]
        assert [each.decode() if isinstance(each, bytes) else each for each in found] == [row[column] for row in rows]


def test_structs_are_read_with_their_members(snapshot: Path, dataset: mlcroissant.Dataset) -> None:
    (row,) = [row for row in pq.read_table(snapshot / "data" / "symbols.parquet").to_pylist() if row["parameters"]]
    (read,) = [each for each in dataset.records("symbols") if each["symbols/parameters"]]
    (parameter,) = read["symbols/parameters"]
    assert parameter["symbols/parameters/name"].decode() == row["parameters"][0]["name"]


def test_references_lead_to_a_key(described: Json) -> None:
    known = record_sets(described)
    references = [
        (record_set, field["name"], field["references"]["field"]["@id"])
        for record_set, each in known.items()
        for field in each["field"]
        if "references" in field
    ]
    assert ("completions", "snippet_id", "snippets/id") in references
    fields = {field["@id"] for each in known.values() for field in each["field"]}
    assert {target for _, _, target in references} <= fields


def test_rows_that_were_taken_back_are_a_record_set_of_their_own() -> None:
    entry = Entry(
        path="deprecated/completions.parquet", sha256="0" * 64, bytes=1, table="published_completions", rows=3
    )
    described = json.loads(croissant_text("mine", START, {}, [entry], "canary"))
    (record_set,) = [each for each in described["recordSet"] if each.get("dataType") != "sc:Enumeration"]
    assert record_set["@id"] == "completions/deprecated"
    assert record_set["field"][0]["source"]["fileObject"] == {"@id": "deprecated/completions.parquet"}


@pytest.mark.parametrize(
    ("licence", "shown"),
    [("MIT", ["https://spdx.org/licenses/MIT.html"]), ("<b>mine</b>", []), ("LicenseRef-Mine", ["LicenseRef-Mine"])],
)
def test_licences_are_those_of_the_rows(licence: str, shown: list[str]) -> None:
    described = json.loads(croissant_text("mine", START, {"releases": [{"licence": licence}]}, [], "canary"))
    assert described["license"] == shown
    assert described["version"] == f"{START.year}.{START.month}.{START.day}"
