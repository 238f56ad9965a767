"""Programs that people hand in are kept with their scorecards, and ranked"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "submissions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("problem_digest", sa.Text(), nullable=False),
        sa.Column("problem_folder", sa.Text(), nullable=True),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
    )
    op.create_index("ix_submissions_problem", "submissions", ["problem"])


def downgrade() -> None:
    op.drop_index("ix_submissions_problem", table_name="submissions")
    op.drop_table("submissions")
