"""Who users are at identity providers"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    op.create_table(
        "identities",
        *(sa.Column(name, text, nullable=False) for name in ("issuer", "subject", "user_id", "created_at")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_identities_user_id")),
        sa.PrimaryKeyConstraint("issuer", "subject", name=op.f("pk_identities")),
        sa.UniqueConstraint("issuer", "user_id", name=op.f("uq_identities_issuer_user_id")),
    )


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
