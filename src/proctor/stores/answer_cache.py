"""Answers that belong to no trial, kept by request: what judges said."""

from __future__ import annotations

import time
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Any

from proctor.domain.response import Response
from proctor.domain.scope import LOCAL, Scope
from proctor.stores import codec
from proctor.stores.connection import Connection
from proctor.stores.connection_thread import ConnectionThread
from proctor.stores.database import Database
from proctor.stores.scoping import owned
from proctor.stores.statements import places

COLUMNS = (
    "key", "text", "more", "finish_reason", "input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens",
    "cost_pico_usd", "latency_seconds", "first_token_seconds", "created_at", "cache_write_tokens", "cost_basis",
)  # fmt: skip


# A reply that could not be read may have been kept by an earlier version; the one that can be takes its place.
_REPLACE = "ON CONFLICT (key) DO UPDATE SET " + ", ".join(f"{name} = excluded.{name}" for name in COLUMNS[1:])


def count_kept(database: Database, keys: Sequence[str]) -> int:
    """How many of these requests have an answer here."""
    query = f"SELECT count(*) FROM cache WHERE key IN ({places(len(keys))})"  # noqa: S608 - only placeholders
    with database.connection() as connection:
        return int(connection.execute(query, [_key_within(database.scope, key) for key in keys]).fetchone()[0])


def _key_within(scope: Scope, key: str) -> str:
    """Projects have their own answers: whether another has asked the same is nothing to be found out."""
    return key if scope.owner == LOCAL else f"{scope.owner}/{key}"


class AnswerCache:
    """Answers that arrive together share a commit. Closing it twice is harmless."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._thread = ConnectionThread(database, "answers")
        self._arrived: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self._unwritten: dict[str, tuple[Any, ...]] = {}

    async def close(self) -> None:
        await self._thread.close()

    async def find(self, key: str) -> Response | None:
        """What was answered earlier to the same request."""

        def look(connection: Connection) -> Response | None:
            mine = _key_within(self._database.scope, key)
            row = connection.execute("SELECT * FROM cache WHERE key = ?", [mine]).fetchone()
            return None if row is None else codec.read_response(row)

        return await self._thread.do(look)

    async def keep(self, key: str, response: Response) -> None:
        """Commit an answer; a truncated or filtered one is not kept."""
        if response.is_cacheable:
            self._arrived.put(_row(_key_within(self._database.scope, key), response))
            await self._thread.do(self._flush)

    def _flush(self, connection: Connection) -> None:
        for _ in range(self._arrived.qsize()):
            row = self._arrived.get()
            self._unwritten[row[0]] = row
        if not self._unwritten:
            return  # an earlier call took them along
        rows = sorted(self._unwritten.values(), key=lambda row: row[0])
        with connection.transaction():
            connection.insert("cache", *owned(self._database, COLUMNS, rows), _REPLACE)
        self._unwritten.clear()


def _row(key: str, response: Response) -> tuple[Any, ...]:
    usage = response.usage
    return (
        key,
        response.text,
        codec.response_more(response),
        response.finish_reason.value,
        usage.input_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
        usage.cached_tokens,
        codec.to_pico(response.cost_usd),
        response.latency_seconds,
        response.first_token_seconds,
        time.time(),
        usage.cache_write_tokens,
        response.cost_basis,
    )
