"""The relational schema: one definition for SQLite and PostgreSQL, for migrations and for every query.

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
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from proctor.domain.chunk import ChunkState
from proctor.domain.run import RunStatus

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

STATUSES = ", ".join(f"'{status.value}'" for status in RunStatus)
CHUNK_STATES = ", ".join(f"'{state.value}'" for state in ChunkState)

# SQLite assigns row ids only to a column declared INTEGER, and an INTEGER holds 64 bits there.
BigKey = BigInteger().with_variant(Integer, "sqlite")

# Whose data it is. Without accounts there is one: local.
projects = Table(
    "projects",
    metadata,
    Column("name", Text, primary_key=True),
    Column("created_at", Text, nullable=False),
    Column("archived_at", Text),
)

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
    CheckConstraint(f"status IN ({STATUSES})", name="status"),
    Index("ix_runs_created_at_id", "created_at", "id"),
    Index("ix_runs_project_created_at_id", "project", "created_at", "id"),
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
    # queued, running or failed.
    Column("state", Text, nullable=False, server_default=text("'queued'")),
    Column("error", Text),
    Column("created_at", Float, nullable=False),
    Column("fence", BigKey, nullable=False, server_default=text("0")),
    Column("lease_owner", Text),
    Column("lease_until", Float),
    # How many workers were lost with it.
    Column("lost_leases", Integer, nullable=False, server_default=text("0")),
    Index("ix_submission_queue_state_created_at", "state", "created_at"),
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
    UniqueConstraint("project", "name", "version"),
    Index("ix_own_benchmarks_project_id", "project", "id"),
)

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
    # waiting, delivered or failed.
    Column("state", Text, nullable=False, server_default=text("'waiting'")),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("next_at", Float, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("ended_at", Float),
    # Of the last answer.
    Column("status", Integer),
    Column("answer", Text),
    Column("error", Text),
    UniqueConstraint("webhook_id", "run_id", "number"),
    Index("ix_deliveries_state_next_at", "state", "next_at"),
    Index("ix_deliveries_run_id", "run_id"),
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
    # When a chunk of it was taken last: runs of one priority take turns.
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

id_blocks = Table(
    "id_blocks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("next", BigInteger, nullable=False),
)


def as_sqlite_script() -> str:
    """The whole schema as SQL for a new SQLite file: what `schema.sql` holds."""
    from sqlalchemy.dialects import sqlite
    from sqlalchemy.schema import CreateIndex, CreateTable

    dialect = sqlite.dialect()
    statements = []
    for table in metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=dialect)).strip())
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        statements += [str(CreateIndex(index).compile(dialect=dialect)).strip() for index in indexes]
    script = ";\n\n".join(statements) + ";\n"
    return "\n".join(line.rstrip() for line in script.splitlines()) + "\n"


import proctor.stores.accounts.tables  # noqa: E402, F401 - tables of the same schema, which need what is above
