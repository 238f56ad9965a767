"""A replica to read from. It is behind by moments: a question goes there once it has all that had been committed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

import psycopg
import sqlalchemy
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

LOOKS, LOOK_SECONDS = 10, 0.01
"""How often, and how long apart, it is asked whether it has come so far, before the primary answers in its place."""
BEHIND_SECONDS = 1.0
"""One that did not come so far is not waited for again for so long: each query of a page would wait anew."""
AWAY_SECONDS = 30.0
"""One that cannot be reached is not tried again for so long."""
_COMMITTED = (
    # Where commits are not waited for, they may be ahead of what is on the disk.
    "SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn() "
    "ELSE pg_current_wal_flush_lsn() END::text, system_identifier FROM pg_control_system()"
)
_HAS_REPLAYED = (
    "SELECT coalesce(pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s::pg_lsn AND system_identifier = %s, false) "
    "FROM pg_control_system()"
)
log = logging.getLogger("proctor.stores")


class Closes(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=Closes)


class Replica:
    """Whoever reads here sees at least all that any process had written before."""

    def __init__(self, primary: Callable[[], Engine], engine: Engine) -> None:
        self.engine = engine
        self._primary = primary
        self._away_until = 0.0

    def connect(self, open_at: Callable[[Engine], C], driver_of: Callable[[C], psycopg.Connection[object]]) -> C | None:
        """A connection on which all can be read that is committed now; None where the primary is to be asked."""
        if time.monotonic() < self._away_until:
            return None
        committed = self._committed()
        try:
            opened = open_at(self.engine)
            try:
                if _comes_to(driver_of(opened), committed):
                    return opened
            except BaseException:
                opened.close()
                raise
            opened.close()
            self._away_until = time.monotonic() + BEHIND_SECONDS
        except (psycopg.Error, DBAPIError) as fault:
            log.warning("the replica cannot be read from, and the primary is for %g s: %s", AWAY_SECONDS, fault)
            self._away_until = time.monotonic() + AWAY_SECONDS
        return None

    def _committed(self) -> tuple[str, int]:
        """How far the primary is, and which one that is: another server's replica may be as far."""
        with self._primary().connect() as connection:
            position, server = connection.execute(sqlalchemy.text(_COMMITTED)).one()
        return position, server


def _comes_to(driver: psycopg.Connection[object], committed: tuple[str, int]) -> bool:
    for _ in range(LOOKS):
        row = driver.execute(_HAS_REPLAYED, committed).fetchone()
        driver.rollback()
        if row == (True,):
            return True
        time.sleep(LOOK_SECONDS)
    return False
