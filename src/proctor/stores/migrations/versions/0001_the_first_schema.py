"""The first schema"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "id_blocks",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("next", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_id_blocks")),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Text(), nullable=True),
        sa.Column("finished_at", sa.Text(), nullable=True),
        sa.Column("seconds", sa.Float(), server_default=sa.text("0"), nullable=False),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.create_index("ix_runs_created_at_id", ["created_at", "id"], unique=False)

    op.create_table(
        "samples",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("sample_id", sa.Text(), nullable=False),
        sa.Column("input", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=True),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_samples")),
    )
    op.create_table(
        "evaluations",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("model_spec", sa.Text(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("benchmark_spec", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("samples", sa.Integer(), nullable=False),
        sa.Column("epochs", sa.Integer(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("scorers", sa.Text(), nullable=False),
        sa.Column("metrics", sa.Text(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_evaluations_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluations")),
        sa.UniqueConstraint("run_id", "position", name=op.f("uq_evaluations_run_id_position")),
    )
    with op.batch_alter_table("evaluations", schema=None) as batch_op:
        batch_op.create_index("ix_evaluations_benchmark_model", ["benchmark", "model"], unique=False)

    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_events_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.create_index("ix_events_run_id_id", ["run_id", "id"], unique=False)

    op.create_table(
        "responses",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("evaluation_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("trial_id", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("sample_id", sa.Text(), nullable=False),
        sa.Column("sample_digest", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("category", sa.Text(), nullable=True),
        sa.Column("cluster", sa.Text(), nullable=True),
        sa.Column("cache_key", sa.Text(), nullable=True),
        sa.Column("is_cached", sa.Boolean(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("retries", sa.Integer(), nullable=False),
        sa.Column("finish_reason", sa.Text(), nullable=True),
        sa.Column("input_tokens", sa.Integer(), nullable=True),
        sa.Column("output_tokens", sa.Integer(), nullable=True),
        sa.Column("reasoning_tokens", sa.Integer(), nullable=True),
        sa.Column("cached_tokens", sa.Integer(), nullable=True),
        sa.Column("cost_pico_usd", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("latency_seconds", sa.Float(), nullable=True),
        sa.Column("first_token_seconds", sa.Float(), nullable=True),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluations.id"], name=op.f("fk_responses_evaluation_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["sample_digest"], ["samples.digest"], name=op.f("fk_responses_sample_digest")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_responses")),
        sa.UniqueConstraint(
            "evaluation_id", "trial_id", "attempt", name=op.f("uq_responses_evaluation_id_trial_id_attempt")
        ),
    )
    with op.batch_alter_table("responses", schema=None) as batch_op:
        batch_op.create_index(
            "ix_responses_cache_key",
            ["cache_key"],
            unique=False,
            sqlite_where=sa.text("cache_key IS NOT NULL"),
            postgresql_where=sa.text("cache_key IS NOT NULL"),
        )
        batch_op.create_index("ix_responses_evaluation_id", ["evaluation_id"], unique=False)
        batch_op.create_index(
            "ix_responses_repeated",
            ["evaluation_id", "trial_id", "attempt"],
            unique=False,
            sqlite_where=sa.text("attempt > 0"),
            postgresql_where=sa.text("attempt > 0"),
        )

    op.create_table(
        "bodies",
        sa.Column(
            "response_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("more", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["response_id"], ["responses.id"], name=op.f("fk_bodies_response_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("response_id", name=op.f("pk_bodies")),
    )
    op.create_table(
        "scores",
        sa.Column(
            "response_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("scorer", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("is_invalid", sa.Boolean(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("details", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["response_id"], ["responses.id"], name=op.f("fk_scores_response_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("response_id", "scorer", "version", name=op.f("pk_scores")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("scores")
    op.drop_table("bodies")
    with op.batch_alter_table("responses", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_responses_repeated", sqlite_where=sa.text("attempt > 0"), postgresql_where=sa.text("attempt > 0")
        )
        batch_op.drop_index("ix_responses_evaluation_id")
        batch_op.drop_index(
            "ix_responses_cache_key",
            sqlite_where=sa.text("cache_key IS NOT NULL"),
            postgresql_where=sa.text("cache_key IS NOT NULL"),
        )

    op.drop_table("responses")
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.drop_index("ix_events_run_id_id")

    op.drop_table("events")
    with op.batch_alter_table("evaluations", schema=None) as batch_op:
        batch_op.drop_index("ix_evaluations_benchmark_model")

    op.drop_table("evaluations")
    op.drop_table("samples")
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.drop_index("ix_runs_created_at_id")

    op.drop_table("runs")
    op.drop_table("id_blocks")
