"""Runs as rows: created, leased by the process that executes them, finished."""

from __future__ import annotations

import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct

from proctor.domain.errors import NotFoundError, RunError
from proctor.domain.json_value import storable_json
from proctor.domain.run import RunStatus
from proctor.domain.text import shorten, storable
from proctor.stores.codec import from_pico, to_json, to_pico
from proctor.stores.database import Database, explained
from proctor.version import __version__

if TYPE_CHECKING:
    from proctor.domain.evaluation import Evaluation
    from proctor.domain.plan import Plan

LEASE_SECONDS = 30.0
GROUP_SIZES = "group sizes"
"""The event that says how many samples of each group are planned, by benchmark; of runs that may stop early."""
PROGRESS = "progress"
"""The event that a run leaves every second, with how far it is."""
REVISION = "revision 2"
"""Raised whenever what a summary holds is computed otherwise; kept ones of another revision are computed again."""
IS_KEPT = f"instr(summary, '\"{REVISION}\"') > 0"
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def load_summary(text: str) -> dict[str, Any]:
    """An evaluation's numbers as they were saved."""
    summary: dict[str, Any] = orjson.loads(text)
    del summary["kept"]
    return summary


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
    unanswered_usd: Decimal
    """What may have been spent on requests that have no recorded answer; kept for runs with a cost limit."""

    @property
    def plan(self) -> Plan:
        """What was asked; read when it is needed, because showing a run does not need it."""
        from proctor.domain.plan import Plan

        return Plan.model_validate(orjson.loads(self.plan_text))

    @property
    def has_stop_rule(self) -> bool:
        return orjson.loads(self.plan_text).get("until") is not None


def now_text() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def new_run_id() -> str:
    """Sorts by time, so that the newest run is last and ids made together share no long prefix by accident."""
    moment, text = int(time.time()), ""
    while moment:
        moment, digit = divmod(moment, 32)
        text = ALPHABET[digit] + text
    return text + "".join(secrets.choice(ALPHABET) for _ in range(5))


