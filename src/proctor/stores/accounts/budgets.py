"""Budgets of projects, users and keys, and what their runs reserve of them in the transaction that accepts a run.

What a run may spend is reserved whole when it is accepted, and what it has not spent is given back when it has ended.
So the sum of what is spent and of what may be spent never passes a budget, however many runs come at once.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from proctor.domain.errors import BudgetError, LimitReachedError
from proctor.stores.codec import ceil_pico, from_pico
from proctor.stores.connection import POSTGRESQL, Connection, Row, SqlDialect
from proctor.stores.database import Database
from proctor.stores.moments import now_text
from proctor.stores.runs import RunStore
from proctor.stores.scores import ScoreStore

Kind = Literal["project", "user", "key"]
Period = Literal["day", "month", "total"]
KINDS: tuple[Kind, ...] = ("project", "user", "key")
PERIODS: tuple[Period, ...] = ("day", "month", "total")
LOCK = 0x62756467657400
"""The advisory lock of whoever reserves."""
AGAIN_SECONDS = 5.0
ANSWERED_SECONDS = 60.0
"""An ask whose answers nobody has been heard of for so long was lost with its process."""


class Spender(Struct, frozen=True):
    """Who has a run made: his project, and his user and his key where there are any."""

    project: str
    user_id: str | None = None
    key_id: str | None = None

    def of(self, kind: Kind) -> str | None:
        return {"project": self.project, "user": self.user_id, "key": self.key_id}[kind]


class BudgetRow(Struct, frozen=True):
    kind: Kind
    subject: str
    """A project's name, a user's or a key's id."""
    cost_usd: Decimal | None
    period: Period
    runs_at_once: int | None
    set_by: str
    set_at: str
    storage_bytes: int | None = None
    """Of what was sent to a project: files, benchmarks, programs; see `stores.stored_bytes`."""


class BudgetUse(Struct, frozen=True):
    """What is spent in the current period, or may yet be by runs that have not ended; and how many those are."""

    spent_usd: Decimal
    runs: int
    until: str | None
    """When the period ends; None for one that does not."""


class BudgetStore:
    """Of the whole server: a user's runs are in several projects."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, row: BudgetRow) -> None:
        cost = None if row.cost_usd is None else ceil_pico(row.cost_usd)
        with self._database.connection() as connection, connection.transaction():
            connection.execute("DELETE FROM budgets WHERE kind = ? AND subject = ?", [row.kind, row.subject])
            connection.execute(
                "INSERT INTO budgets (kind, subject, cost_pico_usd, period, runs_at_once, set_by, set_at, "
                "storage_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [row.kind, row.subject, cost, row.period, row.runs_at_once, row.set_by, now_text(), row.storage_bytes],
            )  # fmt: skip

    def remove(self, kind: Kind, subject: str) -> bool:
        with self._database.connection() as connection:
            query = "DELETE FROM budgets WHERE kind = ? AND subject = ?"
            return connection.execute(query, [kind, subject]).rowcount > 0

    def move_key(self, old_id: str, new_id: str) -> None:
        """What holds for a key, and what it has spent, is the other one's from now on."""
        with self._database.connection() as connection, connection.transaction():
            connection.execute("UPDATE budgets SET subject = ? WHERE kind = 'key' AND subject = ?", [new_id, old_id])
            connection.execute("UPDATE reservations SET key_id = ? WHERE key_id = ?", [new_id, old_id])

    def all(self) -> list[BudgetRow]:
        with self._database.connection() as connection:
            rows = connection.execute("SELECT * FROM budgets ORDER BY kind, subject").fetchall()
        return [_budget(row) for row in rows]

    def of(self, spender: Spender) -> list[BudgetRow]:
        """Those that hold for him."""
        with self._database.connection() as connection:
            return _budgets_of(connection, spender)

    def use(self, budget: BudgetRow) -> BudgetUse:
        with self._database.connection() as connection:
            return _use(connection, budget)

    def settle(self) -> None:
        """Give back what runs that have ended have not spent; of one that was deleted, all counts as spent.

        An ask is left to whoever answers it, as long as he is heard of; a rescoring to whoever ends it.
        """
        query = (
            "SELECT reservations.run_id, queue.run_id AS queued, queue.finished_at FROM reservations "  # noqa: S608 - ours
            "LEFT JOIN queue ON queue.run_id = reservations.run_id WHERE NOT is_settled AND NOT EXISTS "
            "(SELECT 1 FROM playground_answers WHERE playground_answers.ask_id = reservations.run_id "
            f"AND state IN ('waiting', 'streaming') AND beat_at > {self._database.dialect.now} - {ANSWERED_SECONDS}) "
            "AND NOT EXISTS (SELECT 1 FROM rescorings WHERE rescorings.id = reservations.run_id AND ended_at IS NULL)"
        )
        with self._database.connection() as connection:
            rows = [(row[0], row[1], row[2]) for row in connection.execute(query).fetchall()]
        for run_id, queued, finished_at in rows:
            if queued is None:
                self._settle(run_id, None)
            elif finished_at is not None:
                runs = RunStore(self._database)
                spent = runs.spent_usd(run_id) + ScoreStore(self._database).spent_on_judges(run_id)
                self._settle(run_id, ceil_pico(spent + runs.get(run_id).unanswered_usd))

    def reserve(self, spender: Spender, work_id: str, cap_usd: Decimal | None) -> None:
        """For work that is neither a run nor an ask; raises what is exhausted, until when.

        Until it is settled, and if its process is lost, all of it counts as spent.
        """
        with self._database.connection() as connection, connection.transaction():
            reserve_budget(connection, self._database.dialect, spender, work_id, cap_usd)

    def settle_work(self, work_id: str, spent_usd: Decimal) -> None:
        """It has ended, an ask's answers all of them: of what was reserved for it, so much was spent."""
        self._settle(work_id, ceil_pico(spent_usd))

    def _settle(self, run_id: str, spent: int | None) -> None:
        """Not where the run was taken up again meanwhile."""
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE reservations SET is_settled = ?, reserved_pico_usd = coalesce(?, reserved_pico_usd) "
                "WHERE run_id = ? AND NOT EXISTS "
                "(SELECT 1 FROM queue WHERE queue.run_id = reservations.run_id AND finished_at IS NULL)",
                [True, spent, run_id],
            )


