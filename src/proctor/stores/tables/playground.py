"""Prompts that are put to several models at once, outside any benchmark."""

from __future__ import annotations

from sqlalchemy import Boolean, CheckConstraint, Column, Float, ForeignKey, Index, Table, Text, text

from proctor.stores.tables.metadata import BigKey, metadata

# One prompt put to several models at once, outside any benchmark.
playground_asks = Table(
    "playground_asks",
    metadata,
    Column("id", Text, primary_key=True),
    Column("author", Text, nullable=False),
    Column("kind", Text, nullable=False),
    # As it was sent, without the content of files.
    Column("request", Text, nullable=False),
    Column("is_blind", Boolean, nullable=False),
    Column("revealed_at", Text),
    Column("created_at", Text, nullable=False),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    Index("ix_playground_asks_project_id", "project", "id"),
)

# `text` is written again and again while it grows; the process that asks says by `beat_at` that it lives.
playground_answers = Table(
    "playground_answers",
    metadata,
    Column("ask_id", ForeignKey("playground_asks.id", ondelete="CASCADE"), primary_key=True),
    Column("slot", Text, primary_key=True),
    Column("position", BigKey, nullable=False),
    Column("model", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("reasoning", Text, nullable=False),
    Column("details", Text, nullable=False),
    Column("held_pico_usd", BigKey, nullable=False),
    Column("beat_at", Float, nullable=False),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    CheckConstraint("state IN ('waiting', 'streaming', 'complete', 'failed', 'stopped')", name="state"),
)

# In base64: a copy and a backup of the database are text.
playground_files = Table(
    "playground_files",
    metadata,
    Column("ask_id", ForeignKey("playground_asks.id", ondelete="CASCADE"), primary_key=True),
    Column("position", BigKey, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    # Of the content itself.
    Column("size_bytes", BigKey, nullable=False, server_default=text("0")),
)

playground_votes = Table(
    "playground_votes",
    metadata,
    Column("ask_id", ForeignKey("playground_asks.id", ondelete="CASCADE"), primary_key=True),
    Column("voter", Text, primary_key=True),
    Column("best", Text, nullable=False),
    Column("is_blind", Boolean, nullable=False),
    Column("voted_at", Text, nullable=False),
    Column("project", Text, nullable=False, server_default=text("'local'")),
)