class RunStore:
    """What a run writes about itself."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _connect(self) -> closing[sqlite3.Connection]:
        connection = self._database.connect()
        connection.row_factory = sqlite3.Row
        return closing(connection)

    def create(self, plan: Plan, evaluations: Sequence[Evaluation], folder: Path, data: Path | None = None) -> str:
        """Write the run and its evaluations in one transaction; gives the run's id."""
        run_id, asked = new_run_id(), plan.model_dump_json()
        kept_data = None if data is None else str(data.absolute())
        with explained(self._database.path), self._connect() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "INSERT INTO runs (id, name, status, plan, folder, data, version, created_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [run_id, plan.name, RunStatus.QUEUED, asked, str(folder), kept_data, __version__, now_text()],
            )
            for position, evaluation in enumerate(evaluations):
                row = _evaluation_row(run_id, position, evaluation)
                marks = ",".join("?" * len(row))
                connection.execute(
                    f"INSERT INTO evaluations ({','.join(row)}) VALUES ({marks})",  # noqa: S608 - our own names
                    list(row.values()),
                )
            connection.execute("COMMIT")
        return run_id

    def evaluation_rows(self, run_id: str) -> list[dict[str, Any]]:
        """A run's evaluations in the plan's order; a summary that must be computed again is None."""
        with explained(self._database.path), self._connect() as connection:
            query = f"SELECT *, {IS_KEPT} AS is_kept FROM evaluations WHERE run_id = ? ORDER BY position"  # noqa: S608 - our own
            rows = [dict(row) for row in connection.execute(query, [run_id])]
        return [row if row.pop("is_kept") else {**row, "summary": None} for row in rows]

    def get(self, reference: str) -> RunRow:
        """The run with this id, this unique prefix, or the newest one for 'latest'."""
        with explained(self._database.path), self._connect() as connection:
            if reference == "latest":
                rows = connection.execute("SELECT * FROM runs ORDER BY created_at DESC, id DESC LIMIT 1").fetchall()
            else:
                rows = connection.execute(
                    "SELECT * FROM runs WHERE id >= ? AND id < ? ORDER BY id LIMIT 3", [reference, reference + "\uffff"]
                ).fetchall()
        exact = [row for row in rows if row["id"] == reference]
        if not rows or not reference:
            raise NotFoundError(
                "There are no runs yet. Start one with 'proctor run'."
                if reference == "latest"
                else f"No run {reference!r}. 'proctor runs' lists them."
            )
        if len(rows) > 1 and not exact:
            some = ", ".join(row["id"] for row in rows[:2])
            raise NotFoundError(f"{reference!r} fits several runs ({some}, …). Give more of the id.")
        return _run_row(exact[0] if exact else rows[0])

    def lease(self, run_id: str) -> None:
        """Claim the run for this process; another live process that has it is an error."""
        owner = _this_process()
        with explained(self._database.path), self._connect() as connection:
            connection.execute("BEGIN IMMEDIATE")
            row = connection.execute("SELECT lease_owner, lease_until FROM runs WHERE id = ?", [run_id]).fetchone()
            if row["lease_owner"] not in (None, owner) and _is_alive(row["lease_owner"], row["lease_until"]):
                connection.execute("ROLLBACK")
                raise RunError(f"Run {run_id} is being executed by another process ({row['lease_owner']}).")
            connection.execute(
                "UPDATE runs SET lease_owner = ?, lease_until = ?, status = ?, error = NULL, finished_at = NULL, "
                "started_at = coalesce(started_at, ?) WHERE id = ?",
                [owner, time.time() + LEASE_SECONDS, RunStatus.RUNNING, now_text(), run_id],
            )
            connection.execute("UPDATE evaluations SET summary = NULL WHERE run_id = ?", [run_id])
            connection.execute("COMMIT")

    def renew(self, run_id: str, seconds: float = 0.0) -> bool:
        """Keep the lease and add the seconds since the last time; False, and neither, when the run was cancelled."""
        with explained(self._database.path), self._connect() as connection:
            cursor = connection.execute(
                "UPDATE runs SET lease_until = ?, seconds = seconds + ? WHERE id = ? AND status = ?",
                [time.time() + LEASE_SECONDS, seconds, run_id, RunStatus.RUNNING],
            )
            return cursor.rowcount > 0

    def request_cancel(self, run_id: str) -> bool:
        """Ask whoever executes the run to stop; False when the run has ended already."""
        with explained(self._database.path), self._connect() as connection:
            cursor = connection.execute(
                "UPDATE runs SET status = ? WHERE id = ? AND status IN (?, ?)",
                [RunStatus.CANCELLED, run_id, RunStatus.QUEUED, RunStatus.RUNNING],
            )
            return cursor.rowcount > 0

    def is_executing(self, run_id: str) -> bool:
        """Whether a live process has the run; a killed one leaves the status as it was."""
        with explained(self._database.path), self._connect() as connection:
            row = connection.execute("SELECT lease_owner, lease_until FROM runs WHERE id = ?", [run_id]).fetchone()
        return row["lease_owner"] is not None and _is_alive(row["lease_owner"], row["lease_until"])

    def executing(self) -> list[str]:
        """The runs that a live process has."""
        query = "SELECT id FROM runs WHERE lease_owner IS NOT NULL"
        with explained(self._database.path), self._connect() as connection:
            ids = [row["id"] for row in connection.execute(query)]
        return [run_id for run_id in ids if self.is_executing(run_id)]

    def use_scorers(self, evaluation_id: int, versions: Mapping[str, str]) -> None:
        """Name the scorer versions in force; scores of others are kept."""
        with explained(self._database.path), self._connect() as connection:
            connection.execute("UPDATE evaluations SET scorers = ? WHERE id = ?", [to_json(versions), evaluation_id])

    def finish(self, run_id: str, status: RunStatus, seconds: float, error: str | None = None) -> None:
        """Close the run and give the lease back; `seconds` adds to what was noted before."""
        with explained(self._database.path), self._connect() as connection:
            connection.execute(
                "UPDATE runs SET status = ?, error = ?, finished_at = ?, seconds = seconds + ?, "
                "lease_owner = NULL, lease_until = NULL WHERE id = ?",
                [status, None if error is None else storable(shorten(error)), now_text(), seconds, run_id],
            )

    def save_summary(self, evaluation_id: int, summary: dict[str, Any] | None) -> None:
        text = None if summary is None else to_json({"kept": REVISION, **summary})
        with explained(self._database.path), self._connect() as connection:
            connection.execute("UPDATE evaluations SET summary = ? WHERE id = ?", [text, evaluation_id])

    def spent_usd(self, run_id: str) -> Decimal:
        """What the run's own requests have cost so far, every attempt counted; cached answers cost nothing."""
        with explained(self._database.path), self._connect() as connection:
            row = connection.execute(
                "SELECT sum(cost_pico_usd) FROM responses JOIN evaluations ON evaluations.id = evaluation_id "
                "WHERE run_id = ? AND NOT is_cached",
                [run_id],
            ).fetchone()
        return from_pico(row[0]) or Decimal(0)

    def keep_unanswered(self, run_id: str, amount_usd: Decimal) -> None:
        """Write down what may be spent without an answer; when it returns, a crash cannot make that forgotten."""
        with explained(self._database.path), self._connect() as connection:
            connection.execute("UPDATE runs SET unanswered_pico_usd = ? WHERE id = ?", [to_pico(amount_usd), run_id])

    def add_event(self, run_id: str, kind: str, data: dict[str, Any]) -> None:
        with explained(self._database.path), self._connect() as connection:
            connection.execute(
                "INSERT INTO events (run_id, at, kind, data) VALUES (?, ?, ?, ?)",
                [run_id, now_text(), kind, to_json(storable_json(data))],
            )

    def last_event(self, run_id: str, kind: str) -> dict[str, Any] | None:
        """What the run's latest event of this kind says; None where there was none."""
        query = "SELECT data FROM events WHERE run_id = ? AND kind = ? ORDER BY id DESC LIMIT 1"
        with explained(self._database.path), self._connect() as connection:
            row = connection.execute(query, [run_id, kind]).fetchone()
        found: dict[str, Any] | None = None if row is None else orjson.loads(row["data"])
        return found


def _evaluation_row(run_id: str, position: int, evaluation: Evaluation) -> dict[str, Any]:
    benchmark = evaluation.benchmark
    return {
        "run_id": run_id,
        "position": position,
        "model": evaluation.label,
        "model_spec": evaluation.model_spec.model_dump_json(),
        "benchmark": benchmark.name,
        "benchmark_spec": evaluation.benchmark_spec.model_dump_json(),
        "version": benchmark.version,
        "digest": evaluation.benchmark_identity,
        "samples": evaluation.fingerprint.count,
        "epochs": evaluation.epochs,
        "options": to_json(evaluation.options),
        "scorers": to_json({scorer.name: scorer.version for scorer in evaluation.scorers}),
        "metrics": to_json(benchmark.metrics),
        "tags": to_json(benchmark.tags),
    }


def _run_row(row: sqlite3.Row) -> RunRow:
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
        unanswered_usd=from_pico(row["unanswered_pico_usd"]) or Decimal(0),
    )


def _this_process() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _is_alive(owner: str, until: float) -> bool:
    """A process of this machine is asked; one of another machine is believed until its lease runs out."""
    host, _, pid = owner.rpartition(":")
    if host != socket.gethostname():
        return until > time.time()
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return until > time.time()
    return until > time.time()
