"""Projects say how long what they have is kept"""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.add_column("projects", sa.Column("retention", sa.Text(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
