"""Addresses that are told how runs ended, and every message to one: kept until it was delivered or given up."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.errors import NotFoundError, UserError
from proctor.domain.text import shorten, storable
from proctor.stores.connection import Row
from proctor.stores.database import Database
from proctor.stores.feed import last_position, number_events
from proctor.stores.saved_plans import new_ordered_id
from proctor.stores.scoping import scope_filter
from proctor.stores.statements import places

PREFIX, DELIVERY_PREFIX = "w-", "d-"
MAX_WEBHOOKS = 20
"""Of one project."""
ANNOUNCED_AT_A_TIME = 200
EVENTS = {"finished": "run.finished", "failed": "run.failed", "cancelled": "run.cancelled"}
"""What happens to a run, and what a message about it is called."""
LEASE_SECONDS = 60.0
"""A delivery whose process is lost is tried again after this."""
_HOOK = "id, project, url, events, sealed, former, former_until, position, author, created_at"
_DELIVERY = (
    "id, webhook_id, project, run_id, event, body, state, attempts, next_at, created_at, ended_at, status, answer, "
    "error"
)
_IN_TURN = """
SELECT id FROM (
    SELECT id, next_at, row_number() OVER (PARTITION BY project ORDER BY turn, next_at, id) AS place
    FROM (
        SELECT id, project, next_at, row_number() OVER (PARTITION BY webhook_id ORDER BY next_at, id) AS turn
        FROM deliveries WHERE state = 'waiting' AND next_at <= ?
    ) AS of_webhooks
) AS of_projects
ORDER BY place, next_at, id LIMIT ?
"""
"""The next deliveries: the first of each project before the second of any."""


class WebhookRow(Struct, frozen=True):
    id: str
    project: str
    url: str
    events: tuple[str, ...]
    sealed: str
    """The secret."""
    former: str | None
    """The one before, with which messages are signed as well for a while."""
    former_until: float
    position: int
    """The place of the last event that was announced."""
    author: str
    created_at: float


class DeliveryRow(Struct, frozen=True):
    id: str
    webhook_id: str
    project: str
    run_id: str
    event: str
    body: str
    state: str
    """waiting, delivered or failed."""
    attempts: int
    next_at: float
    created_at: float
    ended_at: float | None
    status: int | None
    """Of the last answer."""
    answer: str | None
    error: str | None


class WebhookStore:
    """Another project's raise NotFoundError, as what there is not."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, url: str, events: Sequence[str], author: str, seal: Any) -> WebhookRow:
        """`seal` gives the sealed secret for the id that the webhook gets; only what happens from now on is told."""
        number_events(self._database)
        now, webhook_id, owner = time.time(), new_ordered_id(PREFIX), self._database.scope.owner
        row = WebhookRow(
            webhook_id,
            owner,
            url,
            tuple(events),
            seal(webhook_id),
            None,
            0.0,
            last_position(self._database),
            author,
            now,
        )
        with self._database.connection() as connection, connection.transaction():
            query = "SELECT count(*) FROM webhooks WHERE project = ?"
            if connection.execute(query, [owner]).fetchone()[0] >= MAX_WEBHOOKS:
                raise UserError(f"A project has at most {MAX_WEBHOOKS} webhooks: delete one first.")
            connection.execute(
                f"INSERT INTO webhooks ({_HOOK}) VALUES ({places(10)})",  # noqa: S608 - our own words
                [
                    row.id, row.project, row.url, " ".join(row.events), row.sealed, None, 0.0, row.position, row.author,
                    row.created_at,
                ],
            )  # fmt: skip
        return row

    def get(self, webhook_id: str) -> WebhookRow:
        mine = scope_filter(self._database, "webhooks")
        with self._database.connection() as connection:
            row = connection.execute(
                f"SELECT {_HOOK} FROM webhooks WHERE id = ?{mine.sql}",  # noqa: S608 - our own words
                [webhook_id, *mine.values],
            ).fetchone()
        if row is None:
            raise NotFoundError(f"No webhook {webhook_id!r}.")
        return _hook(row)

    def listed(self) -> list[WebhookRow]:
        """The project's, oldest first; there are never many."""
        mine = scope_filter(self._database, "webhooks")
        with self._database.connection() as connection:
            rows = connection.execute(
                f"SELECT {_HOOK} FROM webhooks WHERE 1 = 1{mine.sql} ORDER BY id",  # noqa: S608 - our own words
                [*mine.values],
            ).fetchall()
        return [_hook(row) for row in rows]

    def rotate(self, webhook_id: str, sealed: str, former_until: float) -> None:
        """Another secret; the one before signs as well until then."""
        mine = scope_filter(self._database, "webhooks")
        self.get(webhook_id)
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE webhooks SET former = sealed, sealed = ?, former_until = ? "  # noqa: S608 - our own words
                f"WHERE id = ?{mine.sql}",
                [sealed, former_until, webhook_id, *mine.values],
            )

    def delete(self, webhook_id: str) -> None:
        """With all of its deliveries."""
        self.get(webhook_id)
        mine = scope_filter(self._database, "webhooks")
        with self._database.connection() as connection, connection.transaction():
            connection.execute("DELETE FROM deliveries WHERE webhook_id = ?", [webhook_id])
            connection.execute(
                f"DELETE FROM webhooks WHERE id = ?{mine.sql}",  # noqa: S608 - our own words
                [webhook_id, *mine.values],
            )

    def deliveries(
        self, webhook_id: str, *, after: str | None = None, limit: int = 50, state: str | None = None
    ) -> list[DeliveryRow]:
        """Newest first; `after` is the last one seen."""
        self.get(webhook_id)
        mine = scope_filter(self._database, "deliveries")
        given = [("id < ?", after), ("state = ?", state)]
        where = "".join(f" AND {sql}" for sql, value in given if value is not None)
        query = (
            f"SELECT {_DELIVERY} FROM deliveries WHERE webhook_id = ?{mine.sql}{where} "  # noqa: S608 - our own words
            "ORDER BY id DESC LIMIT ?"
        )
        values = [value for _, value in given if value is not None]
        with self._database.connection() as connection:
            rows = connection.execute(query, [webhook_id, *mine.values, *values, limit]).fetchall()
        return [_delivery(row) for row in rows]

    def delivery(self, webhook_id: str, delivery_id: str) -> DeliveryRow:
        self.get(webhook_id)
        mine = scope_filter(self._database, "deliveries")
        with self._database.connection() as connection:
            row = connection.execute(
                f"SELECT {_DELIVERY} FROM deliveries WHERE id = ? AND webhook_id = ?{mine.sql}",  # noqa: S608 - ours
                [delivery_id, webhook_id, *mine.values],
            ).fetchone()
        if row is None:
            raise NotFoundError(f"Webhook {webhook_id} has no delivery {delivery_id!r}.")
        return _delivery(row)

    def resend(self, webhook_id: str, delivery_id: str) -> DeliveryRow:
        """It is due now, with the same id and the same body; tried as often as a new one."""
        self.delivery(webhook_id, delivery_id)
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE deliveries SET state = 'waiting', attempts = 0, next_at = 0, ended_at = NULL WHERE id = ?",
                [delivery_id],
            )
        return self.delivery(webhook_id, delivery_id)


