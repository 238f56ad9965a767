"""Families of tokens: access tokens for minutes, refresh tokens that are good once"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    op.create_table(
        "token_families",
        *(sa.Column(name, text, nullable=False) for name in ("id", "user_id", "project", "scopes")),
        *(sa.Column(name, sa.Float(), nullable=False) for name in ("created_at", "used_at", "expires_at")),
        *(sa.Column(name, text, nullable=False) for name in ("address", "agent")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_token_families_user_id")),
        sa.ForeignKeyConstraint(["project"], ["projects.name"], name=op.f("fk_token_families_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token_families")),
    )
    op.create_index(op.f("ix_token_families_user_id"), "token_families", ["user_id"])
    op.create_table(
        "refresh_tokens",
        sa.Column("hash", text, nullable=False),
        sa.Column("family_id", text, nullable=False),
        sa.Column("used_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["family_id"], ["token_families.id"], name=op.f("fk_refresh_tokens_family_id")),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_refresh_tokens")),
    )
    op.create_index(op.f("ix_refresh_tokens_family_id"), "refresh_tokens", ["family_id"])


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
