"""A plain connection for asynchronous code: work is done in turn on a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from proctor.stores.connection import Connection
from proctor.stores.database import Database
from proctor.stores.patience import StoreUnreachableError, patiently

T = TypeVar("T")


class ConnectionThread:
    """One thread with one connection. Closing it twice is harmless.

    Work is repeated on a new connection when the database was away, so doing it twice must be harmless.
    """

    def __init__(self, database: Database, name: str, *, is_writer: bool = False) -> None:
        self._database = database
        self._connect = database.connect_writer if is_writer else database.connect
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._connection: Connection | None = None
        self._is_closed = False

    async def do(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, lambda: patiently(lambda: self._try(work))
        )

    def _try(self, work: Callable[[Connection], T]) -> T:
        try:
            with self._database.explained():
                if self._connection is None:
                    self._connection = self._connect()
                return work(self._connection)
        except StoreUnreachableError:
            self._let_go()
            raise

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    async def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self._let_go)
            self._thread.shutdown()
