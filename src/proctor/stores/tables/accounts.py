"""The tables of accounts. No password, key or token is in them: only what proves that somebody else has it."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, Table, Text, UniqueConstraint

from proctor.stores.tables.metadata import BigKey, metadata

users = Table(
    "users",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    # NULL until the one-time link was used.
    Column("password_hash", Text),
    Column("is_admin", Boolean, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("disabled_at", Text),
    UniqueConstraint("name"),
)

members = Table(
    "members",
    metadata,
    Column("project", ForeignKey("projects.name"), primary_key=True),
    Column("user_id", ForeignKey("users.id"), primary_key=True),
    Column("role", Text, nullable=False),
    Column("added_at", Text, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    # The SHA-256 of the cookie's token.
    Column("hash", Text, primary_key=True),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("created_at", Float, nullable=False),
    Column("seen_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("address", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Index("ix_sessions_user_id", "user_id"),
)

# Invitations, the first administrator's link, and new passwords.
links = Table(
    "links",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("used_at", Float),
    Index("ix_links_user_id", "user_id"),
)

api_keys = Table(
    "api_keys",
    metadata,
    # The part of the key that is shown.
    Column("id", Text, primary_key=True),
    Column("hash", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("project", ForeignKey("projects.name"), nullable=False),
    # Who made it, and dies with it; NULL for the command line.
    Column("user_id", ForeignKey("users.id")),
    Column("scopes", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("last_used_at", Float),
    Column("revoked_at", Float),
    Index("ix_api_keys_project", "project"),
)

# Of a project (by name), a user or a key (by id).
budgets = Table(
    "budgets",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("cost_pico_usd", BigKey),
    Column("period", Text, nullable=False),
    Column("runs_at_once", BigKey),
    Column("set_by", Text, nullable=False),
    Column("set_at", Text, nullable=False),
    Column("storage_bytes", BigKey),
)

# What a run may spend until it ends, and has spent when it has. It outlives the run: what was spent stays spent.
reservations = Table(
    "reservations",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("project", Text, nullable=False),
    Column("user_id", Text),
    Column("key_id", Text),
    Column("reserved_pico_usd", BigKey, nullable=False),
    Column("is_settled", Boolean, nullable=False),
    Column("created_at", Float, nullable=False),
    Index("ix_reservations_project", "project"),
    Index("ix_reservations_user_id", "user_id"),
    Index("ix_reservations_key_id", "key_id"),
)

# Who a user is at an identity provider.
identities = Table(
    "identities",
    metadata,
    Column("issuer", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("created_at", Text, nullable=False),
    UniqueConstraint("issuer", "user_id"),
)

# Access tokens name their family and are let in as long as it is there.
token_families = Table(
    "token_families",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("project", ForeignKey("projects.name"), nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("used_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("address", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Index("ix_token_families_user_id", "user_id"),
)

# Those that were used stay as long as their family: whoever comes with one again ends it.
refresh_tokens = Table(
    "refresh_tokens",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("family_id", ForeignKey("token_families.id"), nullable=False),
    Column("used_at", Float),
    Index("ix_refresh_tokens_family_id", "family_id"),
)

# Rows are only ever added. Each has the hash of the one before, so that a row that is changed or gone is found.
audit = Table(
    "audit",
    metadata,
    Column("number", BigKey, primary_key=True, autoincrement=False),
    Column("at", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("object", Text, nullable=False),
    Column("project", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("before", Text, nullable=False),
    Column("hash", Text, nullable=False),
)
