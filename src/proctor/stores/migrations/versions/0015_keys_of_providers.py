"""Keys of providers that projects have, sealed, each for one address"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

ASKED = "(SELECT current_setting('proctor.project', true))"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    op.create_table(
        "provider_keys",
        sa.Column("id", text, nullable=False),
        sa.Column("project", text, nullable=False, server_default=sa.text("'local'")),
        sa.Column("provider", text, nullable=False),
        sa.Column("origin", text, nullable=False),
        sa.Column("base_url", text, nullable=False),
        sa.Column("sealed", text, nullable=True),
        sa.Column("author", text, nullable=False),
        sa.Column("created_at", text, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_provider_keys")),
        sa.UniqueConstraint("project", "provider", "origin", name=op.f("uq_provider_keys_project_provider_origin")),
    )
    if not is_sqlite:
        op.execute(f"CREATE POLICY of_project ON provider_keys USING ({ASKED} = '*' OR project = {ASKED})")
        op.execute("ALTER TABLE provider_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