def reserve_budget(
    connection: Connection, sql: SqlDialect, spender: Spender, run_id: str, cap_usd: Decimal | None
) -> None:
    """Within the transaction that writes a run or takes it up again; raises what is exhausted, until when."""
    budgets = _budgets_of(connection, spender)
    if budgets and sql is POSTGRESQL:
        connection.execute("SELECT pg_advisory_xact_lock(?)", [LOCK])
    connection.execute("DELETE FROM reservations WHERE run_id = ?", [run_id])
    for budget in budgets:
        _refuse_exceeding(budget, _use(connection, budget), cap_usd)
    connection.execute(
        "INSERT INTO reservations (run_id, project, user_id, key_id, reserved_pico_usd, is_settled, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [run_id, spender.project, spender.user_id, spender.key_id, 0 if cap_usd is None else ceil_pico(cap_usd), False,
         datetime.now(UTC).timestamp()],
    )  # fmt: skip


def settle_reservation(connection: Connection, work_id: str, spent_usd: Decimal | None) -> None:
    """Within the transaction that ends the work: so much of it was spent, or all of it where nobody knows."""
    connection.execute(
        "UPDATE reservations SET is_settled = ?, reserved_pico_usd = coalesce(?, reserved_pico_usd) WHERE run_id = ?",
        [True, None if spent_usd is None else ceil_pico(spent_usd), work_id],
    )


def spender_of(connection: Connection, run_id: str) -> Spender | None:
    """Who has had the run made; None for one that the command line made."""
    query = "SELECT project, user_id, key_id FROM reservations WHERE run_id = ?"
    row = connection.execute(query, [run_id]).fetchone()
    return None if row is None else Spender(row[0], row[1], row[2])


def _refuse_exceeding(budget: BudgetRow, use: BudgetUse, cap_usd: Decimal | None) -> None:
    owner = "You" if budget.kind == "user" else f"The {budget.kind} {budget.subject}"
    has = "has" if budget.kind != "user" else "have"
    if budget.runs_at_once is not None and use.runs >= budget.runs_at_once:
        count = f"{use.runs} run{'' if use.runs == 1 else 's'}"
        raise LimitReachedError(
            f"{owner} {has} {count} that did not end yet, and may have {budget.runs_at_once} at once: wait for one, "
            "or cancel it.",
            AGAIN_SECONDS,
        )
    if budget.cost_usd is None:
        return
    left = max(Decimal(0), budget.cost_usd - use.spent_usd)
    when = "" if use.until is None else f" until {use.until}"
    said = (
        f"{owner} {has} ${money(left)} left{when}, of ${money(budget.cost_usd)}; ${money(use.spent_usd)} is spent "
        "or reserved by runs that did not end"
    )
    if cap_usd is None:
        raise BudgetError(
            f"{said}. A run needs a cost limit of no more than that: limits: {{cost_usd: …}}; an ask of the playground "
            "and scoring again with a judge need cost_usd."
        )
    if cap_usd > left:
        raise BudgetError(f"{said}. This run could cost ${money(cap_usd)}: lower limits.cost_usd, or wait.")


def money(amount: Decimal) -> str:
    """Dollars as people write them: 50.00, and no more places than are needed."""
    text = f"{amount:.6f}".rstrip("0")
    whole, _, part = text.partition(".")
    return f"{whole}.{part.ljust(2, '0')}"


def _budgets_of(connection: Connection, spender: Spender) -> list[BudgetRow]:
    found = []
    for kind in KINDS:
        subject = spender.of(kind)
        if subject is not None:
            query = "SELECT * FROM budgets WHERE kind = ? AND subject = ?"
            found += [_budget(row) for row in connection.execute(query, [kind, subject]).fetchall()]
    return found


def _use(connection: Connection, budget: BudgetRow) -> BudgetUse:
    column = {"project": "project", "user": "user_id", "key": "key_id"}[budget.kind]
    begin, end = _span(budget.period, datetime.now(UTC))
    row = connection.execute(
        "SELECT coalesce(sum(reserved_pico_usd), 0), "  # noqa: S608 - our own words
        f"coalesce(sum(CASE WHEN is_settled THEN 0 ELSE 1 END), 0) FROM reservations WHERE {column} = ? "
        "AND (created_at >= ? OR NOT is_settled)",
        [budget.subject, begin.timestamp()],
    ).fetchone()
    until = None if end is None else end.isoformat(timespec="seconds")
    return BudgetUse(from_pico(int(row[0])) or Decimal(0), int(row[1]), until)


def _span(period: Period, now: datetime) -> tuple[datetime, datetime | None]:
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "day":
        return day, day + timedelta(days=1)
    if period == "month":
        first = day.replace(day=1)
        return first, (first + timedelta(days=32)).replace(day=1)
    return datetime.fromtimestamp(0, UTC), None


def _budget(row: Row) -> BudgetRow:
    return BudgetRow(
        row["kind"], row["subject"], from_pico(row["cost_pico_usd"]), row["period"], row["runs_at_once"],
        row["set_by"], row["set_at"],
        row["storage_bytes"],
    )  # fmt: skip
