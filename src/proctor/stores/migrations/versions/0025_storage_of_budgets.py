"""Budgets say how much a project may keep in uploaded files"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("budgets", sa.Column("storage_bytes", number, nullable=True))


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
