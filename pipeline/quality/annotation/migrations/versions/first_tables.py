"""The tables of the review queue, as they were at first."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Bring the database one step forward."""
    op.create_table(
        "fillings",
        sa.Column("library", sa.String(length=200), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("library", name="pk_fillings"),
    )
    op.create_table(
        "samples",
        sa.Column("seq", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("family", sa.String(length=32), nullable=False),
        sa.Column("library", sa.String(length=200), nullable=False),
        sa.Column("version", sa.String(length=100), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("source", sa.String(length=32), nullable=False),
        sa.Column("flags", sa.JSON(), nullable=False),
        sa.Column("content", sa.String(length=64), nullable=False),
        sa.Column("likeness", sa.String(length=64), nullable=False),
        sa.Column("twice", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("gone", sa.Boolean(), nullable=False),
        sa.Column("raised", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_samples"),
        sa.UniqueConstraint("id", name="uq_samples_id"),
    )
    op.create_index("ix_samples_library_gone", "samples", ["library", "gone"])
    op.create_index("ix_samples_likeness_status", "samples", ["likeness", "status"])
    op.create_table(
        "tallies",
        sa.Column("flag", sa.String(length=32), nullable=False),
        sa.Column("library", sa.String(length=200), nullable=False),
        sa.Column("family", sa.String(length=32), nullable=False),
        sa.Column("source", sa.String(length=32), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("samples", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("flag", "library", "family", "source", "status", name="pk_tallies"),
    )
    op.create_table(
        "decisions",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("seq", _NUMBER, nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.Column("time", sa.DateTime(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("objection", sa.String(length=32), nullable=True),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("before", sa.JSON(), nullable=False),
        sa.Column("after", sa.JSON(), nullable=False),
        sa.Column("content", sa.String(length=64), nullable=False),
        sa.Column("flags", sa.JSON(), nullable=False),
        sa.Column("settles", sa.Boolean(), nullable=False),
        sa.Column("undoes", _NUMBER, nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("origin", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["seq"], ["samples.seq"], name="fk_decisions_seq_samples"),
        sa.ForeignKeyConstraint(["undoes"], ["decisions.id"], name="fk_decisions_undoes_decisions"),
        sa.PrimaryKeyConstraint("id", name="pk_decisions"),
    )
    op.create_index("ix_decisions_seq_who", "decisions", ["seq", "who"])
    op.create_index("ix_decisions_time", "decisions", ["time"])
    op.create_index("ix_decisions_who_time", "decisions", ["who", "time"])
    op.create_table(
        "leases",
        sa.Column("seq", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.Column("since", sa.DateTime(), nullable=False),
        sa.Column("until", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["seq"], ["samples.seq"], name="fk_leases_seq_samples"),
        sa.PrimaryKeyConstraint("seq", name="pk_leases"),
    )
    op.create_index("ix_leases_who", "leases", ["who"])
    op.create_table(
        "queue",
        sa.Column("flag", sa.String(length=32), nullable=False),
        sa.Column("seq", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("library", sa.String(length=200), nullable=False),
        sa.Column("family", sa.String(length=32), nullable=False),
        sa.Column("source", sa.String(length=32), nullable=False),
        sa.Column("raised", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["seq"], ["samples.seq"], name="fk_queue_seq_samples"),
        sa.PrimaryKeyConstraint("flag", "seq", name="pk_queue"),
    )
    op.create_index("ix_queue_library", "queue", ["flag", "library", "status", "seq", "family", "source", "raised"])
    op.create_index("ix_queue_seq", "queue", ["seq"])
    op.create_index("ix_queue_walk", "queue", ["flag", "status", "seq", "library", "family", "source", "raised"])
    op.create_table(
        "views",
        sa.Column("seq", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["seq"], ["samples.seq"], name="fk_views_seq_samples"),
        sa.PrimaryKeyConstraint("seq", name="pk_views"),
    )
    op.create_table(
        "standings",
        sa.Column("seq", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.Column("decision_id", _NUMBER, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name="fk_standings_decision_id_decisions"),
        sa.ForeignKeyConstraint(["seq"], ["samples.seq"], name="fk_standings_seq_samples"),
        sa.PrimaryKeyConstraint("seq", "who", name="pk_standings"),
    )
    op.create_index("ix_standings_who_seq", "standings", ["who", "seq"])
    op.create_table(
        "validations",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("decision_id", _NUMBER, nullable=False),
        sa.Column("time", sa.DateTime(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("runs", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name="fk_validations_decision_id_decisions"),
        sa.PrimaryKeyConstraint("id", name="pk_validations"),
    )
    op.create_index("ix_validations_decision_id", "validations", ["decision_id"])
