"""Benchmarks that projects upload, each version kept for good"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"

ASKED = "(SELECT current_setting('proctor.project', true))"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    op.create_table(
        "own_benchmarks",
        sa.Column("id", text, nullable=False),
        *(sa.Column(name, text, nullable=False) for name in ("name", "version", "entry", "files", "description")),
        sa.Column("author", text, nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("archived_at", sa.Float(), nullable=True),
        sa.Column("project", text, nullable=False, server_default=sa.text("'local'")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_own_benchmarks")),
        sa.UniqueConstraint("project", "name", "version", name=op.f("uq_own_benchmarks_project_name_version")),
    )
    op.create_index(op.f("ix_own_benchmarks_project_id"), "own_benchmarks", ["project", "id"])
    if not is_sqlite:
        op.execute(f"CREATE POLICY of_project ON own_benchmarks USING ({ASKED} = '*' OR project = {ASKED})")
        op.execute("ALTER TABLE own_benchmarks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
