"""What people add over the API: saved plans, comments, labels, and the answers to requests that may be sent again"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ASKED = "(SELECT current_setting('proctor.project', true))"
TABLES = ("idempotency_keys", "saved_plans", "comments", "labels")


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    local = sa.text("'local'")
    op.create_table(
        "idempotency_keys",
        sa.Column("project", text, nullable=False, server_default=local),
        sa.Column("key", text, nullable=False),
        sa.Column("digest", text, nullable=False),
        sa.Column("run_id", text, nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("project", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_table(
        "saved_plans",
        sa.Column("id", text, nullable=False),
        sa.Column("name", text, nullable=False),
        sa.Column("plan", text, nullable=False),
        sa.Column("revision", KEY, nullable=False),
        sa.Column("author", text, nullable=False),
        sa.Column("created_at", text, nullable=False),
        sa.Column("updated_at", text, nullable=False),
        sa.Column("project", text, nullable=False, server_default=local),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_plans")),
    )
    op.create_index(op.f("ix_saved_plans_project_id"), "saved_plans", ["project", "id"])
    op.create_table(
        "comments",
        sa.Column("id", text, nullable=False),
        sa.Column("run_id", text, nullable=False),
        sa.Column("response_id", KEY, nullable=True),
        sa.Column("author", text, nullable=False),
        sa.Column("text", text, nullable=False),
        sa.Column("created_at", text, nullable=False),
        sa.Column("project", text, nullable=False, server_default=local),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_comments_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comments")),
    )
    op.create_index(op.f("ix_comments_run_id_id"), "comments", ["run_id", "id"])
    op.create_table(
        "labels",
        sa.Column("run_id", text, nullable=False),
        sa.Column("response_id", KEY, nullable=False),
        sa.Column("author", text, nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("note", text, nullable=False),
        sa.Column("labelled_at", text, nullable=False),
        sa.Column("project", text, nullable=False, server_default=local),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_labels_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "response_id", "author", name=op.f("pk_labels")),
    )
    if not is_sqlite:
        for table in TABLES:
            op.execute(f"CREATE POLICY of_project ON {table} USING ({ASKED} = '*' OR project = {ASKED})")
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
