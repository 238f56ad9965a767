"""Batches"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "batches",
        sa.Column("id", KEY, nullable=False),
        sa.Column("evaluation_id", KEY, nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("remote_id", sa.Text(), nullable=True),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("reserved_pico_usd", KEY, nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("ended_as", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluations.id"], name=op.f("fk_batches_evaluation_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batches")),
    )
    op.create_index("ix_batches_evaluation_id", "batches", ["evaluation_id"])
    op.create_table(
        "batch_trials",
        sa.Column("batch_id", KEY, autoincrement=False, nullable=False),
        sa.Column("trial_id", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("position", KEY, nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"], ["batches.id"], name=op.f("fk_batch_trials_batch_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("batch_id", "trial_id", name=op.f("pk_batch_trials")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("batch_trials")
    op.drop_index("ix_batches_evaluation_id", table_name="batches")
    op.drop_table("batches")
