"""Projects take turns, however many runs each of them has"""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"

ASKED = "(SELECT current_setting('proctor.project', true))"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    op.create_table(
        "project_turns",
        sa.Column("project", text, nullable=False),
        sa.Column("served_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("project", name=op.f("pk_project_turns")),
    )
    if not is_sqlite:
        op.execute(f"CREATE POLICY of_project ON project_turns USING ({ASKED} = '*' OR project = {ASKED})")
        op.execute("ALTER TABLE project_turns ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
