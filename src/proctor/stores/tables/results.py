"""Samples, answers and their scores; answers that are kept for judges; batches that are open at providers.

`responses` is append-only: a trial that is asked again gets another attempt, and the current one is the latest.
Rows that lists and statistics read are kept apart from bodies, which are fetched by id.

What grows with the answers (`responses`, `bodies`, `scores`) has the month of its run, which never changes. PostgreSQL
keeps each month in a partition of its own, so that old ones can be dropped at once; there the month is part of every
key, and texts are compared byte by byte, as in SQLite. Migrations say so; here is what queries need to know.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from proctor.stores.tables.metadata import BigKey, metadata

samples = Table(
    "samples",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("sample_id", Text, nullable=False),
    Column("input", Text, nullable=False),
    Column("target", Text),
    Column("prompt", Text, nullable=False),
    Column("body", Text, nullable=False),
)

responses = Table(
    "responses",
    metadata,
    Column("id", BigKey, primary_key=True, autoincrement=False),
    Column("evaluation_id", ForeignKey("evaluations.id", ondelete="CASCADE"), nullable=False),
    Column("trial_id", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("sample_id", Text, nullable=False),
    Column("sample_digest", ForeignKey("samples.digest"), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("category", Text),
    Column("cluster", Text),
    Column("cache_key", Text),
    Column("is_cached", Boolean, nullable=False),
    Column("error", Text),
    Column("retries", Integer, nullable=False),
    Column("finish_reason", Text),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("reasoning_tokens", Integer),
    Column("cached_tokens", Integer),
    # 1e-12 dollars: sums stay exact in SQL, and even a cached token's price is a whole number.
    Column("cost_pico_usd", BigKey),
    Column("latency_seconds", Float),
    Column("first_token_seconds", Float),
    Column("created_at", Float, nullable=False),
    Column("cache_write_tokens", Integer),
    # 'reported', 'computed: …', 'assumed: …' or 'free'; NULL where the cost is not known.
    Column("cost_basis", Text),
    Column("month", Integer, nullable=False, server_default=text("0")),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    UniqueConstraint("evaluation_id", "trial_id", "attempt"),
    Index("ix_responses_evaluation_id", "evaluation_id"),
    # Few trials are asked twice: whether an attempt is the latest is looked up here, in next to nothing.
    Index(
        "ix_responses_repeated",
        "evaluation_id",
        "trial_id",
        "attempt",
        sqlite_where=text("attempt > 0"),
    ),
    # Migrations say the same to PostgreSQL; naming it here would import all of its dialect at every start.
    Index("ix_responses_cache_key", "cache_key", sqlite_where=text("cache_key IS NOT NULL")),
)

bodies = Table(
    "bodies",
    metadata,
    Column("response_id", ForeignKey("responses.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
    Column("more", Text),
    Column("month", Integer, nullable=False, server_default=text("0")),
    Column("project", Text, nullable=False, server_default=text("'local'")),
)

scores = Table(
    "scores",
    metadata,
    Column("response_id", ForeignKey("responses.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("scorer", Text, primary_key=True),
    Column("version", Text, primary_key=True),
    Column("value", Float),
    Column("is_invalid", Boolean, nullable=False),
    Column("answer", Text),
    Column("reason", Text, nullable=False),
    Column("details", Text),
    # What queries ask of the details. The mark is missing because a judge's verdict could not be read:
    Column("is_unreadable", Boolean, nullable=False, server_default=text("false")),
    # the answer itself could have influenced the evidence;
    Column("is_forgeable", Boolean, nullable=False, server_default=text("false")),
    # how many things the mark is the share of;
    Column("weight", Integer),
    # how much of the weights the mark covers.
    Column("covers", Float),
    Column("month", Integer, nullable=False, server_default=text("0")),
    Column("project", Text, nullable=False, server_default=text("'local'")),
    sqlite_with_rowid=False,
)

id_blocks = Table(
    "id_blocks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("next", BigInteger, nullable=False),
)

# Answers that belong to no trial: those of judges. The trials' own answers are found in `responses`.
cache = Table(
    "cache",
    metadata,
    Column("key", Text, primary_key=True),
    Column("text", Text, nullable=False),
    Column("more", Text),
    Column("finish_reason", Text, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("reasoning_tokens", Integer),
    Column("cached_tokens", Integer),
    Column("cost_pico_usd", BigKey),
    Column("latency_seconds", Float),
    Column("first_token_seconds", Float),
    Column("created_at", Float, nullable=False),
    Column("cache_write_tokens", Integer),
    Column("cost_basis", Text),
    Column("project", Text, nullable=False, server_default=text("'local'")),
)

# A row is there before its batch is handed in: whatever happens in between, the batch can be found again.
batches = Table(
    "batches",
    metadata,
    Column("id", BigKey, primary_key=True),
    Column("evaluation_id", ForeignKey("evaluations.id", ondelete="CASCADE"), nullable=False),
    Column("token", Text, nullable=False),
    Column("remote_id", Text),
    Column("requests", Integer, nullable=False),
    Column("reserved_pico_usd", BigKey, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("ended_as", Text),
    Index("ix_batches_evaluation_id", "evaluation_id"),
)

# What an open batch asks; emptied once its answers are recorded.
batch_trials = Table(
    "batch_trials",
    metadata,
    Column("batch_id", ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("trial_id", Text, primary_key=True),
    Column("attempt", Integer, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("position", BigKey, nullable=False),
    sqlite_with_rowid=False,
)
