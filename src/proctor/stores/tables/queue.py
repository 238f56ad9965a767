"""Runs that workers carry out, their chunks, and the workers."""

from __future__ import annotations

from sqlalchemy import Boolean, CheckConstraint, Column, Float, ForeignKey, Index, Integer, Table, Text, text

from proctor.domain.chunk import ChunkState
from proctor.stores.tables.metadata import DERIVED, BigKey, metadata

CHUNK_STATES = ", ".join(f"'{state.value}'" for state in ChunkState)

# Runs that workers carry out, chunk by chunk; one that a command executes itself has no row here.
queue = Table(
    "queue",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    # 0 low, 1 normal, 2 high.
    Column("priority", Integer, nullable=False),
    # Moments are seconds by the database's clock.
    Column("accepted_at", Float, nullable=False),
    Column("prepared_at", Float),
    # When its first chunk was begun, since it was accepted the last time.
    Column("begun_at", Float),
    Column("finished_at", Float),
    # When a chunk of it was taken last, and later for a large one: a project's runs of one priority take turns.
    Column("served_at", Float, nullable=False, server_default=text("0")),
    Column("progressed_at", Float, nullable=False, server_default=text("0")),
    # When a broker was told last that it must be prepared or finished.
    Column("announced_at", Float),
    # Who prepares or finishes it.
    Column("lease_owner", Text),
    Column("lease_until", Float),
    Column("fence", BigKey, nullable=False, server_default=text("0")),
    # How many were lost while they prepared or finished it.
    Column("lost_leases", Integer, nullable=False, server_default=text("0")),
    Column("chunks_open", Integer, nullable=False, server_default=text("0")),
    Column("trials", BigKey, nullable=False, server_default=text("0")),
    # What has become of them, as JSON; see domain/chunk.py.
    Column("tally", Text, nullable=False, server_default=text("'{}'")),
    # Why nothing more is asked, although not all has been.
    Column("stop_reason", Text),
    # The models and judges that were given up, and why, as JSON.
    Column("given_up", Text, nullable=False, server_default=text("'{}'")),
    # Spent, or reserved by chunks that are being executed.
    Column("taken_pico_usd", BigKey, nullable=False, server_default=text("0")),
    # The files that its plan needs, as JSON: path -> artifact.
    Column("content", Text, nullable=False, server_default=text("'{}'")),
    # How many samples the stop rule has looked at.
    Column("looked", BigKey, nullable=False, server_default=text("0")),
    Index("ix_queue_open", "priority", "served_at", sqlite_where=text("finished_at IS NULL")),
)

# When something was done for a project last, and later for much: projects take turns.
project_turns = Table(
    "project_turns",
    metadata,
    Column("project", Text, primary_key=True),
    Column("served_at", Float, nullable=False),
    info=DERIVED,
)

chunks = Table(
    "chunks",
    metadata,
    Column("id", BigKey, primary_key=True),
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("evaluation_id", ForeignKey("evaluations.id", ondelete="CASCADE"), nullable=False),
    # Of its first trial; trials are counted epoch by epoch.
    Column("position", BigKey, nullable=False),
    Column("count", Integer, nullable=False),
    Column("pool", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("state", Text, nullable=False, server_default=text("'waiting'")),
    # Not to be taken before; after a fault that may pass.
    Column("not_before", Float, nullable=False, server_default=text("0")),
    Column("fence", BigKey, nullable=False, server_default=text("0")),
    Column("lease_owner", Text),
    Column("lease_until", Float),
    # How many workers were lost with it.
    Column("lost_leases", Integer, nullable=False, server_default=text("0")),
    # How often it could not be executed.
    Column("refusals", Integer, nullable=False, server_default=text("0")),
    Column("error", Text),
    # False while it is executed and no more of it is wanted.
    Column("is_wanted", Boolean, nullable=False, server_default=text("true")),
    # When a broker was told of it last.
    Column("announced_at", Float),
    Column("tally", Text, nullable=False, server_default=text("'{}'")),
    # Reserved of the run's money and neither spent nor given back yet.
    Column("held_pico_usd", BigKey, nullable=False, server_default=text("0")),
    CheckConstraint(f"state IN ({CHUNK_STATES})", name="state"),
    Index("ix_chunks_run_id_state_position", "run_id", "state", "position"),
    Index("ix_chunks_evaluation_id", "evaluation_id"),
    Index("ix_chunks_open", "state", "pool", sqlite_where=text("state IN ('waiting', 'leased')")),
)

# Processes that execute chunks, or did so lately.
workers = Table(
    "workers",
    metadata,
    Column("name", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("version", Text, nullable=False),
    # Separated by commas.
    Column("pools", Text, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("seen_at", Float, nullable=False),
    # What it works on, in words; NULL while it waits.
    Column("doing", Text),
    Column("doing_since", Float),
    Column("chunks_done", BigKey, nullable=False, server_default=text("0")),
)

# Runs that are scored again in the background; of one run they are carried out one after the other.
rescorings = Table(
    "rescorings",
    metadata,
    Column("id", Text, primary_key=True),
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    # What was asked for, as JSON; see stores/rescorings.py.
    Column("request", Text, nullable=False),
    Column("started_by", Text),
    Column("state", Text, nullable=False, server_default=text("'queued'")),
    # False once somebody cancelled it.
    Column("is_wanted", Boolean, nullable=False, server_default=text("true")),
    Column("done", BigKey, nullable=False, server_default=text("0")),
    Column("total", BigKey, nullable=False, server_default=text("0")),
    # The latest of a judge.
    Column("fault", Text),
    Column("error", Text),
    # The document of `proctor rescore`, once it has ended.
    Column("result", Text),
    # At least what may have been spent on requests that nobody has an answer to; see costs/durable_budget.py.
    Column("unanswered_pico_usd", BigKey, nullable=False, server_default=text("0")),
    Column("created_at", Float, nullable=False),
    Column("ended_at", Float),
    Column("fence", BigKey, nullable=False, server_default=text("0")),
    Column("lease_owner", Text),
    Column("lease_until", Float),
    Column("lost_leases", Integer, nullable=False, server_default=text("0")),
    CheckConstraint("state IN ('queued', 'running', 'completed', 'failed', 'cancelled')", name="state"),
    Index("ix_rescorings_run_id", "run_id"),
    Index(
        "ix_rescorings_open",
        "state",
        "id",
        sqlite_where=text("ended_at IS NULL"),
        postgresql_where=text("ended_at IS NULL"),
    ),
)
