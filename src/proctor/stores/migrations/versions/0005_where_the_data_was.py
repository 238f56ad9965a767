"""The folder that benchmark data came from, so that a run can be taken up again without naming it"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("runs", sa.Column("data", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("runs", "data")
