"""The review database: SQLite by default, PostgreSQL by its address; brought up to date by migrations when opened."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock
from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, OperationalError
from sqlalchemy.sql.schema import Table

from pipeline.core.errors import FatalError
from pipeline.quality.annotation_rules import AnnotationRules

MIGRATIONS = Path(__file__).parent / "migrations"
_BUSY_S = 30  # how long a writer waits for another one
_TURN = 7_112_003  # of the advisory lock that writers take in PostgreSQL; any number that is always the same


class StoreError(FatalError):
    """The review database cannot be used: the message says why, and what to do."""


def now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Store:
    """The review database with the rules of the queue; `clock` tells the time of what is decided.

    Writers of one process take turns by `turn`: SQLite lets them wait for each other only by asking again ever later.
    """

    engine: Engine
    rules: AnnotationRules
    clock: Callable[[], datetime] = field(default=now)
    turn: AbstractContextManager[Any] = field(default_factory=threading.Lock)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection that sees one state of everything."""
        with self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self, safe: bool = True) -> Iterator[Connection]:
        """Yield a connection whose changes are kept together, or, after an error, not at all.

        What is not `safe` may be gone after a power failure: who has what open, but no decision.
        """
        options = {"writes": "FULL" if safe else "NORMAL"}
        with self.turn, self.engine.connect() as connection, connection.execution_options(**options).begin():
            yield connection

    def insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """Return an insert that can say what to do with a row that is there."""
        return (postgresql.insert if self.engine.dialect.name == "postgresql" else sqlite.insert)(table)


def open_store(url: str, rules: AnnotationRules) -> Store:
    """Open the review database at a SQLAlchemy address, and make or migrate it.

    Errors: StoreError for an address that cannot be used, a server that does not answer, and a database that a newer
    driftline made.
    """
    try:
        address = make_url(url)
        if address.get_backend_name() not in {"sqlite", "postgresql"}:
            raise StoreError(
                f"DRIFTLINE_REVIEWS: {address.get_backend_name()} is neither sqlite nor postgresql",
                code="reviews_address_invalid",
            )
        engine = create_engine(address, pool_pre_ping=address.get_backend_name() == "postgresql")
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        hint = "give an address such as sqlite:///r.sqlite or postgresql+psycopg://user@host/name (extra `postgres`)"
        raise StoreError(f"DRIFTLINE_REVIEWS: {error}; {hint}", code="reviews_address_invalid") from None
    (_as_sqlite if address.get_backend_name() == "sqlite" else _as_postgresql)(engine)
    try:
        _migrate(engine)
    except (OperationalError, OSError) as error:
        printable, why = address.render_as_string(hide_password=True), getattr(error, "orig", error)
        raise StoreError(
            f"the review database {printable} cannot be opened: {why}", code="reviews_unreachable"
        ) from None
    except DatabaseError as error:
        printable = address.render_as_string(hide_password=True)
        raise StoreError(
            f"the review database {printable} cannot be read ({error.orig}); nothing in it was changed. Put a"
            " copy of it back: it holds the decisions of people, which cannot be made again",
            code="reviews_damaged",
        ) from None
    takes_turns = address.get_backend_name() == "sqlite"
    return Store(engine, rules, turn=threading.Lock() if takes_turns else nullcontext())


def _as_sqlite(engine: Engine) -> None:
    """Let several processes read while one writes, and a writer say so before it reads: then none has to give up."""

    @event.listens_for(engine, "connect")
    def connected(connection, _record) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "foreign_keys=ON", f"busy_timeout={_BUSY_S * 1000}"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        if writes:
            connection.exec_driver_sql(f"PRAGMA synchronous={writes}")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _as_postgresql(engine: Engine) -> None:
    """Let one writer work at a time, as in SQLite: what is kept beside the decisions follows all of them."""

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        if connection.get_execution_options().get("writes"):
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_TURN})")


def _migrate(engine: Engine) -> None:
    # Only here: it takes a third of a second of every command that opens no review database.
    from alembic import command
    from alembic.config import Config
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    newest = ScriptDirectory.from_config(config).get_current_head()
    with _alone(engine), engine.connect() as connection, connection.execution_options(writes="FULL").begin():
        revision = MigrationContext.configure(connection).get_current_revision()
        if revision == newest:
            return
        config.attributes["connection"] = connection
        if revision is not None and revision not in {
            step.revision for step in ScriptDirectory.from_config(config).walk_revisions()
        }:
            raise StoreError(
                f"the review database is of a newer driftline (revision {revision}): update driftline",
                code="reviews_newer",
            )
        command.upgrade(config, "head")


@contextmanager
def _alone(engine: Engine) -> Iterator[None]:
    """Let one process at a time make the file; a server has the lock of its writers."""
    database = engine.url.database
    if engine.dialect.name != "sqlite" or not database or database == ":memory:":
        yield
        return
    Path(database).parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{database}.lock"):
        yield
