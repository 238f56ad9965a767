"""Runs as rows: created, leased by the process that executes them, finished."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct

from proctor.domain.errors import NotFoundError, RunError
from proctor.domain.run import RunStatus
from proctor.domain.scope import LOCAL
from proctor.domain.text import shorten, storable
from proctor.stores.codec import from_pico, to_json, to_pico
from proctor.stores.connection import Row
from proctor.stores.database import Database
from proctor.stores.events import add_event
from proctor.stores.leases import LEASE_SECONDS, Lease, LeaseLostError, is_alive, owner_text, this_process
from proctor.stores.moments import month_of, now_text
from proctor.stores.new_runs import insert_evaluations, insert_run, new_run_id
from proctor.stores.scoping import of_run, scope_filter

if TYPE_CHECKING:
    from proctor.domain.evaluation import Evaluation
    from proctor.domain.plan import Plan

GROUP_SIZES = "group sizes"
"""The event that says how many samples of each group are planned, by benchmark; of runs that may stop early."""
RANDOM_ORDER = "random order"
"""The event that names the benchmarks whose samples are asked in an order that has nothing to do with their scores."""
PROGRESS = "progress"
"""The event that a run leaves every second, with how far it is."""
REVISION = "revision 2"
"""Raised whenever what a summary holds is computed otherwise; kept ones of another revision are computed again."""


class RunRow(Struct, frozen=True):
    id: str
    name: str | None
    status: RunStatus
    plan_text: str
    folder: Path
    data: Path | None
    """The folder that benchmark data was taken from instead of the hub."""
    error: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    seconds: float
    fence: int
    """Which execution was the latest."""
    raw_data: str | None
    """The artifact with every response; kept where months of responses can be dropped."""
    unanswered_usd: Decimal
    """What may have been spent on requests that have no recorded answer; kept for runs with a cost limit."""
    project: str = LOCAL
    plan_id: str | None = None
    """The saved plan that it was made from."""

    @property
    def plan(self) -> Plan:
        """What was asked; read when it is needed, because showing a run does not need it."""
        from proctor.domain.plan import Plan

        return Plan.model_validate(orjson.loads(self.plan_text))

    @property
    def month(self) -> int:
        """What its answers are stored under."""
        return month_of(self.created_at)

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(orjson.loads(self.plan_text).get("tags", ()))

    @property
    def has_stop_rule(self) -> bool:
        return orjson.loads(self.plan_text).get("until") is not None


class RunStore:
    """What a run writes about itself."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, plan: Plan, evaluations: Sequence[Evaluation], folder: Path, data: Path | None = None) -> str:
        """Write the run and its evaluations in one transaction; gives the run's id."""
        run_id, now = new_run_id(), datetime.now(UTC)
        with self._database.connection() as connection, connection.transaction():
            self._database.prepare_month(connection, month_of(now))
            insert_run(connection, run_id, plan, folder, data, now, self._database.scope.owner)
            insert_evaluations(connection, run_id, evaluations, now)
        return run_id

    def evaluation_rows(self, run_id: str) -> list[dict[str, Any]]:
        """A run's evaluations in the plan's order; a summary that must be computed again is None."""
        with self._database.connection() as connection:
            scope = scope_filter(self._database, "evaluations")
            query = f"SELECT * FROM evaluations WHERE run_id = ?{scope.sql} ORDER BY position"  # noqa: S608 - our own
            rows = [dict(row) for row in connection.execute(query, [run_id, *scope.values])]
        return [row if row["summary_revision"] == REVISION else {**row, "summary": None} for row in rows]

    def get(self, reference: str) -> RunRow:
        """The run with this id, this unique prefix, or the newest one for 'latest'."""
        scope = scope_filter(self._database)
        if reference == "latest":
            which, values = f"WHERE true{scope.sql} ORDER BY created_at DESC, id DESC LIMIT 1", []
        else:
            which = f"WHERE id >= ? AND id < ?{scope.sql} ORDER BY id LIMIT 3"
            values = [reference, reference + "\uffff"]
        with self._database.connection() as connection:
            rows = connection.execute(f"SELECT * FROM runs {which}", [*values, *scope.values]).fetchall()  # noqa: S608
        exact = [row for row in rows if row["id"] == reference]
        if not rows or not reference:
            raise (
                NotFoundError("There are no runs yet. Start one with 'proctor run'.")
                if reference == "latest"
                else _no_run(reference)
            )
        if len(rows) > 1 and not exact:
            some = ", ".join(row["id"] for row in rows[:2])
            raise NotFoundError(f"{reference!r} fits several runs ({some}, …). Give more of the id.")
        return _run_row(exact[0] if exact else rows[0])

    def lease(self, run_id: str) -> Lease:
        """Claim the run for this process; another live process that has it is an error."""
        owner, sql, scope = this_process(), self._database.dialect, scope_filter(self._database)
        with self._database.connection() as connection, connection.transaction():
            row = connection.execute(
                f"SELECT lease_owner, lease_until > {sql.now} AS is_current, fence, created_at FROM runs "  # noqa: S608
                f"WHERE id = ?{scope.sql} {sql.for_update}",
                [run_id, *scope.values],
            ).fetchone()
            if row is None:
                raise _no_run(run_id)
            if row["lease_owner"] not in (None, owner) and is_alive(
                row["lease_owner"], is_current=bool(row["is_current"])
            ):
                raise RunError(f"Run {run_id} is being executed by another process ({owner_text(row['lease_owner'])}).")
            # Its month may have been dropped since.
            self._database.prepare_month(connection, month_of(datetime.fromisoformat(row["created_at"])))
            connection.execute(
                f"UPDATE runs SET fence = fence + 1, lease_owner = ?, lease_until = {sql.now} + ?, status = ?, "  # noqa: S608
                "error = NULL, finished_at = NULL, started_at = coalesce(started_at, ?) WHERE id = ?",
                [owner, LEASE_SECONDS, RunStatus.RUNNING, now_text(), run_id],
            )
            connection.execute(
                "UPDATE evaluations SET summary = NULL, summary_revision = NULL WHERE run_id = ?", [run_id]
            )
        return Lease(run_id, row["fence"] + 1)

    def renew(
        self, lease: Lease, seconds: float = 0.0, progress: float = 0.0, snapshot: dict[str, Any] | None = None
    ) -> bool:
        """Keep the lease, add the seconds since the last time and note the progress; False when the run was cancelled.

        Raises LeaseLostError when another process has the run.
        """
        with self._database.connection() as connection, connection.transaction(is_short=True):
            lease.check(connection, self._database.dialect)
            row = connection.execute(
                f"UPDATE runs SET lease_until = {self._database.dialect.now} + ?, seconds = seconds + ?, progress = ? "  # noqa: S608
                "WHERE id = ? RETURNING status",
                [LEASE_SECONDS, seconds, progress, lease.run_id],
            ).fetchone()
            if snapshot is not None:
                add_event(connection, lease.run_id, PROGRESS, snapshot)
        return bool(row["status"] == RunStatus.RUNNING)

    def request_cancel(self, run_id: str) -> bool:
        """Ask whoever executes the run to stop; False when the run has ended already."""
        scope = scope_filter(self._database)
        with self._database.connection() as connection:
            cursor = connection.execute(
                f"UPDATE runs SET status = ? WHERE id = ? AND status IN (?, ?){scope.sql}",  # noqa: S608 - our own
                [RunStatus.CANCELLED, run_id, RunStatus.QUEUED, RunStatus.RUNNING, *scope.values],
            )
            return cursor.rowcount > 0

    def is_executing(self, run_id: str) -> bool:
        """Whether a live process has the run; a killed one leaves the status as it was."""
        return bool(self._executing("id = ?", run_id))

    def executing(self) -> list[str]:
        """The runs that a live process has."""
        return self._executing("1 = 1")

    def _executing(self, which: str, *values: str) -> list[str]:
        scope = scope_filter(self._database)
        query = (
            f"SELECT id, lease_owner, lease_until > {self._database.dialect.now} AS is_current FROM runs "  # noqa: S608
            f"WHERE {which} AND lease_owner IS NOT NULL{scope.sql}"
        )
        # Workers take up again what others of them leave behind.
        queued = (
            "SELECT run_id FROM queue JOIN runs ON runs.id = run_id WHERE queue.finished_at IS NULL "  # noqa: S608
            f"AND {which.replace('id =', 'runs.id =')}{scope.sql}"
        )
        with self._database.connection() as connection:
            rows = connection.execute(query, [*values, *scope.values]).fetchall()
            of_workers = [row[0] for row in connection.execute(queued, [*values, *scope.values])]
        alive = [row["id"] for row in rows if is_alive(row["lease_owner"], is_current=bool(row["is_current"]))]
        return alive + of_workers

    def use_scorers(self, lease: Lease, versions: Mapping[int, Mapping[str, str]]) -> None:
        """Name the scorer versions in force, by evaluation; scores of others are kept."""
        with self._database.connection() as connection, connection.transaction(is_short=True):
            lease.check(connection, self._database.dialect)
            for evaluation_id, named in versions.items():
                connection.execute(
                    "UPDATE evaluations SET scorers = ? WHERE id = ? AND run_id = ?",
                    [to_json(named), evaluation_id, lease.run_id],
                )

    def finish(self, lease: Lease, status: RunStatus, seconds: float, error: str | None = None) -> None:
        """Close the run and give the lease back; `seconds` adds to what was noted before."""
        with self._database.connection() as connection:
            changed = connection.execute(
                "UPDATE runs SET status = ?, error = ?, finished_at = ?, seconds = seconds + ?, "
                "progress = CASE WHEN ? THEN 1.0 ELSE progress END, lease_owner = NULL, lease_until = NULL "
                "WHERE id = ? AND fence = ? AND lease_owner IS NOT NULL",
                [
                    status,
                    None if error is None else storable(shorten(error)),
                    now_text(),
                    seconds,
                    status is RunStatus.COMPLETED,
                    lease.run_id,
                    lease.fence,
                ],
            )
            if changed.rowcount == 0:  # it was written before, and only the answer was lost; or it is another's by now
                lease.check(connection, self._database.dialect)

    def keep_raw_data(self, lease: Lease, key: str) -> None:
        """Note the artifact with every response; not where another process has the run by now."""
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE runs SET raw_data = ? WHERE id = ? AND fence = ?", [key, lease.run_id, lease.fence]
            )

    def without_summary(self, limit: int) -> list[str]:
        """Runs that have ended and whose figures are not kept, the newest first."""
        scope = scope_filter(self._database)
        query = (
            "SELECT id FROM runs WHERE status IN ('completed', 'failed', 'cancelled') AND EXISTS (SELECT 1 "  # noqa: S608
            "FROM evaluations WHERE run_id = runs.id AND (summary IS NULL OR summary_revision <> ?)) "
            f"{scope.sql} ORDER BY created_at DESC LIMIT ?"
        )
        with self._database.connection() as connection:
            return [row[0] for row in connection.execute(query, [REVISION, *scope.values, limit])]

    def has_figures(self, run_id: str) -> bool:
        """Whether those of all its evaluations are kept."""
        run = of_run(self._database, run_id)
        query = f"SELECT 1 FROM evaluations WHERE {run.sql} AND (summary IS NULL OR summary_revision <> ?) LIMIT 1"  # noqa: S608
        with self._database.connection() as connection:
            return connection.execute(query, [*run.values, REVISION]).fetchone() is None

    def save_summary(self, run: RunRow, evaluation: Mapping[str, Any], summary: dict[str, Any]) -> None:
        """Keep an evaluation's figures, unless the run was resumed or scored again since they were computed from it."""
        scope = scope_filter(self._database)
        values = [to_json(summary), REVISION, evaluation["id"], evaluation["scorers"], run.fence, run.status]
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE evaluations SET summary = ?, summary_revision = ? WHERE id = ? AND scorers = ? "  # noqa: S608
                f"AND EXISTS (SELECT 1 FROM runs WHERE runs.id = run_id AND fence = ? AND status = ?{scope.sql})",
                [*values, *scope.values],
            )

    def spent_usd(self, run_id: str) -> Decimal:
        """What the run's own requests have cost so far, every attempt counted; cached answers cost nothing."""
        scope = scope_filter(self._database, "evaluations")
        with self._database.connection() as connection:
            row = connection.execute(
                "SELECT sum(cost_pico_usd) FROM responses JOIN evaluations ON evaluations.id = evaluation_id "  # noqa: S608
                f"AND responses.month = evaluations.month WHERE run_id = ? AND NOT is_cached{scope.sql}",
                [run_id, *scope.values],
            ).fetchone()
        return from_pico(row[0]) or Decimal(0)

    def keep_unanswered(self, lease: Lease, amount_usd: Decimal) -> None:
        """Write down what may be spent without an answer; when it returns, a crash cannot make that forgotten."""
        with self._database.connection() as connection:
            changed = connection.execute(
                "UPDATE runs SET unanswered_pico_usd = ? WHERE id = ? AND fence = ?",
                [to_pico(amount_usd), lease.run_id, lease.fence],
            )
        if changed.rowcount == 0:
            raise LeaseLostError(lease.run_id)

    def add_event(self, run_id: str, kind: str, data: Mapping[str, Any]) -> None:
        with self._database.connection() as connection, connection.transaction(is_short=True):
            add_event(connection, run_id, kind, data, self._database.scope)

    def last_event(self, run_id: str, kind: str) -> dict[str, Any] | None:
        """What the run's latest event of this kind says; None where there was none."""
        mine = of_run(self._database, run_id)
        query = f"SELECT data FROM events WHERE {mine.sql} AND kind = ? ORDER BY number DESC LIMIT 1"  # noqa: S608
        with self._database.connection() as connection:
            row = connection.execute(query, [*mine.values, kind]).fetchone()
        found: dict[str, Any] | None = None if row is None else orjson.loads(row["data"])
        return found


def _no_run(reference: str) -> NotFoundError:
    return NotFoundError(f"No run {reference!r}. 'proctor runs' lists them.")


def _run_row(row: Row) -> RunRow:
    def moment(text: str | None) -> datetime | None:
        return None if text is None else datetime.fromisoformat(text)

    return RunRow(
        id=row["id"],
        name=row["name"],
        status=RunStatus(row["status"]),
        plan_text=row["plan"],
        folder=Path(row["folder"]),
        data=None if row["data"] is None else Path(row["data"]),
        error=row["error"],
        created_at=datetime.fromisoformat(row["created_at"]),
        started_at=moment(row["started_at"]),
        finished_at=moment(row["finished_at"]),
        seconds=row["seconds"],
        fence=row["fence"],
        raw_data=row["raw_data"],
        unanswered_usd=from_pico(row["unanswered_pico_usd"]) or Decimal(0),
        project=row["project"],
        plan_id=row["plan_id"],
    )
