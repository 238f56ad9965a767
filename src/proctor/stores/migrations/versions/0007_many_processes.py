"""Fences and numbered events, models and benchmarks as tables, and the month that answers are stored under"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
STATUS = "status IN ('queued', 'running', 'completed', 'failed', 'cancelled')"
AT_ONCE = 5_000
REVISION = "revision 2"
"""Summaries of this revision can be kept; older ones are computed again."""


def upgrade() -> None:
    connection = op.get_bind()
    is_sqlite = connection.dialect.name == "sqlite"
    _name_models_and_benchmarks(connection)
    _extend_runs_and_evaluations(connection)
    _number_events(connection)
    if is_sqlite:
        _extend_answers()
    else:
        _compare_by_bytes(connection)
        _partition(connection)
    _fill_score_columns(connection)


def _name_models_and_benchmarks(connection: sa.Connection) -> None:
    op.create_table(
        "models",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("first_used_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_models")),
    )
    op.create_table(
        "benchmarks",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("samples", sa.Integer(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("first_used_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", "version", "digest", name=op.f("pk_benchmarks")),
    )
    models = connection.execute(
        sa.text("SELECT model, min(created_at) FROM evaluations JOIN runs ON runs.id = run_id GROUP BY model")
    ).all()
    for name, first in models:
        connection.execute(
            sa.text("INSERT INTO models VALUES (:name, :provider, :first)"),
            {"name": name, "provider": name.partition("/")[0], "first": first},
        )
    connection.execute(
        sa.text(
            "INSERT INTO benchmarks SELECT benchmark, evaluations.version, digest, max(samples), min(tags), "
            "min(created_at) FROM evaluations JOIN runs ON runs.id = run_id "
            "GROUP BY benchmark, evaluations.version, digest"
        )
    )


def _extend_runs_and_evaluations(connection: sa.Connection) -> None:
    with op.batch_alter_table("runs") as runs:
        runs.add_column(sa.Column("fence", KEY, nullable=False, server_default=sa.text("0")))
        runs.add_column(sa.Column("last_event", KEY, nullable=False, server_default=sa.text("0")))
        runs.add_column(sa.Column("progress", sa.Float(), nullable=False, server_default=sa.text("0")))
        runs.add_column(sa.Column("raw_data", sa.Text(), nullable=True))
        runs.create_check_constraint(op.f("ck_runs_status"), STATUS)
    op.execute("UPDATE runs SET progress = 1 WHERE status = 'completed'")
    with op.batch_alter_table("evaluations") as evaluations:
        evaluations.add_column(sa.Column("summary_revision", sa.Text(), nullable=True))
        evaluations.add_column(sa.Column("month", sa.Integer(), nullable=False, server_default=sa.text("0")))
        evaluations.create_foreign_key(op.f("fk_evaluations_model"), "models", ["model"], ["name"])
        evaluations.create_foreign_key(
            op.f("fk_evaluations_benchmark"),
            "benchmarks",
            ["benchmark", "version", "digest"],
            ["name", "version", "digest"],
        )
    op.execute(
        "UPDATE evaluations SET month = (SELECT CAST(substr(created_at, 1, 4) AS INTEGER) * 100 "
        "+ CAST(substr(created_at, 6, 2) AS INTEGER) FROM runs WHERE runs.id = run_id)"
    )
    _keep_summaries(connection)


def _keep_summaries(connection: sa.Connection) -> None:
    """What computed a summary is told beside it instead of in it."""
    rows = connection.execute(sa.text("SELECT id, summary FROM evaluations WHERE summary IS NOT NULL")).all()
    for evaluation_id, text in rows:
        summary = json.loads(text)
        kept = summary.pop("kept", None)
        values = {"id": evaluation_id, "summary": None, "revision": None}
        if kept == REVISION:
            values |= {"summary": json.dumps(summary, ensure_ascii=False, separators=(",", ":")), "revision": kept}
        connection.execute(
            sa.text("UPDATE evaluations SET summary = :summary, summary_revision = :revision WHERE id = :id"), values
        )


def _number_events(connection: sa.Connection) -> None:
    op.rename_table("events", "old_events")
    op.drop_index("ix_events_run_id_id", table_name="old_events")
    if connection.dialect.name == "postgresql":
        op.execute("ALTER TABLE old_events RENAME CONSTRAINT pk_events TO pk_old_events")
        op.execute("ALTER TABLE old_events DROP CONSTRAINT fk_events_run_id")
    op.create_table(
        "events",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("number", KEY, autoincrement=False, nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_events_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "number", name=op.f("pk_events")),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO events SELECT run_id, row_number() OVER (PARTITION BY run_id ORDER BY id), at, kind, data "
        "FROM old_events"
    )
    op.drop_table("old_events")
    op.create_index("ix_events_run_id_kind_number", "events", ["run_id", "kind", "number"])
    op.execute(
        "UPDATE runs SET last_event = coalesce((SELECT max(number) FROM events WHERE events.run_id = runs.id), 0)"
    )


_SCORE_COLUMNS = (
    ("is_unreadable", sa.Boolean(), "false"),
    ("is_forgeable", sa.Boolean(), "false"),
    ("weight", sa.Integer(), None),
    ("covers", sa.Float(), None),
)


def _extend_answers() -> None:
    """SQLite: columns are added in place; filling them in rewrites every row, some seconds for a million."""
    for name, kind, default in _SCORE_COLUMNS:
        given = None if default is None else sa.text(default)
        op.add_column("scores", sa.Column(name, kind, nullable=default is None, server_default=given))
    for table in ("responses", "bodies", "scores"):
        op.add_column(table, sa.Column("month", sa.Integer(), nullable=False, server_default=sa.text("0")))
    op.execute("UPDATE responses SET month = (SELECT month FROM evaluations WHERE evaluations.id = evaluation_id)")
    for table in ("bodies", "scores"):
        op.execute(f"UPDATE {table} SET month = (SELECT month FROM responses WHERE responses.id = response_id)")


_OURS = (
    "batch_trials", "batches", "benchmarks", "cache", "evaluations", "events", "id_blocks", "models", "runs", "samples",
    "submissions",
)  # fmt: skip


def _compare_by_bytes(connection: sa.Connection) -> None:
    """PostgreSQL: texts sort as they do in SQLite, whatever the language of the server."""
    columns = connection.execute(
        sa.text(
            "SELECT table_name, column_name FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND data_type = 'text' AND table_name = ANY(:ours)"
        ),
        {"ours": list(_OURS)},
    ).all()
    by_table: dict[str, list[str]] = {}
    for table, column in columns:
        by_table.setdefault(table, []).append(column)
    # Columns that refer to each other change together, so their references are dropped and made again.
    references = [
        ("evaluations", "fk_evaluations_run_id", "run_id", "runs", "id", "CASCADE"),
        ("events", "fk_events_run_id", "run_id", "runs", "id", "CASCADE"),
        ("evaluations", "fk_evaluations_model", "model", "models", "name", None),
        (
            "evaluations",
            "fk_evaluations_benchmark",
            "benchmark,version,digest",
            "benchmarks",
            "name,version,digest",
            None,
        ),
        ("responses", "fk_responses_sample_digest", "sample_digest", "samples", "digest", None),
    ]
    for table, name, *_ in references:
        op.drop_constraint(name, table, type_="foreignkey")
    for table, names in sorted(by_table.items()):
        op.execute(f"ALTER TABLE {table} " + ", ".join(f'ALTER COLUMN {name} TYPE text COLLATE "C"' for name in names))
    for table, name, mine, other, theirs, on_delete in references[:-1]:
        op.create_foreign_key(op.f(name), table, other, mine.split(","), theirs.split(","), ondelete=on_delete)


_PARTITIONED = {
    "responses": """
        id bigint NOT NULL, evaluation_id bigint NOT NULL, trial_id text COLLATE "C" NOT NULL, attempt integer NOT NULL,
        sample_id text COLLATE "C" NOT NULL, sample_digest text COLLATE "C" NOT NULL, epoch integer NOT NULL,
        category text COLLATE "C", cluster text COLLATE "C", cache_key text COLLATE "C", is_cached boolean NOT NULL,
        error text, retries integer NOT NULL, finish_reason text, input_tokens bigint, output_tokens bigint,
        reasoning_tokens bigint, cached_tokens bigint, cost_pico_usd bigint, latency_seconds double precision,
        first_token_seconds double precision, created_at double precision NOT NULL, cache_write_tokens bigint,
        cost_basis text COLLATE "C", month integer NOT NULL,
        CONSTRAINT pk_responses PRIMARY KEY (id, month),
        CONSTRAINT uq_responses_evaluation_id_trial_id_attempt UNIQUE (evaluation_id, trial_id, attempt, month),
        CONSTRAINT fk_responses_evaluation_id FOREIGN KEY (evaluation_id) REFERENCES evaluations (id) ON DELETE CASCADE
    """,
    "bodies": """
        response_id bigint NOT NULL, text text NOT NULL, more text, month integer NOT NULL,
        CONSTRAINT pk_bodies PRIMARY KEY (response_id, month)
    """,
    "scores": """
        response_id bigint NOT NULL, scorer text COLLATE "C" NOT NULL, version text COLLATE "C" NOT NULL,
        value double precision, is_invalid boolean NOT NULL, answer text COLLATE "C", reason text NOT NULL, details text,
        is_unreadable boolean NOT NULL DEFAULT false, is_forgeable boolean NOT NULL DEFAULT false, weight integer,
        covers double precision, month integer NOT NULL,
        CONSTRAINT pk_scores PRIMARY KEY (response_id, scorer, version, month)
    """,
}


def _partition(connection: sa.Connection) -> None:
    """PostgreSQL: one partition for each month of runs. References between them would forbid to drop one."""
    months = [row[0] for row in connection.execute(sa.text("SELECT DISTINCT month FROM evaluations"))]
    old = {name: f"old_{name}" for name in ("scores", "bodies", "responses")}
    for name, kept in old.items():
        op.rename_table(name, kept)
    for index in ("ix_responses_cache_key", "ix_responses_evaluation_id", "ix_responses_repeated"):
        op.execute(f"DROP INDEX {index}")
    for table, constraint in (("scores", "fk_scores_response_id"), ("bodies", "fk_bodies_response_id")):
        op.execute(f"ALTER TABLE old_{table} DROP CONSTRAINT {constraint}")
    for table, constraints in (
        ("responses", ("pk_responses", "uq_responses_evaluation_id_trial_id_attempt", "fk_responses_evaluation_id")),
        ("bodies", ("pk_bodies",)),
        ("scores", ("pk_scores",)),
    ):
        for constraint in constraints:
            op.execute(f"ALTER TABLE old_{table} DROP CONSTRAINT {constraint}")
    for name, columns in _PARTITIONED.items():
        op.execute(f"CREATE TABLE {name} ({columns}) PARTITION BY LIST (month)")
        for month in months:
            op.execute(f"CREATE TABLE {name}_{month} PARTITION OF {name} FOR VALUES IN ({month})")
    op.execute("CREATE INDEX ix_responses_evaluation_id ON responses (evaluation_id, id)")
    op.execute("CREATE INDEX ix_responses_repeated ON responses (evaluation_id, trial_id, attempt) WHERE attempt > 0")
    op.execute("CREATE INDEX ix_responses_cache_key ON responses (cache_key) WHERE cache_key IS NOT NULL")
    op.execute("CREATE INDEX ix_responses_sample_digest ON responses (sample_digest)")
    month = "(SELECT month FROM evaluations WHERE evaluations.id = evaluation_id)"
    names = [row[0] for row in connection.execute(sa.text(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() "
        "AND table_name = 'old_responses'"
    ))]  # fmt: skip
    listed = ", ".join(names)
    op.execute(f"INSERT INTO responses ({listed}, month) SELECT {listed}, {month} FROM old_responses")
    op.execute(
        "INSERT INTO bodies SELECT response_id, text, more, month FROM old_bodies "
        "JOIN responses ON responses.id = response_id"
    )
    op.execute(
        "INSERT INTO scores (response_id, scorer, version, value, is_invalid, answer, reason, details, month) "
        "SELECT response_id, scorer, old_scores.version, value, is_invalid, answer, reason, details, month "
        "FROM old_scores JOIN responses ON responses.id = response_id"
    )
    for kept in old.values():
        op.drop_table(kept)


def _fill_score_columns(connection: sa.Connection) -> None:
    """From the details of scores that say something of the kind, a few thousand at a time."""
    query = sa.text(
        "SELECT response_id, scorer, version, details FROM scores WHERE response_id > :after AND details IS NOT NULL "
        "AND (details LIKE '%unreadable%' OR details LIKE '%forgeable%' OR details LIKE '%\"weight\"%' "
        "OR details LIKE '%\"covers\"%') ORDER BY response_id, scorer, version LIMIT :count"
    )
    update = sa.text(
        "UPDATE scores SET is_unreadable = :unreadable, is_forgeable = :forgeable, weight = :weight, covers = :covers "
        "WHERE response_id = :response_id AND scorer = :scorer AND version = :version"
    )
    after = -1
    while rows := connection.execute(query, {"after": after, "count": AT_ONCE}).all():
        last = rows[-1].response_id
        if len(rows) == AT_ONCE and rows[0].response_id != last:
            rows = [row for row in rows if row.response_id != last]  # its other scores come with the next ones
        for row in rows:
            details = json.loads(row.details)
            weight, covers = details.get("weight"), details.get("covers")
            values = {
                "response_id": row.response_id,
                "scorer": row.scorer,
                "version": row.version,
                "unreadable": details.get("verdict") == "unreadable",
                "forgeable": details.get("is_forgeable") is True,
                "weight": weight if isinstance(weight, int) else None,
                "covers": float(covers) if isinstance(covers, int | float) else None,
            }
            connection.execute(update, values)
        after = rows[-1].response_id


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
