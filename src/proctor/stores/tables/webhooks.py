"""Addresses that are told how runs ended, and what they were told."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Float, ForeignKey, Index, Integer, Table, Text, UniqueConstraint, text

from proctor.stores.tables.metadata import BigKey, metadata

# Addresses that are told how runs ended.
webhooks = Table(
    "webhooks",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    Column("url", Text, nullable=False),
    # Separated by spaces.
    Column("events", Text, nullable=False),
    # The secret that messages are signed with, and the one before.
    Column("sealed", Text, nullable=False),
    Column("former", Text),
    Column("former_until", Float, nullable=False),
    # Of the last event that was announced.
    Column("position", BigKey, nullable=False),
    Column("author", Text, nullable=False),
    Column("created_at", Float, nullable=False),
)

# Messages to them: one for each end of a run.
deliveries = Table(
    "deliveries",
    metadata,
    Column("id", Text, primary_key=True),
    Column("webhook_id", ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    Column("run_id", Text, nullable=False),
    # Of the event, within its run.
    Column("number", BigKey, nullable=False),
    Column("event", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("state", Text, nullable=False, server_default=text("'waiting'")),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("next_at", Float, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("ended_at", Float),
    # Of the last answer.
    Column("status", Integer),
    Column("answer", Text),
    Column("error", Text),
    CheckConstraint("state IN ('waiting', 'delivered', 'failed')", name="state"),
    UniqueConstraint("webhook_id", "run_id", "number"),
    Index("ix_deliveries_state_next_at", "state", "next_at"),
    Index("ix_deliveries_run_id", "run_id"),
)
