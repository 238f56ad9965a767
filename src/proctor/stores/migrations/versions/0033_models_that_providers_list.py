"""What providers list of their models, as rows"""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"

ASKED = "(SELECT current_setting('proctor.project', true))"
RATES = ("input", "output", "cached", "written", "reasoning")


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    big = sa.Integer() if is_sqlite else sa.BigInteger()
    options = {"sqlite_with_rowid": False} if is_sqlite else {}
    op.create_table(
        "model_lists",
        sa.Column("id", text, nullable=False),
        sa.Column("provider", text, nullable=False),
        sa.Column("base_url", text, nullable=False),
        sa.Column("fetched_at", sa.Float(), nullable=False),
        sa.Column("project", text, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_lists")),
    )
    op.create_index(op.f("ix_model_lists_provider_fetched_at"), "model_lists", ["provider", "fetched_at"])
    op.create_table(
        "listed_models",
        sa.Column("list_id", text, nullable=False),
        sa.Column("name", text, nullable=False),
        sa.Column("context_tokens", big, nullable=True),
        *(sa.Column(f"{name}_usd_per_million", text, nullable=True) for name in RATES),
        sa.Column("capabilities", text, nullable=False),
        sa.Column("project", text, nullable=True),
        sa.ForeignKeyConstraint(
            ["list_id"], ["model_lists.id"], name=op.f("fk_listed_models_list_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("list_id", "name", name=op.f("pk_listed_models")),
        **options,
    )
    op.create_index(op.f("ix_listed_models_name"), "listed_models", ["name"])
    if not is_sqlite:
        # Lists that belong to no project are for all to read, and for none of them to change.
        for table in ("model_lists", "listed_models"):
            op.execute(f"CREATE POLICY of_project ON {table} USING ({ASKED} = '*' OR project = {ASKED})")
            op.execute(f"CREATE POLICY for_all ON {table} FOR SELECT USING (project IS NULL)")
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
