"""Addresses that are told how runs ended, and the messages to them"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ASKED = "(SELECT current_setting('proctor.project', true))"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    local = sa.text("'local'")
    op.create_table(
        "webhooks",
        sa.Column("id", text, nullable=False),
        sa.Column("project", text, nullable=False, server_default=local),
        *(sa.Column(name, text, nullable=False) for name in ("url", "events", "sealed")),
        sa.Column("former", text, nullable=True),
        sa.Column("former_until", sa.Float(), nullable=False),
        sa.Column("position", KEY, nullable=False),
        sa.Column("author", text, nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", text, nullable=False),
        sa.Column("webhook_id", text, nullable=False),
        sa.Column("project", text, nullable=False, server_default=local),
        sa.Column("run_id", text, nullable=False),
        sa.Column("number", KEY, nullable=False),
        sa.Column("event", text, nullable=False),
        sa.Column("body", text, nullable=False),
        sa.Column("state", text, nullable=False, server_default=sa.text("'waiting'")),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("next_at", sa.Float(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("answer", text, nullable=True),
        sa.Column("error", text, nullable=True),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name=op.f("fk_deliveries_webhook_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("webhook_id", "run_id", "number", name=op.f("uq_deliveries_webhook_id_run_id_number")),
    )
    op.create_index(op.f("ix_deliveries_state_next_at"), "deliveries", ["state", "next_at"])
    op.create_index(op.f("ix_deliveries_run_id"), "deliveries", ["run_id"])
    if not is_sqlite:
        for table in ("webhooks", "deliveries"):
            op.execute(f"CREATE POLICY of_project ON {table} USING ({ASKED} = '*' OR project = {ASKED})")
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
