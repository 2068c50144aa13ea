"""Rows that are read a library at a time are the same rows, and what is written of them is the same bytes."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipeline.lake.tables import Lake, in_order, write_parquet, write_parts
from pipeline.snapshots.format.rows import BY_MODEL, TABLES, PublishedRows, Rows
from tests.errors import raises
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.snapshots.lakes import demo_lake


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake of two libraries."""
    filled = demo_lake(tmp_path_factory.mktemp("rows") / "lake")
    rows = [row | {"library": "zoo", "id": row["id"][::-1]} for row in filled.read("snippets", LIBRARY)]
    filled.write("snippets", "zoo", rows)
    return filled


@pytest.mark.parametrize("config", sorted(TABLES))
def test_parts_make_the_same_file_as_all_rows_at_once(lake: Lake, config: str, tmp_path: Path) -> None:
    rows = Rows(lake, ["zoo", LIBRARY, "nonesuch"])
    assert write_parquet(tmp_path / "whole", TABLES[config], rows[config], volatile=False) == len(rows[config])
    assert write_parts(tmp_path / "parts", TABLES[config], rows.parts(config), volatile=False) == len(rows[config])
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()


@pytest.mark.parametrize("config", sorted(TABLES))
def test_rows_are_put_in_order_in_pieces_where_there_is_much_text(
    lake: Lake, config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_parquet(tmp_path / "whole", TABLES[config], Rows(lake, ["zoo", LIBRARY])[config], volatile=False)
    data = pq.read_table(tmp_path / "whole")
    backwards = range(data.num_rows - 1, -1, -1)
    at_once = in_order(data, backwards)
    monkeypatch.setattr("pipeline.lake.tables.TEXT_LIMIT", data.nbytes // 2)
    in_pieces = in_order(data, backwards)
    assert in_pieces.schema == data.schema
    assert in_pieces.equals(at_once)


def test_two_rows_of_a_key_are_found_in_different_parts(lake: Lake, tmp_path: Path) -> None:
    rows = lake.read("snippets", LIBRARY)
    with raises(ValueError, code="rows_with_same_key"):
        write_parts(tmp_path / "twice", "snippets", [rows, rows[:1]])


def test_what_is_kept_added_and_left_out(lake: Lake) -> None:
    rows = Rows(lake, [LIBRARY, "zoo"])
    assert rows.covered == {LIBRARY, "zoo"}
    assert [*rows] == [*TABLES]
    assert BY_MODEL.keys() < rows.keys()
    narrow = rows.only(["library", "id"]).filtered("snippets", lambda found: [one for one in found if one["id"] > "8"])
    more = narrow.and_also({"snippets": [{"id": "more"}]})
    expected = [row["id"] for row in rows["snippets"] if row["id"] > "8"]
    assert [row["id"] for row in more["snippets"]] == [*expected, "more"]
    assert all(row.keys() == {"library", "id"} for row in narrow["snippets"])


def test_what_was_written_is_read_in_the_order_of_the_lake(lake: Lake, tmp_path: Path) -> None:
    rows = Rows(lake, [LIBRARY, "zoo"])
    write_parts(tmp_path / "snippets.parquet", "snippets", rows.parts("snippets"), volatile=False)
    written = PublishedRows(tmp_path, ["library", "id", "nonesuch"]).and_also({"changes": [{"id": "c"}]})
    assert [row["id"] for row in written["snippets"]] == [row["id"] for row in rows["snippets"]]
    assert [dict(row) for row in written["changes"]] == [{"id": "c"}]
