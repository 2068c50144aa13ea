from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.rules.load import RULES
from pipeline.core.settings import PROJECT
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.term import vocabularies
from pipeline.lake.ids import content_id
from pipeline.lake.rows import RejectRow, ReleaseRow
from pipeline.lake.schema import SCHEMAS, SchemaError, table, table_names
from pipeline.lake.tables import Lake, one_of, read_parquet, write_parquet
from tests.errors import raises

REJECT: RejectRow = {"stage": "crawl", "library": "demo", "key": "1.0", "reason": "yanked", "detail": "gone"}


def release(version: str = "1.0", **more: Any) -> ReleaseRow:
    return {
        "library": "demo",
        "version": version,
        "release_time": datetime(2021, 1, 1, tzinfo=UTC),
        "predecessor": None,
        "requires_python": None,
        "artifact": "demo.whl",
        "artifact_kind": "wheel",
        "sha256": "0" * 64,
        "size": 1,
        "url": "file:demo.whl",
        "import_names": ["demo"],
        "licence": None,
        "licence_stated": None,
        "attribution": None,
        "purl": f"pkg:pypi/demo@{version}",
        **more,
    }


@pytest.mark.parametrize("name", table_names())
def test_every_declared_table_has_an_arrow_schema_and_a_meaning_for_each_column(name: str) -> None:
    declared = table(name)
    schema = declared.arrow()
    assert set(declared.key) <= set(schema.names)
    assert len(schema.names) == len(set(schema.names))
    for column in declared.columns:
        assert column.meaning
        assert schema.field(column.name).nullable == column.nullable


@pytest.mark.parametrize("name", table_names())
def test_every_reference_leads_to_a_column(name: str) -> None:
    for column in table(name).columns:
        if column.references:
            target, _, key = column.references.partition(".")
            assert key in {c.name for c in table(target).columns}


def test_what_has_no_form_but_its_address_makes_no_id() -> None:
    with raises(TypeError, "generator"):
        content_id("a", (letter for letter in "b"))


def test_every_vocabulary_is_used_by_a_table_a_rule_file_a_command_or_the_card() -> None:
    commands, card = ((PROJECT / "pipeline" / folder).rglob("*.py") for folder in ("cli", "snapshots/description"))
    text = "".join(path.read_text() for path in [*SCHEMAS.glob("*.yaml"), *commands, *card])
    rules = "".join(path.read_text() for path in RULES.rglob("*.yaml"))
    unused = {
        name
        for name, vocabulary in vocabularies().items()
        if name not in text and not all(value in rules for value in vocabulary)
    }
    assert unused == set()


@pytest.mark.parametrize(
    ("row", "name", "code"),
    [
        (REJECT | {"extra": 1}, "extra", "row_column_undeclared"),
        ({k: v for k, v in REJECT.items() if k != "detail"}, "detail", "row_value_missing"),
        (REJECT | {"detail": None}, "detail", "row_value_missing"),
        (REJECT | {"reason": "because"}, "because", "row_value_unknown"),
        (REJECT | {"reason": ""}, "reason", "row_value_unknown"),
    ],
)
def test_a_row_that_does_not_fit_is_refused(tmp_path: Path, row: Any, name: str, code: str) -> None:
    with raises(SchemaError, name, code=code):
        write_parquet(tmp_path / "a.parquet", "rejects", [row])
    assert list(tmp_path.iterdir()) == []


def test_one_row_that_does_not_fit_is_found_among_many(tmp_path: Path) -> None:
    rows = [REJECT | {"key": str(number)} for number in range(5)]
    with raises(SchemaError, code="row_value_missing"):
        write_parquet(tmp_path / "a.parquet", "rejects", [*rows[:3], rows[3] | {"detail": None}, rows[4]])


def test_a_column_may_be_left_out_where_it_may_have_no_value() -> None:
    bare = {name: value for name, value in release("1.0").items() if name != "licence"}
    assert table("releases").checked([bare, release("1.1", licence="MIT")])["licence"] == [None, "MIT"]


def test_structs_are_checked_too(tmp_path: Path) -> None:
    with raises(SchemaError, code="row_column_undeclared"):
        table("symbols").check({"deprecation": {"channel": "warning", "why": 1}} | _symbol())


