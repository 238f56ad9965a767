"""Programs that people hand in to be marked."""

from __future__ import annotations

from sqlalchemy import Boolean, CheckConstraint, Column, Float, Index, Integer, Table, Text, text

from proctor.stores.tables.metadata import BigKey, metadata

# Programs that people handed in to be marked; `details` is what a trial's score of the same program would hold.
submissions = Table(
    "submissions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("problem", Text, nullable=False),
    Column("problem_digest", Text, nullable=False),
    # Of a problem of the user's own; NULL for those that come with Proctor.
    Column("problem_folder", Text),
    Column("revision", Text, nullable=False),
    Column("details", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    Index("ix_submissions_problem", "problem"),
)

# Programs that were handed in over the API and are not marked yet.
submission_queue = Table(
    "submission_queue",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    Column("name", Text, nullable=False),
    Column("problem", Text, nullable=False),
    # Its files, as a zip.
    Column("artifact", Text, nullable=False),
    Column("form", Text, nullable=False),
    # What was not taken, as JSON: path -> why.
    Column("refused", Text, nullable=False),
    Column("is_measuring", Boolean, nullable=False),
    Column("author", Text, nullable=False),
    Column("state", Text, nullable=False, server_default=text("'queued'")),
    Column("error", Text),
    Column("created_at", Float, nullable=False),
    Column("fence", BigKey, nullable=False, server_default=text("0")),
    Column("lease_owner", Text),
    Column("lease_until", Float),
    # How many workers were lost with it.
    Column("lost_leases", Integer, nullable=False, server_default=text("0")),
    # Of the zip.
    Column("size_bytes", BigKey, nullable=False, server_default=text("0")),
    CheckConstraint("state IN ('queued', 'running', 'failed')", name="state"),
    Index("ix_submission_queue_state_created_at", "state", "created_at"),
)