class DeliveryQueue:
    """What those who deliver do, for every project."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def announce(self) -> int:
        """A delivery for every end of a run that a webhook wants to hear of; gives how many. Twice is harmless.

        The place up to which a webhook was told moves in the transaction that writes its deliveries: none is forgotten.
        """
        with self._database.connection() as connection:
            hooks = [_hook(row) for row in connection.execute(f"SELECT {_HOOK} FROM webhooks")]  # noqa: S608 - ours
        if not hooks:
            return 0
        number_events(self._database)
        last = last_position(self._database)
        return sum(self._announce(hook, last) for hook in hooks if hook.position < last)

    def _announce(self, hook: WebhookRow, last: int) -> int:
        query = (
            "SELECT events.position, events.run_id, events.number, events.at, events.kind, runs.name, runs.status, "  # noqa: S608
            "runs.created_at, runs.finished_at, runs.error "
            "FROM events JOIN runs ON runs.id = events.run_id WHERE events.position > ? AND events.position <= ? "
            f"AND runs.project = ? AND events.kind IN ({places(len(EVENTS))}) ORDER BY events.position LIMIT ?"
        )
        with self._database.connection() as connection, connection.transaction():
            asked = [hook.position, last, hook.project, *EVENTS, ANNOUNCED_AT_A_TIME]
            rows = connection.execute(query, asked).fetchall()
            seen = rows[-1]["position"] if len(rows) == ANNOUNCED_AT_A_TIME else last
            moved = connection.execute(
                "UPDATE webhooks SET position = ? WHERE id = ? AND position = ?", [seen, hook.id, hook.position]
            )
            if not moved.rowcount:
                return 0  # somebody else has announced these
            wanted = [row for row in rows if EVENTS[row["kind"]] in hook.events]
            now = time.time()
            for row in wanted:
                connection.execute(
                    "INSERT INTO deliveries (id, webhook_id, project, run_id, number, event, body, next_at, "
                    "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    [
                        new_ordered_id(DELIVERY_PREFIX), hook.id, hook.project, row["run_id"], row["number"],
                        EVENTS[row["kind"]], _body(row, hook.project), 0.0, now,
                    ],
                )  # fmt: skip
        return len(wanted)

    def due(self, limit: int) -> list[tuple[DeliveryRow, WebhookRow]]:
        """Some whose time has come, with where they go: this process's for a while.

        Projects take turns, and so do the webhooks of one: an address that hangs keeps only its own messages waiting.
        """
        dialect = self._database.dialect
        query = (
            f"SELECT {_DELIVERY} FROM deliveries WHERE state = 'waiting' AND next_at <= ? "  # noqa: S608 - our own words
            f"AND id IN ({_IN_TURN}) {dialect.skip_locked}"
        )
        now = time.time()
        with self._database.connection() as connection:
            if connection.execute(
                "SELECT 1 FROM deliveries WHERE state = 'waiting' AND next_at <= ? LIMIT 1", [now]
            ).fetchone() is None:  # fmt: skip
                return []
            with connection.transaction():
                rows = [_delivery(row) for row in connection.execute(query, [now, now, limit])]
                connection.execute(
                    f"UPDATE deliveries SET attempts = attempts + 1, next_at = ? WHERE id IN ({places(len(rows))})",  # noqa: S608
                    [now + LEASE_SECONDS, *(row.id for row in rows)],
                )
            hooks = self._hooks({row.webhook_id for row in rows})
        return [(row, hooks[row.webhook_id]) for row in rows if row.webhook_id in hooks]

    def _hooks(self, ids: Iterable[str]) -> dict[str, WebhookRow]:
        wanted = list(ids)
        query = f"SELECT {_HOOK} FROM webhooks WHERE id IN ({places(len(wanted))})"  # noqa: S608 - our own words
        with self._database.connection() as connection:
            return {row["id"]: _hook(row) for row in connection.execute(query, wanted)}

    def delivered(self, delivery: DeliveryRow, status: int, answer: str) -> None:
        self._note(delivery, "delivered", 0.0, status, answer, None)

    def not_delivered(
        self, delivery: DeliveryRow, error: str, *, again_seconds: float | None, status: int | None, answer: str | None
    ) -> None:
        """It is tried again after so many seconds; never, where None is given."""
        if again_seconds is None:
            self._note(delivery, "failed", 0.0, status, answer, error)
        else:
            self._note(delivery, "waiting", time.time() + again_seconds, status, answer, error)

    def _note(
        self,
        delivery: DeliveryRow,
        state: str,
        next_at: float,
        status: int | None,
        answer: str | None,
        error: str | None,
    ) -> None:
        ended = None if state == "waiting" else time.time()
        kept = None if answer is None else storable(answer)
        said = None if error is None else storable(shorten(error, 1_000))
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE deliveries SET state = ?, next_at = ?, ended_at = ?, status = ?, answer = ?, error = ? "
                "WHERE id = ? AND state = 'waiting' AND attempts = ?",
                [state, next_at, ended, status, kept, said, delivery.id, delivery.attempts + 1],
            )

    def prune(self, older_seconds: float) -> int:
        """Forget deliveries that ended so long ago; gives how many."""
        with self._database.connection() as connection:
            return connection.execute(
                "DELETE FROM deliveries WHERE ended_at < ?", [time.time() - older_seconds]
            ).rowcount  # fmt: skip


def new_secret() -> bytes:
    return secrets.token_bytes(32)


def _body(row: Row, project: str) -> str:
    data = {
        "run_id": row["run_id"],
        "name": row["name"],
        "status": row["status"],
        "project": project,
        "created_at": row["created_at"],
        "finished_at": row["finished_at"],
        "error": row["error"],
        "address": f"/api/v1/runs/{row['run_id']}",
    }
    return orjson.dumps({"type": EVENTS[row["kind"]], "timestamp": row["at"], "data": data}).decode()


def _hook(row: Row) -> WebhookRow:
    return WebhookRow(
        row["id"], row["project"], row["url"], tuple(row["events"].split()), row["sealed"], row["former"],
        row["former_until"], row["position"], row["author"], row["created_at"],
    )  # fmt: skip


def _delivery(row: Row) -> DeliveryRow:
    return DeliveryRow(*(row[name] for name in DeliveryRow.__struct_fields__))
