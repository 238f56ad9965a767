"""Connections to a file that nobody uses now: to open one takes longer than most of what it is asked."""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from proctor.stores.sqlite_connection import SqliteConnection

MAX_IDLE = 4


class ReusedConnection(SqliteConnection):
    """One that is handed on; what was read of the last query only in part is forgotten with it.

    A query that is not read to its end would show whoever has the connection next the moment at which it began.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._cursors: weakref.WeakSet[sqlite3.Cursor] = weakref.WeakSet()

    def execute(self, statement: str, parameters: Any = (), /) -> sqlite3.Cursor:
        cursor = super().execute(statement, parameters)
        self._cursors.add(cursor)
        return cursor

    def forget_queries(self) -> None:
        for cursor in list(self._cursors):
            cursor.close()
        self._cursors.clear()


class IdleConnections:
    """Kept by process: one that was opened before a fork is left to the process that opened it."""

    def __init__(self, open_one: Callable[[], ReusedConnection]) -> None:
        self._open = open_one
        self._idle: dict[int, deque[ReusedConnection]] = {}
        weakref.finalize(self, _close_all, self._idle)

    @contextmanager
    def borrowed(self) -> Iterator[ReusedConnection]:
        """A connection for one piece of work; it is not handed on after a failure."""
        idle = self._idle.setdefault(os.getpid(), deque())
        try:
            connection = idle.pop()
        except IndexError:
            connection = self._open()
        try:
            yield connection
            connection.forget_queries()
        except BaseException:
            connection.close()
            raise
        if len(idle) < MAX_IDLE and not connection.in_transaction:
            idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        _close_all(self._idle)


def _close_all(idle: dict[int, deque[ReusedConnection]]) -> None:
    mine = idle.get(os.getpid())
    while mine:
        mine.pop().close()
