"""Who started a run, and how long workers were busy with it on each day"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"

ASKED = "(SELECT current_setting('proctor.project', true))"
MINE = "EXISTS (SELECT 1 FROM runs WHERE runs.id = run_id)"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    op.add_column("runs", sa.Column("started_by", text, nullable=True))
    options = {"sqlite_with_rowid": False} if is_sqlite else {}
    op.create_table(
        "worker_time",
        sa.Column("run_id", text, nullable=False),
        sa.Column("day", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_worker_time_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "day", name=op.f("pk_worker_time")),
        **options,
    )
    if not is_sqlite:
        op.execute(f"CREATE POLICY of_project ON worker_time USING ({ASKED} = '*' OR {MINE})")
        op.execute("ALTER TABLE worker_time ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
