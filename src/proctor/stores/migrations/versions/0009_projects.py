"""Projects, users, keys and an audit log; on PostgreSQL row-level security keeps projects apart"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

OWNED = ("runs", "evaluations", "responses", "bodies", "scores", "cache", "submissions")
"""Their rows name the project."""
HANGING = {
    "queue": "EXISTS (SELECT 1 FROM runs WHERE runs.id = run_id)",
    "chunks": "EXISTS (SELECT 1 FROM runs WHERE runs.id = run_id)",
    "events": "EXISTS (SELECT 1 FROM runs WHERE runs.id = run_id)",
    "batches": "EXISTS (SELECT 1 FROM evaluations WHERE evaluations.id = evaluation_id)",
    "batch_trials": "EXISTS (SELECT 1 FROM batches WHERE batches.id = batch_id)",
}
"""Their rows are seen by whoever sees what they hang on."""
# Asked once a query, not once a row. A connection that has said nothing sees nothing.
ASKED = "(SELECT current_setting('proctor.project', true))"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    text = sa.Text() if is_sqlite else sa.Text(collation="C")
    op.create_table(
        "projects",
        sa.Column("name", text, nullable=False),
        sa.Column("created_at", text, nullable=False),
        sa.Column("archived_at", text, nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_projects")),
    )
    for table in OWNED:
        column = sa.Column("project", text, nullable=False, server_default=sa.text("'local'"))
        op.add_column(table, column)
    op.create_index("ix_runs_project_created_at_id", "runs", ["project", "created_at", "id"])
    _make_accounts(text)
    if not is_sqlite:
        _secure_rows()


def _make_accounts(text: sa.Text) -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

    def column(name: str, kind: sa.types.TypeEngine[Any] = text, *, may_lack: bool = False) -> sa.Column[Any]:
        return sa.Column(name, kind, nullable=may_lack)

    def of_user(table: str) -> sa.ForeignKeyConstraint:
        return sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f(f"fk_{table}_user_id"))

    def of_project(table: str) -> sa.ForeignKeyConstraint:
        return sa.ForeignKeyConstraint(["project"], ["projects.name"], name=op.f(f"fk_{table}_project"))

    op.create_table(
        "users",
        column("id"),
        column("name"),
        column("password_hash", may_lack=True),
        column("is_admin", sa.Boolean()),
        column("created_at"),
        column("disabled_at", may_lack=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("name", name=op.f("uq_users_name")),
    )
    op.create_table(
        "members",
        column("project"),
        column("user_id"),
        column("role"),
        column("added_at"),
        of_project("members"),
        of_user("members"),
        sa.PrimaryKeyConstraint("project", "user_id", name=op.f("pk_members")),
    )
    op.create_table(
        "sessions",
        column("hash"),
        column("user_id"),
        *(column(name, sa.Float()) for name in ("created_at", "seen_at", "expires_at")),
        column("address"),
        column("agent"),
        of_user("sessions"),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_sessions")),
    )
    op.create_table(
        "links",
        column("hash"),
        column("user_id"),
        *(column(name, sa.Float()) for name in ("created_at", "expires_at")),
        column("used_at", sa.Float(), may_lack=True),
        of_user("links"),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_links")),
    )
    op.create_table(
        "api_keys",
        *(column(name) for name in ("id", "hash", "name", "project")),
        column("user_id", may_lack=True),
        column("scopes"),
        column("created_at", sa.Float()),
        *(column(name, sa.Float(), may_lack=True) for name in ("expires_at", "last_used_at", "revoked_at")),
        of_project("api_keys"),
        of_user("api_keys"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
    )
    texts = ("at", "who", "what", "object", "project", "address", "outcome", "before", "hash")
    op.create_table(
        "audit",
        sa.Column("number", number, autoincrement=False, nullable=False),
        *(column(name) for name in texts),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit")),
    )
    for table, name in (("sessions", "user_id"), ("links", "user_id"), ("api_keys", "project")):
        op.create_index(f"ix_{table}_{name}", table, [name])


def _secure_rows() -> None:
    rules = dict.fromkeys(OWNED, f"project = {ASKED}") | HANGING
    for table, rule in rules.items():
        op.execute(f"CREATE POLICY of_project ON {table} USING ({ASKED} = '*' OR {rule})")
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    # By itself a partition shows nothing: it is read through the table that it is a part of.
    partitions = op.get_bind().execute(
        sa.text(
            "SELECT inhrelid::regclass::text FROM pg_inherits "
            "WHERE inhparent IN ('responses'::regclass, 'bodies'::regclass, 'scores'::regclass)"
        )
    )
    for (name,) in partitions.all():
        op.execute(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
