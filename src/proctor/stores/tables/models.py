"""The catalogue of models: what providers list, and when they did. What runs have used is in `models`, too."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Table, Text

from proctor.stores.tables.metadata import BigKey, metadata

model_lists = Table(
    "model_lists",
    metadata,
    # A digest of project, provider, address and key: two keys may see two lists.
    Column("id", Text, primary_key=True),
    Column("provider", Text, nullable=False),
    Column("base_url", Text, nullable=False),
    Column("fetched_at", Float, nullable=False),
    # Whose key it was asked with; NULL where every project may use that.
    Column("project", Text),
    Index("ix_model_lists_provider_fetched_at", "provider", "fetched_at"),
)

listed_models = Table(
    "listed_models",
    metadata,
    Column("list_id", ForeignKey("model_lists.id", ondelete="CASCADE"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("context_tokens", BigKey),
    # Prices are decimal numbers; NULL where the provider says nothing.
    Column("input_usd_per_million", Text),
    Column("output_usd_per_million", Text),
    Column("cached_usd_per_million", Text),
    Column("written_usd_per_million", Text),
    Column("reasoning_usd_per_million", Text),
    # What it can and cannot do, as JSON: name -> true or false.
    Column("capabilities", Text, nullable=False),
    # The list's.
    Column("project", Text),
    Index("ix_listed_models_name", "name"),
    sqlite_with_rowid=False,
)
