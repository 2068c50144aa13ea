"""`driftline sql` over the lake and a snapshot, as a table, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.cli.command import Driftline
from tests.snapshots.lakes import demo_snapshot

COUNT = "select library, count(*) as n from completions group by all order by all"


@pytest.fixture
def snapshot(data: Path) -> Path:
    return demo_snapshot(data)


def test_the_three_forms_say_the_same(driftline: Driftline, snapshot: Path) -> None:
    rows = driftline("sql", COUNT, snapshot, "--json").json
    assert rows
    table = driftline("sql", COUNT, snapshot).out.splitlines()
    assert [line.split() for line in table[1:]] == [["library", "n"], *([r["library"], str(r["n"])] for r in rows)]
    lines = csv.DictReader(io.StringIO(driftline("sql", COUNT, snapshot, "--csv").out))
    assert [{**row, "n": int(row["n"])} for row in lines] == rows


def test_the_lake_is_the_default_and_its_rows_are_those_of_the_snapshot(driftline: Driftline, snapshot: Path) -> None:
    query = "select version, import_names from releases order by all"
    lake = driftline("sql", query, "--json").json
    assert lake == driftline("sql", query, snapshot, "--json").json
    assert isinstance(lake[0]["import_names"], list)


def test_errors_are_one_line(driftline: Driftline, data: Path) -> None:
    assert driftline("sql", "from releases").status == 1
    for arguments in (["selec"], ["from releases", "nothing"], ["show tables", "--json", "--csv"]):
        result = driftline("sql", *arguments)
        assert (result.status, result.out) == (2 if arguments != ["selec"] else 1, "")
    assert not (data / "lake").exists()
