"""Programs that were handed in over the API and wait to be marked"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ASKED = "(SELECT current_setting('proctor.project', true))"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    op.create_table(
        "submission_queue",
        sa.Column("id", text, nullable=False),
        sa.Column("project", text, nullable=False, server_default=sa.text("'local'")),
        *(sa.Column(name, text, nullable=False) for name in ("name", "problem", "artifact", "form", "refused")),
        sa.Column("is_measuring", sa.Boolean(), nullable=False),
        sa.Column("author", text, nullable=False),
        sa.Column("state", text, nullable=False, server_default=sa.text("'queued'")),
        sa.Column("error", text, nullable=True),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("fence", KEY, nullable=False, server_default=sa.text("0")),
        sa.Column("lease_owner", text, nullable=True),
        sa.Column("lease_until", sa.Float(), nullable=True),
        sa.Column("lost_leases", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submission_queue")),
    )
    op.create_index(op.f("ix_submission_queue_state_created_at"), "submission_queue", ["state", "created_at"])
    if not is_sqlite:
        op.execute(f"CREATE POLICY of_project ON submission_queue USING ({ASKED} = '*' OR project = {ASKED})")
        op.execute("ALTER TABLE submission_queue ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
