"""The states of messages, programs, answers and rescorings are among those that there are"""

from alembic import op

revision = "0031"
down_revision = "0030"

STATES = {
    "deliveries": ("waiting", "delivered", "failed"),
    "submission_queue": ("queued", "running", "failed"),
    "playground_answers": ("waiting", "streaming", "complete", "failed", "stopped"),
    "rescorings": ("queued", "running", "completed", "failed", "cancelled"),
}


def upgrade() -> None:
    for name, states in STATES.items():
        among = ", ".join(f"'{state}'" for state in states)
        with op.batch_alter_table(name) as table:
            table.create_check_constraint(op.f(f"ck_{name}_state"), f"state IN ({among})")


def downgrade() -> None:
    raise NotImplementedError("Restore the copy that was made before the upgrade.")
