"""The tables of the review database. `migrations/` makes them; a test holds both against each other."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)


class UtcTime(TypeDecorator[datetime]):
    """A time in UTC, which SQLite would give back without its zone."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Keep the time in UTC."""
        return value.astimezone(UTC).replace(tzinfo=None) if value else None

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Say of the time that it is UTC."""
        return value.replace(tzinfo=UTC) if value else None


# SQLite numbers rows by itself only in a column that is an INTEGER.
_Number = BigInteger().with_variant(Integer, "sqlite")

LONGEST_NAME = 200
"""Characters of the name of an annotator, and of the file with imported decisions."""

BULK = "bulk/"
"""The prefix of the origin of a decision on many samples, before a unique name; no file has it."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    }
)

samples = Table(
    "samples",
    metadata,
    Column("seq", _Number, primary_key=True, autoincrement=True),  # place in the queue
    Column("id", String(64), nullable=False, unique=True),  # content id of the instance
    Column("family", String(32), nullable=False),
    Column("library", String(200), nullable=False),
    Column("version", String(100), nullable=False),
    Column("title", Text, nullable=False),
    Column("source", String(32), nullable=False),
    Column("flags", JSON, nullable=False),  # [kind, evidence] each
    Column("content", String(64), nullable=False),  # hash of what is judged
    Column("likeness", String(64), nullable=False),
    Column("twice", Boolean, nullable=False),
    Column("status", String(16), nullable=False),
    Column("gone", Boolean, nullable=False),  # no longer flagged, or no longer in the lake
    Column("raised", UtcTime, nullable=False),
    Index(None, "likeness", "status"),
    Index(None, "library", "gone"),
)

# What a page shows is kept apart, so that a walk over the queue reads no texts.
views = Table(
    "views",
    metadata,
    Column("seq", _Number, ForeignKey("samples.seq"), primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)

# One row for each sample and flag, and one with an empty flag for each sample: every filter is a walk along one index.
queue = Table(
    "queue",
    metadata,
    Column("flag", String(32), primary_key=True),
    Column("seq", _Number, ForeignKey("samples.seq"), primary_key=True, autoincrement=False),
    Column("status", String(16), nullable=False),
    Column("library", String(200), nullable=False),
    Column("family", String(32), nullable=False),
    Column("source", String(32), nullable=False),
    Column("raised", UtcTime, nullable=False),
    Index("ix_queue_walk", "flag", "status", "seq", "library", "family", "source", "raised"),
    Index("ix_queue_library", "flag", "library", "status", "seq", "family", "source", "raised"),
    Index("ix_queue_seq", "seq"),
)

# How many samples the queue has of each kind, kept up to date with every decision: a count that does not count.
tallies = Table(
    "tallies",
    metadata,
    Column("flag", String(32), primary_key=True),
    Column("library", String(200), primary_key=True),
    Column("family", String(32), primary_key=True),
    Column("source", String(32), primary_key=True),
    Column("status", String(16), primary_key=True),
    Column("samples", Integer, nullable=False),
)

# Nothing is ever changed or deleted here.
decisions = Table(
    "decisions",
    metadata,
    Column("id", _Number, primary_key=True, autoincrement=True),
    Column("seq", _Number, ForeignKey("samples.seq"), nullable=False),
    Column("who", String(LONGEST_NAME), nullable=False),
    Column("time", UtcTime, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("objection", String(32)),
    Column("comment", Text, nullable=False),
    Column("before", JSON, nullable=False),  # the fields that an edit changes
    Column("after", JSON, nullable=False),
    Column("content", String(64), nullable=False),  # hash of what was judged
    Column("flags", JSON, nullable=False),  # kinds that were shown
    Column("settles", Boolean, nullable=False),
    Column("undoes", _Number, ForeignKey("decisions.id")),
    Column("seconds", Float),
    Column("origin", String(LONGEST_NAME), nullable=False),  # empty, or the file or bulk that it came with
    Index(None, "seq", "who"),
    Index(None, "time"),
    Index(None, "who", "time"),
)

# What came of running an edit; a later run of the same edit is another row.
validations = Table(
    "validations",
    metadata,
    Column("id", _Number, primary_key=True, autoincrement=True),
    Column("decision_id", _Number, ForeignKey("decisions.id"), nullable=False),
    Column("time", UtcTime, nullable=False),
    Column("passed", Boolean, nullable=False),
    Column("problem", Text),
    Column("runs", JSON, nullable=False),
    Index(None, "decision_id"),
)

# Where each annotator stands on a sample as it is now; made of the decisions, so that it can be asked for by an index.
standings = Table(
    "standings",
    metadata,
    Column("seq", _Number, ForeignKey("samples.seq"), primary_key=True, autoincrement=False),
    Column("who", String(LONGEST_NAME), primary_key=True),
    Column("decision_id", _Number, ForeignKey("decisions.id"), nullable=False),
    Column("kind", String(16), nullable=False),
    Index(None, "who", "seq"),
)

# From which state of the lake a library's samples are.
fillings = Table(
    "fillings",
    metadata,
    Column("library", String(200), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("seq", _Number, ForeignKey("samples.seq"), primary_key=True, autoincrement=False),
    Column("who", String(LONGEST_NAME), nullable=False),
    Column("since", UtcTime, nullable=False),
    Column("until", UtcTime, nullable=False),
    Index(None, "who"),
)
