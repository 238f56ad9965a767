"""Words by which runs are found again"""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"

ASKED = "(SELECT current_setting('proctor.project', true))"
MINE = "EXISTS (SELECT 1 FROM runs WHERE runs.id = run_id)"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    options = {"sqlite_with_rowid": False} if is_sqlite else {}
    op.create_table(
        "run_tags",
        sa.Column("run_id", text, nullable=False),
        sa.Column("tag", text, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_tags_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "tag", name=op.f("pk_run_tags")),
        **options,
    )
    op.create_index(op.f("ix_run_tags_tag"), "run_tags", ["tag"])
    if not is_sqlite:
        op.execute(f"CREATE POLICY of_project ON run_tags USING ({ASKED} = '*' OR {MINE})")
        op.execute("ALTER TABLE run_tags ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