def _symbol() -> Any:
    names = ("library", "path", "first_version", "last_version", "canonical_path", "file")
    lists = ("parameters", "bases", "decorators", "labels", "overloads", "docstring_sketch", "body_sketch")
    return (
        dict.fromkeys(names, "x")
        | {name: [] for name in lists}
        | {
            "kind": "class",
            "public_because": "name",
            "source": "py",
            "deprecation": {"channel": "warning", "why": 1},
        }
    )


def test_the_same_key_twice_is_an_error(tmp_path: Path) -> None:
    with raises(ValueError, code="rows_with_same_key"):
        write_parquet(tmp_path / "a.parquet", "rejects", [REJECT, REJECT | {"detail": "other"}])


def test_the_order_of_rows_does_not_change_the_file(tmp_path: Path) -> None:
    rows = [release(version) for version in ("1.0", "1.1", "1.10", "1.9")]
    for name, order in (("a", rows), ("b", rows[::-1])):
        write_parquet(tmp_path / name, "releases", order)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_volatile_columns_stay_out_of_what_is_published(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a", "releases", [release()], volatile=False)
    assert "url" not in pq.read_schema(tmp_path / "a").names


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.write("rejects", "demo", [REJECT], part="crawl")
    with pytest.raises(SchemaError):
        lake.write("rejects", "demo", [REJECT | {"reason": "because"}], part="crawl")
    assert lake.read("rejects", "demo") == [REJECT]


def test_parts_of_a_partition_are_read_together(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.write("rejects", "demo", [REJECT], part="crawl")
    lake.write("rejects", "demo", [REJECT | {"stage": "surface"}], part="surface")
    assert [row["stage"] for row in lake.read("rejects", "demo")] == ["crawl", "surface"]
    assert lake.libraries("rejects") == ["demo"]
    assert lake.read("rejects", "other") == []


@pytest.mark.parametrize("column", ["version", "predecessor"])
@pytest.mark.parametrize(("values", "expected"), [([], []), (["1.0"], ["1.0"]), (["1.0", "9"], ["1.0"])])
def test_a_filter_has_the_type_of_its_values(
    tmp_path: Path, column: str, values: list[str], expected: list[str]
) -> None:
    lake = Lake(tmp_path)
    lake.write("releases", "demo", [release("1.0", predecessor="1.0"), release("1.1")])
    assert [row["version"] for row in lake.read("releases", "demo", one_of(column, values))] == expected


texts = st.text(st.characters(codec="utf-8"), max_size=20)


@given(st.dictionaries(texts, st.tuples(texts, st.sampled_from(list(RejectReason))), max_size=8))
def test_rows_come_back_as_they_went_in(tmp_path_factory: pytest.TempPathFactory, cells: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("lake") / "a.parquet"
    rows = [REJECT | {"key": key, "detail": detail, "reason": reason} for key, (detail, reason) in cells.items()]
    write_parquet(path, "rejects", rows)
    assert sorted(read_parquet(path), key=lambda r: r["key"]) == sorted(rows, key=lambda r: r["key"])


@given(st.lists(texts), st.lists(texts))
def test_an_id_tells_its_parts_apart(left: list[str], right: list[str]) -> None:
    assert (content_id(*left) == content_id(*right)) == (left == right)


def test_a_text_that_utf_8_cannot_hold_is_written_with_an_escape(tmp_path: Path) -> None:
    row = {
        "stage": "usage",
        "library": "demo",
        "key": "k",
        "reason": "internal_error",
        "detail": "said \ud800 \U0001f600",
    }
    lake = Lake(tmp_path)
    lake.write("rejects", "demo", [row, row | {"key": "plain", "detail": "é"}], part="usage")
    assert [one["detail"] for one in lake.read("rejects", "demo")] == ["said \\ud800 \U0001f600", "é"]


def test_a_table_that_was_renamed_keeps_the_folder_and_the_pins_of_a_lake_that_has_it(tmp_path: Path) -> None:
    former = table("importable_names").formerly
    assert former is not None
    new = Lake(tmp_path / "new")
    new.write("importable_names", "lib", [])
    assert (new.root / "importable_names").is_dir()
    (new.root / "importable_names").rename(new.root / former)
    old = Lake(new.root)
    assert old.files("importable_names", "lib")
    old.write("importable_names", "lib", [])
    assert not (old.root / "importable_names").exists()
    assert Lake(old.root, {former: old.versions()["importable_names"]}).files("importable_names", "lib")
