"""SQL over the lake, in a folder and in a store: only named tables are opened, and every error has a code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.places import place
from pipeline.lake.sql import SqlError, SqlProblem, query
from pipeline.lake.tables import Lake
from tests.lake.test_deferred import release
from tests.lake.test_delta import use
from tests.object_store import s3_server

COUNT = "select library, count(*) as n, max(release_time) as last from releases group by all order by all"


def views(lake: Lake) -> Mapping[str, Callable[[], Any]]:
    return {name: partial(lake.dataset, name) for name in lake.versions()}


@pytest.fixture(params=["folder", "s3"])
def lake(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lake]:
    if request.param == "folder":
        yield filled(tmp_path)
        return
    with s3_server(tmp_path / "s3") as server:
        server.files().mkdir("lakes")
        use(server, monkeypatch)
        yield filled(place("s3://lakes/a"))


def filled(root: Path) -> Lake:
    lake = Lake(root)
    lake.write("releases", "a", [release("a", "1.0"), release("a", "2.0")])
    lake.write("releases", "b", [release("b", "1.0")])
    lake.write("lifecycles", "a", [])
    return lake


def test_a_query_counts_what_the_lake_has_in_utc(lake: Lake) -> None:
    found = query(COUNT, views(lake)).to_pylist()
    assert [(row["library"], row["n"], row["last"].isoformat()) for row in found] == [
        ("a", 2, "2022-01-01T00:00:00+00:00"),
        ("b", 1, "2021-01-01T00:00:00+00:00"),
    ]
    assert query("SHOW TABLES", views(lake)).to_pylist() == [{"name": "lifecycles"}, {"name": "releases"}]


def test_only_tables_that_the_query_names_are_opened(lake: Lake) -> None:
    def opened() -> Any:
        raise AssertionError

    tables = {**views(lake), "lifecycles": opened, "symbols": opened}
    assert query("FROM Releases LIMIT 1", tables).num_rows == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("selec", SqlProblem.SYNTAX),
        ("", SqlProblem.SYNTAX),
        ("select 1; select 2", SqlProblem.SYNTAX),
        ("from nothing", SqlProblem.UNKNOWN_NAME),
        ("select nothing from releases", SqlProblem.UNKNOWN_NAME),
        ("create table x as from releases", SqlProblem.NOT_READ_ONLY),
        ("copy releases to 'x.csv'", SqlProblem.NOT_READ_ONLY),
        ("attach 'x.db'", SqlProblem.NOT_READ_ONLY),
        ("select cast(library as int) from releases", SqlProblem.FAILED),
        ("from read_csv('/etc/passwd')", SqlProblem.FAILED),
    ],
)
def test_a_wrong_query_has_a_code(tmp_path: Path, text: str, code: SqlProblem) -> None:
    lake = Lake(tmp_path)
    lake.write("releases", "a", [release("a", "1.0")])
    with pytest.raises(SqlError) as caught:
        query(text, views(lake))
    assert caught.value.code == code


def test_no_lake_and_a_missing_file_have_a_code(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    with pytest.raises(SqlError) as caught:
        query("from releases", views(lake))
    assert caught.value.code == SqlProblem.NO_ROWS
    lake.write("releases", "a", [release("a", "1.0")])
    lake.path("releases", "a").unlink()
    with pytest.raises(SqlError) as caught:
        query("from releases", views(lake))
    assert caught.value.code == SqlProblem.UNREADABLE
