"""One prompt put to several models side by side: what was asked, the answers as they grow, files and votes"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ASKED = "(SELECT current_setting('proctor.project', true))"
TABLES = ("playground_asks", "playground_answers", "playground_files", "playground_votes")


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    local = sa.text("'local'")
    op.create_table(
        "playground_asks",
        sa.Column("id", text, nullable=False),
        sa.Column("author", text, nullable=False),
        sa.Column("kind", text, nullable=False),
        sa.Column("request", text, nullable=False),
        sa.Column("is_blind", sa.Boolean(), nullable=False),
        sa.Column("revealed_at", text, nullable=True),
        sa.Column("created_at", text, nullable=False),
        sa.Column("project", text, nullable=False, server_default=local),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_playground_asks")),
    )
    op.create_index(op.f("ix_playground_asks_project_id"), "playground_asks", ["project", "id"])
    _create_part(
        "playground_answers",
        sa.Column("slot", text, nullable=False),
        sa.Column("position", KEY, nullable=False),
        sa.Column("model", text, nullable=False),
        sa.Column("state", text, nullable=False),
        sa.Column("text", text, nullable=False),
        sa.Column("reasoning", text, nullable=False),
        sa.Column("details", text, nullable=False),
        sa.Column("held_pico_usd", KEY, nullable=False),
        sa.Column("beat_at", sa.Float(), nullable=False),
        text=text,
    )
    _create_part(
        "playground_files",
        sa.Column("position", KEY, nullable=False),
        sa.Column("name", text, nullable=False),
        sa.Column("media_type", text, nullable=False),
        sa.Column("content", text, nullable=False),
        text=text,
    )
    _create_part(
        "playground_votes",
        sa.Column("voter", text, nullable=False),
        sa.Column("best", text, nullable=False),
        sa.Column("is_blind", sa.Boolean(), nullable=False),
        sa.Column("voted_at", text, nullable=False),
        text=text,
    )
    if not is_sqlite:
        for table in TABLES:
            op.execute(f"CREATE POLICY of_project ON {table} USING ({ASKED} = '*' OR project = {ASKED})")
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def _create_part(table: str, key: sa.Column[Any], *columns: sa.Column[Any], text: sa.Text) -> None:
    """A table whose rows belong to an ask, and end with it."""
    op.create_table(
        table,
        sa.Column("ask_id", text, nullable=False),
        key,
        *columns,
        sa.Column("project", text, nullable=False, server_default=sa.text("'local'")),
        sa.ForeignKeyConstraint(
            ["ask_id"], ["playground_asks.id"], name=op.f(f"fk_{table}_ask_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("ask_id", key.name, name=op.f(f"pk_{table}")),
    )


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
