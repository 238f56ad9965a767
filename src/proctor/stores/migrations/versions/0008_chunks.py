"""Runs that many workers carry out: a queue, chunks with leases and fences, and the workers"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
STATES = "state IN ('waiting', 'leased', 'finished', 'split', 'dropped')"


def upgrade() -> None:
    _make_queue()
    _make_chunks()
    op.create_table(
        "workers",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("pools", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("seen_at", sa.Float(), nullable=False),
        sa.Column("doing", sa.Text(), nullable=True),
        sa.Column("doing_since", sa.Float(), nullable=True),
        sa.Column("chunks_done", KEY, nullable=False, server_default=sa.text("0")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workers")),
    )
    if op.get_bind().dialect.name == "postgresql":
        # Texts are compared byte by byte, as in SQLite.
        for column in ("name", "host", "version", "pools", "doing"):
            op.execute(f'ALTER TABLE workers ALTER COLUMN {column} TYPE text COLLATE "C"')
        for column in ("run_id", "lease_owner", "tally", "stop_reason", "given_up", "content"):
            op.execute(f'ALTER TABLE queue ALTER COLUMN {column} TYPE text COLLATE "C"')
        for column in ("run_id", "pool", "state", "lease_owner", "error", "tally"):
            op.execute(f'ALTER TABLE chunks ALTER COLUMN {column} TYPE text COLLATE "C"')


def _make_queue() -> None:
    op.create_table(
        "queue",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("accepted_at", sa.Float(), nullable=False),
        sa.Column("prepared_at", sa.Float(), nullable=True),
        sa.Column("begun_at", sa.Float(), nullable=True),
        sa.Column("finished_at", sa.Float(), nullable=True),
        sa.Column("served_at", sa.Float(), nullable=False, server_default=sa.text("0")),
        sa.Column("progressed_at", sa.Float(), nullable=False, server_default=sa.text("0")),
        sa.Column("announced_at", sa.Float(), nullable=True),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Float(), nullable=True),
        sa.Column("fence", KEY, nullable=False, server_default=sa.text("0")),
        sa.Column("lost_leases", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("chunks_open", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("trials", KEY, nullable=False, server_default=sa.text("0")),
        sa.Column("tally", sa.Text(), nullable=False, server_default=sa.text("'{}'")),
        sa.Column("stop_reason", sa.Text(), nullable=True),
        sa.Column("given_up", sa.Text(), nullable=False, server_default=sa.text("'{}'")),
        sa.Column("taken_pico_usd", KEY, nullable=False, server_default=sa.text("0")),
        sa.Column("content", sa.Text(), nullable=False, server_default=sa.text("'{}'")),
        sa.Column("looked", KEY, nullable=False, server_default=sa.text("0")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_queue_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_queue")),
    )
    is_open = sa.text("finished_at IS NULL")
    op.create_index(
        op.f("ix_queue_open"), "queue", ["priority", "served_at"], sqlite_where=is_open, postgresql_where=is_open
    )


def _make_chunks() -> None:
    op.create_table(
        "chunks",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("evaluation_id", KEY, nullable=False),
        sa.Column("position", KEY, nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("pool", sa.Text(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False, server_default=sa.text("'waiting'")),
        sa.Column("not_before", sa.Float(), nullable=False, server_default=sa.text("0")),
        sa.Column("fence", KEY, nullable=False, server_default=sa.text("0")),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Float(), nullable=True),
        sa.Column("lost_leases", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("refusals", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("is_wanted", sa.Boolean(), nullable=False, server_default=sa.text("true")),
        sa.Column("announced_at", sa.Float(), nullable=True),
        sa.Column("tally", sa.Text(), nullable=False, server_default=sa.text("'{}'")),
        sa.Column("held_pico_usd", KEY, nullable=False, server_default=sa.text("0")),
        sa.CheckConstraint(STATES, name=op.f("ck_chunks_state")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_chunks_run_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluations.id"], name=op.f("fk_chunks_evaluation_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chunks")),
    )
    is_open = sa.text("state IN ('waiting', 'leased')")
    op.create_index(op.f("ix_chunks_run_id_state_position"), "chunks", ["run_id", "state", "position"])
    op.create_index(op.f("ix_chunks_evaluation_id"), "chunks", ["evaluation_id"])
    op.create_index(op.f("ix_chunks_open"), "chunks", ["state", "pool"], sqlite_where=is_open, postgresql_where=is_open)
