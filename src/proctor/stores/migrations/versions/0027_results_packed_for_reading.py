"""Results of finished evaluations are packed, so that many are read quickly"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"

ASKED = "(SELECT current_setting('proctor.project', true))"
MINE = "EXISTS (SELECT 1 FROM evaluations WHERE evaluations.id = evaluation_id)"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    without_rowid = {"sqlite_with_rowid": False} if is_sqlite else {}

    def create(name: str, keys: list[sa.Column[Any]], *rest: sa.Column[Any] | sa.Constraint, **options: bool) -> None:
        evaluation = sa.Column("evaluation_id", key, autoincrement=False, nullable=False)
        names = [evaluation.name, *(column.name for column in keys)]
        op.create_table(
            name,
            evaluation,
            *keys,
            *rest,
            sa.ForeignKeyConstraint(
                ["evaluation_id"], ["evaluations.id"], name=op.f(f"fk_{name}_evaluation_id"), ondelete="CASCADE"
            ),
            sa.PrimaryKeyConstraint(*names, name=op.f(f"pk_{name}")),
            **options,
        )
        if not is_sqlite:
            op.execute(f"CREATE POLICY of_project ON {name} USING ({ASKED} = '*' OR {MINE})")
            op.execute(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")

    def number(name: str, kind: type[sa.Integer] = sa.Integer) -> sa.Column[Any]:
        return sa.Column(name, kind(), autoincrement=False, nullable=False)

    create(
        "packings",
        [sa.Column("kind", text, nullable=False)],
        number("generation", sa.BigInteger),
        sa.Column("revision", text, nullable=False),
        number("fence", sa.BigInteger),
        sa.Column("scorers", text, nullable=False),
        number("results", sa.BigInteger),
        sa.Column("detail", text, nullable=False),
        sa.Column("is_complete", sa.Boolean(), nullable=False),
        sa.Column("claimed_until", sa.Float(), nullable=False),
        sa.CheckConstraint("kind IN ('columns', 'words')", name=op.f("ck_packings_kind")),
        **without_rowid,
    )
    create(
        "packed_columns",
        [number("generation", sa.BigInteger), number("segment"), sa.Column("name", text, nullable=False)],
        sa.Column("data", sa.LargeBinary(), nullable=False),
    )
    create(
        "packed_words",
        [
            number("generation", sa.BigInteger),
            number("segment"),
            number("field"),
            sa.Column("word", text, nullable=False),
            number("part"),
        ],
        sa.Column("places", sa.LargeBinary(), nullable=False),
        **without_rowid,
    )


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
