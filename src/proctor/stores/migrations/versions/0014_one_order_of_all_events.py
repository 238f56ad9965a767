"""One order over the events of all runs, so that a project's stream can be followed and taken up again"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("events", sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True))
    # Nobody can have followed what happened before there was an order.
    op.execute("UPDATE events SET position = 0")
    op.create_index("ix_events_position", "events", ["position"])
    missing = sa.text("position IS NULL")
    op.create_index(
        "ix_events_unnumbered", "events", ["run_id", "number"], sqlite_where=missing, postgresql_where=missing
    )


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
