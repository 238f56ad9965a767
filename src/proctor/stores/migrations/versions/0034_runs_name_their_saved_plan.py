"""Runs name the saved plan that they were made from"""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    op.add_column("runs", sa.Column("plan_id", text, nullable=True))


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
