"""Files that people upload, and the runs that use them"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ASKED = "(SELECT current_setting('proctor.project', true))"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    local = sa.text("'local'")
    op.create_table(
        "files",
        sa.Column("id", text, nullable=False),
        sa.Column("name", text, nullable=False),
        sa.Column("kind", text, nullable=False),
        sa.Column("media_type", text, nullable=False),
        sa.Column("size_bytes", KEY, nullable=False),
        sa.Column("artifact", text, nullable=False),
        sa.Column("text_artifact", text, nullable=True),
        sa.Column("pages", sa.Integer(), nullable=True),
        sa.Column("width", sa.Integer(), nullable=True),
        sa.Column("height", sa.Integer(), nullable=True),
        sa.Column("author", text, nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=False),
        sa.Column("project", text, nullable=False, server_default=local),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_files")),
    )
    op.create_index(op.f("ix_files_project_id"), "files", ["project", "id"])
    op.create_index(op.f("ix_files_expires_at"), "files", ["expires_at"])
    op.create_table(
        "file_uses",
        sa.Column("run_id", text, nullable=False),
        sa.Column("file_id", text, nullable=False),
        sa.Column("project", text, nullable=False, server_default=local),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_file_uses_run_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["file_id"], ["files.id"], name=op.f("fk_file_uses_file_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "file_id", name=op.f("pk_file_uses")),
    )
    op.create_index(op.f("ix_file_uses_file_id"), "file_uses", ["file_id"])
    if not is_sqlite:
        for table in ("files", "file_uses"):
            op.execute(f"CREATE POLICY of_project ON {table} USING ({ASKED} = '*' OR project = {ASKED})")
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
