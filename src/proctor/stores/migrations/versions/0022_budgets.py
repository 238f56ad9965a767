"""Budgets of projects, users and keys, and what their runs have reserved of them"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "budgets",
        sa.Column("kind", text, nullable=False),
        sa.Column("subject", text, nullable=False),
        sa.Column("cost_pico_usd", number, nullable=True),
        sa.Column("period", text, nullable=False),
        sa.Column("runs_at_once", number, nullable=True),
        sa.Column("set_by", text, nullable=False),
        sa.Column("set_at", text, nullable=False),
        sa.PrimaryKeyConstraint("kind", "subject", name=op.f("pk_budgets")),
    )
    op.create_table(
        "reservations",
        sa.Column("run_id", text, nullable=False),
        sa.Column("project", text, nullable=False),
        sa.Column("user_id", text, nullable=True),
        sa.Column("key_id", text, nullable=True),
        sa.Column("reserved_pico_usd", number, nullable=False),
        sa.Column("is_settled", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_reservations")),
    )
    for column in ("project", "user_id", "key_id"):
        op.create_index(op.f(f"ix_reservations_{column}"), "reservations", [column])


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
