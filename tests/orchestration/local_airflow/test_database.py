"""Two processes that read and then write one SQLite file: both come through."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from pipeline.orchestration.local_airflow.database import connect_args

WRITES = 30


def write(path: Path, arguments: dict[str, object], problems: list[Exception]) -> None:
    """Read, then write, in savepoints, as a backfill does."""
    engine = create_engine(f"sqlite:///{path}", connect_args=arguments)
    try:
        for _ in range(WRITES):
            with engine.connect() as connection:
                with connection.begin_nested():
                    number = connection.execute(text("SELECT count(*) FROM runs")).scalar_one()
                    connection.execute(text("INSERT INTO runs VALUES (:number)"), {"number": number})
                connection.commit()
    except Exception as error:  # noqa: BLE001 - told by the test
        problems.append(error)
    finally:
        engine.dispose()


def test_savepoints_of_several_connections_wait_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "airflow.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript("PRAGMA journal_mode = WAL; CREATE TABLE runs (number INTEGER);")
    problems: list[Exception] = []
    threads = [threading.Thread(target=write, args=(path, connect_args({}), problems)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    with closing(sqlite3.connect(path)) as database:
        assert sorted(number for (number,) in database.execute("SELECT number FROM runs")) == list(range(4 * WRITES))


@pytest.mark.parametrize("name", ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN_SECRET"])
def test_another_database_is_connected_to_as_usual(name: str) -> None:
    assert connect_args({name: "postgresql://"}) == {}
