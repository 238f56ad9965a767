"""Runs, what each evaluates, and what is said of them while they go on and afterwards."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from proctor.domain.run import RunStatus
from proctor.stores.tables.metadata import BigKey, metadata

STATUSES = ", ".join(f"'{status.value}'" for status in RunStatus)

runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text),
    Column("status", Text, nullable=False),
    Column("plan", Text, nullable=False),
    Column("folder", Text, nullable=False),
    Column("error", Text),
    Column("version", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("started_at", Text),
    Column("finished_at", Text),
    Column("seconds", Float, nullable=False, server_default=text("0")),
    Column("lease_owner", Text),
    Column("lease_until", Float),
    # At least what may have been spent on requests that nobody has an answer to; see costs/durable_budget.py.
    Column("unanswered_pico_usd", BigKey, nullable=False, server_default=text("0")),
    Column("data", Text),
    # Grows with every lease: whoever writes with an older one writes nothing.
    Column("fence", BigKey, nullable=False, server_default=text("0")),
    # The number of the run's latest event.
    Column("last_event", BigKey, nullable=False, server_default=text("0")),
    # From 0 to 1.
    Column("progress", Float, nullable=False, server_default=text("0")),
    # The artifact that holds every response of the finished run.
    Column("raw_data", Text),
    # Whose it is; what hangs on a run names the same one, so that no query has to look it up.
    Column("project", Text, nullable=False, server_default=text("'local'")),
    # A user's name, or a key; NULL where a command executed it.
    Column("started_by", Text),
    # The saved plan that it was made from, which may be gone since.
    Column("plan_id", Text),
    CheckConstraint(f"status IN ({STATUSES})", name="status"),
    Index("ix_runs_created_at_id", "created_at", "id"),
    Index("ix_runs_project_created_at_id", "project", "created_at", "id"),
)

# What a plan says by which its runs are found again.
run_tags = Table(
    "run_tags",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("tag", Text, primary_key=True),
    Index("ix_run_tags_tag", "tag"),
    sqlite_with_rowid=False,
)

# Every model and benchmark that has been used, once.
models = Table(
    "models",
    metadata,
    Column("name", Text, primary_key=True),
    Column("provider", Text, nullable=False),
    Column("first_used_at", Text, nullable=False),
)

benchmarks = Table(
    "benchmarks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("version", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("samples", Integer, nullable=False),
    Column("tags", Text, nullable=False),
    Column("first_used_at", Text, nullable=False),
)

evaluations = Table(
    "evaluations",
    metadata,
    Column("id", BigKey, primary_key=True),
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("model", ForeignKey("models.name"), nullable=False),
    Column("model_spec", Text, nullable=False),
    Column("benchmark", Text, nullable=False),
    Column("benchmark_spec", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("samples", Integer, nullable=False),
    Column("epochs", Integer, nullable=False),
    Column("options", Text, nullable=False),
    Column("scorers", Text, nullable=False),
    Column("metrics", Text, nullable=False),
    Column("tags", Text, nullable=False),
    Column("summary", Text),
    # What computed the summary; another revision's is computed again.
    Column("summary_revision", Text),
    Column("month", Integer, nullable=False, server_default=text("0")),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    ForeignKeyConstraint(
        ["benchmark", "version", "digest"], ["benchmarks.name", "benchmarks.version", "benchmarks.digest"]
    ),
    UniqueConstraint("run_id", "position"),
    Index("ix_evaluations_benchmark_model", "benchmark", "model"),
)

events = Table(
    "events",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    # Given out under the run's lock: whoever follows sees every event, in this order.
    Column("number", BigKey, primary_key=True, autoincrement=False),
    Column("at", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("data", Text, nullable=False),
    # Its place in the one order of all runs' events, given by `feed.number_events` after it was committed.
    Column("position", BigKey),
    Index("ix_events_run_id_kind_number", "run_id", "kind", "number"),
    Index("ix_events_position", "position"),
    Index(
        "ix_events_unnumbered",
        "run_id",
        "number",
        sqlite_where=text("position IS NULL"),
        postgresql_where=text("position IS NULL"),
    ),
    sqlite_with_rowid=False,
)

# How long workers were busy with a run, by days since 1970 (UTC).
worker_time = Table(
    "worker_time",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("seconds", Float, nullable=False),
    sqlite_with_rowid=False,
)

# On a run, or on one of its responses: those of a month can be dropped while what was said of them stays.
comments = Table(
    "comments",
    metadata,
    Column("id", Text, primary_key=True),
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("response_id", BigKey),
    Column("author", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    Index("ix_comments_run_id_id", "run_id", "id"),
)

# A person's own mark of a response.
labels = Table(
    "labels",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("response_id", BigKey, primary_key=True, autoincrement=False),
    Column("author", Text, primary_key=True),
    Column("value", Float, nullable=False),
    Column("note", Text, nullable=False),
    Column("labelled_at", Text, nullable=False),
    Column("project", Text, nullable=False, server_default=text("'local'")),
)
