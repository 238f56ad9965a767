"""Own benchmarks, waiting programs and files of asks say how large they are"""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    for table in ("own_benchmarks", "submission_queue", "playground_files"):
        op.add_column(table, sa.Column("size_bytes", number, nullable=False, server_default=sa.text("0")))
    # Four letters of base64 are three bytes, and one less for each '=' at the end. How large the others are only their
    # artifacts say: they count as nothing until they are sent again.
    op.execute(
        "UPDATE playground_files SET size_bytes = length(content) / 4 * 3 - (length(content) - length(rtrim(content, '=')))"
    )


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
