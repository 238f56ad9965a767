"""Connections to a file that are handed on from one piece of work to the next."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from proctor.domain.errors import StoreError
from proctor.stores.database import Database, open_database
from proctor.stores.deleting import transaction


@pytest.fixture
def database(tmp_path: Path) -> Database:
    found = open_database(f"sqlite:///{tmp_path / 'a.db'}")
    with found.connection() as connection:
        connection.execute("CREATE TABLE seen (n INTEGER)")
        for number in range(3):
            connection.execute("INSERT INTO seen VALUES (?)", [number])
    return found


def test_a_connection_is_opened_once_for_many_pieces_of_work(database: Database) -> None:
    with database.connection() as first:
        pass
    with database.connection() as second:
        assert second is first
        with database.connection() as third:
            assert third is not second


def test_a_query_that_was_not_read_to_its_end_does_not_hold_the_moment_at_which_it_began(database: Database) -> None:
    with database.connection() as connection:
        unread = connection.execute("SELECT n FROM seen")
        assert unread.fetchone()[0] == 0
    with database.connection() as writer, database.connection() as other:
        assert writer is connection
        other.execute("INSERT INTO seen VALUES (7)")
        assert writer.execute("SELECT count(*) FROM seen").fetchone()[0] == 4
    with pytest.raises(sqlite3.ProgrammingError):
        unread.fetchone()


def test_what_failed_is_not_handed_on(database: Database) -> None:
    used = []

    def fail() -> None:
        with database.connection() as failed, failed.transaction():
            used.append(failed)
            failed.execute("INSERT INTO seen VALUES (8)")
            failed.execute("INSERT INTO nowhere VALUES (8)")

    with pytest.raises(StoreError):
        fail()
    with database.connection() as connection:
        assert connection not in used
        assert connection.execute("SELECT count(*) FROM seen").fetchone()[0] == 3


def test_what_is_switched_off_for_deleting_stays_on_for_others(database: Database) -> None:
    with transaction(database) as deleting:
        assert deleting.execute("PRAGMA foreign_keys").fetchone()[0] == 0
    for _ in range(2):
        with database.connection() as connection, database.connection() as another:
            for one in (connection, another):
                assert one.execute("PRAGMA foreign_keys").fetchone()[0] == 1


def test_scopes_share_connections_and_dispose_closes_them(database: Database) -> None:
    with database.connection() as first:
        pass
    with database.at_scope(database.scope).connection() as second:
        assert second is first
    database.dispose()
    with pytest.raises(sqlite3.ProgrammingError):
        second.execute("SELECT 1")
