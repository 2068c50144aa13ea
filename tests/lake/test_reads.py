"""What a stage reads: the columns, rows and tables that it declares, and no others."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.lake.guard import attempt
from pipeline.lake.reads import LakeTables, PartialRow, Read, UndeclaredColumn
from pipeline.lake.rows import FlagRow
from pipeline.lake.schema import SchemaError
from pipeline.lake.tables import Lake
from tests.errors import raises

FLAGS: list[FlagRow] = [
    {"id": f"{n}", "library": "demo", "instance_id": f"i{n % 2}", "kind": "audit", "evidence": "drawn"}
    for n in range(3)
]
READ = Read("flags", ("evidence",), {"instance_id": ("i0",)})


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    made = Lake(tmp_path / "lake")
    made.write("flags", "demo", FLAGS)
    return made


def test_only_the_declared_columns_and_rows_are_read_in_the_order_of_the_key(lake: Lake) -> None:
    rows = READ.rows(lake, "demo")
    assert [dict(row.items()) for row in rows] == [{"id": n, "evidence": "drawn"} for n in ("0", "2")]
    assert READ.names == ("id", "evidence")


@pytest.mark.parametrize(
    "use",
    [
        lambda row: row["kind"],
        lambda row: row.get("kind"),
        lambda row: {**row},
        lambda row: row | {"evidence": "x"},
        dict,
        list,
    ],
    ids=["item", "get", "spread", "union", "dict", "list"],
)
def test_another_column_and_a_whole_row_end_the_stage_and_are_no_reject(
    lake: Lake, use: Callable[[PartialRow], object]
) -> None:
    with pytest.raises(UndeclaredColumn):
        attempt("unit", use, READ.rows(lake, "demo")[0])


def test_a_row_in_some_columns_goes_to_another_process(lake: Lake) -> None:
    row = READ.rows(lake, "demo")[0]
    again = pickle.loads(pickle.dumps(row))
    assert (type(again), again["evidence"], again.get("id")) == (PartialRow, "drawn", "0")


def test_a_column_that_does_not_exist_cannot_be_declared(lake: Lake) -> None:
    with raises(SchemaError, "flags.yaml", code="undeclared_table_column"):
        Read("flags", ("colour",)).rows(lake, "demo")


def test_columns_and_rows_are_part_of_the_layout() -> None:
    others = [
        Read("flags", ("kind",), READ.where),
        Read("flags", READ.columns),
        Read("flags", READ.columns, {"id": ()}),
    ]
    assert READ.layout not in [other.layout for other in others]
    assert Read("flags", ("id", "evidence"), READ.where).layout == READ.layout


def test_a_table_is_read_once_and_only_when_used(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    original = Lake._read

    def counting(self: Lake, name: str, *rest: object) -> list[object]:
        read.append(name)
        return original(self, name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Lake, "_read", counting)
    tables = LakeTables(lake, "demo", ("flags", "reviews"), {})
    assert list(tables) == ["flags", "reviews"]
    assert read == []
    assert tables["flags"] == tables["flags"] == FLAGS
    assert read == ["flags"]
    with pytest.raises(KeyError):
        tables["snippets"]
