"""Who says what an answer cost, what was put into a provider's cache, and money that may be spent for nothing"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

PICO = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    for table in ("responses", "cache"):
        op.add_column(table, sa.Column("cache_write_tokens", sa.Integer(), nullable=True))
        op.add_column(table, sa.Column("cost_basis", sa.Text(), nullable=True))
    op.add_column("runs", sa.Column("unanswered_pico_usd", PICO, nullable=False, server_default=sa.text("0")))


def downgrade() -> None:
    op.drop_column("runs", "unanswered_pico_usd")
    for table in ("cache", "responses"):
        op.drop_column(table, "cost_basis")
        op.drop_column(table, "cache_write_tokens")
