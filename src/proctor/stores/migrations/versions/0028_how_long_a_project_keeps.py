"""Projects say how long what they have is kept"""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    op.add_column("projects", sa.Column("retention", text, nullable=True))


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
