"""Runs that are scored again in the background"""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ASKED = "(SELECT current_setting('proctor.project', true))"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    op.create_table(
        "rescorings",
        sa.Column("id", text, nullable=False),
        sa.Column("run_id", text, nullable=False),
        sa.Column("project", text, nullable=False, server_default=sa.text("'local'")),
        sa.Column("request", text, nullable=False),
        sa.Column("started_by", text, nullable=True),
        sa.Column("state", text, nullable=False, server_default=sa.text("'queued'")),
        sa.Column("is_wanted", sa.Boolean(), nullable=False, server_default=sa.text("true")),
        sa.Column("done", KEY, nullable=False, server_default=sa.text("0")),
        sa.Column("total", KEY, nullable=False, server_default=sa.text("0")),
        sa.Column("fault", text, nullable=True),
        sa.Column("error", text, nullable=True),
        sa.Column("result", text, nullable=True),
        sa.Column("unanswered_pico_usd", KEY, nullable=False, server_default=sa.text("0")),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("fence", KEY, nullable=False, server_default=sa.text("0")),
        sa.Column("lease_owner", text, nullable=True),
        sa.Column("lease_until", sa.Float(), nullable=True),
        sa.Column("lost_leases", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_rescorings_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rescorings")),
    )
    op.create_index(op.f("ix_rescorings_run_id"), "rescorings", ["run_id"])
    op.create_index(
        op.f("ix_rescorings_open"),
        "rescorings",
        ["state", "id"],
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    if not is_sqlite:
        op.execute(f"CREATE POLICY of_project ON rescorings USING ({ASKED} = '*' OR project = {ASKED})")
        op.execute("ALTER TABLE rescorings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
