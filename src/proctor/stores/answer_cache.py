"""Answers that belong to no trial, kept by request: what judges said."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from queue import SimpleQueue
from typing import Any, TypeVar

from proctor.domain.response import Response
from proctor.stores import codec
from proctor.stores.database import Database, explained
from proctor.stores.statements import insert, places

T = TypeVar("T")
COLUMNS = (
    "key", "text", "more", "finish_reason", "input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens",
    "cost_pico_usd", "latency_seconds", "first_token_seconds", "created_at", "cache_write_tokens", "cost_basis",
)  # fmt: skip


# A reply that could not be read may have been kept by an earlier version; the one that can be takes its place.
_REPLACE = "ON CONFLICT (key) DO UPDATE SET " + ", ".join(f"{name} = excluded.{name}" for name in COLUMNS[1:])


def count_kept(database: Database, keys: Sequence[str]) -> int:
    """How many of these requests have an answer here."""
    query = f"SELECT count(*) FROM cache WHERE key IN ({places(len(keys))})"  # noqa: S608 - only placeholders
    with explained(database.path), closing(database.connect()) as connection:
        return int(connection.execute(query, list(keys)).fetchone()[0])


class AnswerCache:
    """One thread, one connection; answers that arrive together share a commit. Closing it twice is harmless."""

    def __init__(self, database: Database) -> None:
        self._path = database.path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="answers")
        self._connection = database.connect()
        self._connection.row_factory = sqlite3.Row
        self._pending: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self._is_closed = False

    async def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.close)
            self._thread.shutdown()

    async def find(self, key: str) -> Response | None:
        """What was answered earlier to the same request."""
        return await self._call(lambda: self._find(key))

    async def keep(self, key: str, response: Response) -> None:
        """Commit an answer; a truncated or filtered one is not kept."""
        if response.is_cacheable:
            self._pending.put(_row(key, response))
            await self._call(self._flush)

    async def _call(self, work: Callable[[], T]) -> T:
        def explain() -> T:
            with explained(self._path):
                return work()

        return await asyncio.get_running_loop().run_in_executor(self._thread, explain)

    def _find(self, key: str) -> Response | None:
        row = self._connection.execute("SELECT * FROM cache WHERE key = ?", [key]).fetchone()
        return None if row is None else codec.read_response(row)

    def _flush(self) -> None:
        taken = [self._pending.get() for _ in range(self._pending.qsize())]
        rows = list({row[0]: row for row in taken}.values())
        if not rows:
            return  # an earlier call took them along
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for statement, parameters in insert("cache", COLUMNS, rows, _REPLACE):
                self._connection.execute(statement, parameters)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


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
