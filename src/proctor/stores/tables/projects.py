"""Projects, and what belongs to one beside its runs: benchmarks, plans, keys for providers, files."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, Table, Text, UniqueConstraint, text

from proctor.stores.tables.metadata import BigKey, metadata

# Whose data it is. Without accounts there is one: local.
projects = Table(
    "projects",
    metadata,
    Column("name", Text, primary_key=True),
    Column("created_at", Text, nullable=False),
    Column("archived_at", Text),
    # How many days what of it is kept, as JSON: kind -> days, or null for as long as it is not deleted.
    Column("retention", Text),
)

# Benchmarks that projects uploaded, each version once.
own_benchmarks = Table(
    "own_benchmarks",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("version", Text, nullable=False),
    # Which of its files says how to ask and to score.
    Column("entry", Text, nullable=False),
    # As JSON: path -> artifact.
    Column("files", Text, nullable=False),
    # What a check said of it, as JSON.
    Column("description", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("archived_at", Float),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    # Of all its files.
    Column("size_bytes", BigKey, nullable=False, server_default=text("0")),
    UniqueConstraint("project", "name", "version"),
    Index("ix_own_benchmarks_project_id", "project", "id"),
)

saved_plans = Table(
    "saved_plans",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("plan", Text, nullable=False),
    # Grows with each change: whoever changes says which one he has seen.
    Column("revision", BigKey, nullable=False),
    Column("author", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    Index("ix_saved_plans_project_id", "project", "id"),
)

# Where a project's key for a provider goes: to one scheme, host and port.
provider_keys = Table(
    "provider_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    Column("provider", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("base_url", Text, nullable=False),
    # The key, encrypted; NULL where the server at that address wants none.
    Column("sealed", Text),
    Column("author", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    UniqueConstraint("project", "provider", "origin"),
)

# A request that may be sent again, and the run that the first one made.
idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("project", Text, primary_key=True, server_default=text("'local'")),
    Column("key", Text, primary_key=True),
    # Of what was asked: the same key with another request is a mistake.
    Column("digest", Text, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("created_at", Float, nullable=False),
)

# What people uploaded: `artifact` is its content, `text_artifact` the text of its pages.
files = Table(
    "files",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("size_bytes", BigKey, nullable=False),
    Column("artifact", Text, nullable=False),
    Column("text_artifact", Text),
    Column("pages", Integer),
    Column("width", Integer),
    Column("height", Integer),
    Column("author", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    # Then it is gone, unless a run uses it.
    Column("expires_at", Float, nullable=False),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    Index("ix_files_project_id", "project", "id"),
    Index("ix_files_expires_at", "expires_at"),
)

# A file goes with the last run that uses it.
file_uses = Table(
    "file_uses",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("file_id", ForeignKey("files.id", ondelete="CASCADE"), primary_key=True),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    Index("ix_file_uses_file_id", "file_id"),
)
