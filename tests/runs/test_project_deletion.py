"""A project that is deleted leaves nothing: not in a table, not in a file, not among the artifacts."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import select

import proctor
from commands import Cli
from proctor.accounts.projects import add_project
from proctor.domain.errors import NotFoundError, RunError, UserError
from proctor.runs.storage.project_deletion import delete_project
from proctor.stores.accounts.budgets import BudgetRow, BudgetStore, Spender
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.database import Database
from proctor.stores.schema import metadata
from runs.full_project import CANARY, OF_THE_SERVER, PROJECT, give_away, run
from stores.parts import new_database


@pytest.fixture
def database(home: Path) -> Iterator[Database]:
    database = new_database(home)
    add_project(database, PROJECT, by="test")
    yield database
    database.dispose()


def traces(database: Database, home: Path, word: str) -> list[str]:
    """Where the word still stands: rows of every table but the audit log, and files below the home."""
    found = []
    with database.reading() as connection:
        for table in metadata.sorted_tables:
            if table.name != "audit":
                found += [table.name for row in connection.execute(select(table)) if word in str(tuple(row))]
    found += [str(path) for path in home.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    return found


def test_nothing_is_left_of_a_deleted_project_and_all_of_the_others(
    database: Database, home: Path, tmp_path: Path
) -> None:
    artifacts = FolderArtifacts(home / "artifacts")
    theirs = run(tmp_path / "theirs", f"{CANARY}-bench", CANARY, "shared")
    mine = run(tmp_path / "mine", "own-bench", "mine", "shared")
    give_away(database, theirs, artifacts)
    kept = artifacts.put("kept", b"kept")
    named = {table.name for table in metadata.sorted_tables if "project" in table.columns} - OF_THE_SERVER
    assert named <= set(traces(database, home, f"'{PROJECT}'"))  # a new table is filled, or it is seen here
    assert {"samples", "benchmarks", "events", "refresh_tokens"} <= set(traces(database, home, CANARY))
    done = delete_project(database, artifacts, PROJECT, by="test")
    assert (done.runs, done.responses) == (1, 2)
    assert done.artifacts >= 1
    assert artifacts.exists(kept)
    with database.connection() as connection:
        owners = [row[0] for row in connection.execute("SELECT project FROM runs").fetchall()]
        if isinstance(connection, sqlite3.Connection):
            assert [tuple(row) for row in connection.execute("PRAGMA foreign_key_check")] == []
    assert owners == ["local"]
    assert len(list(proctor.open_run(mine).results())) == 2
    assert traces(database, home, CANARY) == []
    assert traces(database, home, f"'{PROJECT}'") == []


def test_a_project_whose_run_is_being_executed_stays(database: Database, home: Path, tmp_path: Path) -> None:
    started = run(tmp_path / "work", "bench", "one")
    owner = f"{os.uname().nodename}:{os.getpid()}:0"
    with database.connection() as connection, connection.transaction():
        statement = "UPDATE runs SET project = ?, status = 'running', lease_owner = ?, lease_until = ? WHERE id = ?"
        connection.execute(statement, [PROJECT, owner, 9e12, started])
    with pytest.raises(RunError, match="is being executed"):
        delete_project(database, FolderArtifacts(home / "artifacts"), PROJECT, by="test")
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM responses").fetchone()[0] == 1


@pytest.mark.sqlite
def test_what_a_person_spent_in_a_deleted_project_stays_spent(database: Database, home: Path) -> None:
    person, theirs, store = Spender(PROJECT, "user-1", "key-1"), Spender(PROJECT, None, "key-2"), BudgetStore(database)
    for spender, work in ((person, "w-1"), (theirs, "w-2")):
        store.reserve(spender, work, Decimal(5))
        store.settle_work(work, Decimal(3))
    budget = BudgetRow("user", "user-1", Decimal(10), "month", None, "test", "")
    assert store.use(budget).spent_usd == 3
    delete_project(database, FolderArtifacts(home / "artifacts"), PROJECT, by="test")
    assert store.use(budget).spent_usd == 3
    with database.connection() as connection:
        rows = [tuple(row) for row in connection.execute("SELECT project, key_id, run_id FROM reservations")]
    assert rows == [("", None, "w-1")]


@pytest.mark.sqlite
def test_projects_that_cannot_be_deleted_are_named(database: Database, home: Path) -> None:
    artifacts = FolderArtifacts(home / "artifacts")
    with pytest.raises(UserError, match="project of whoever has only one"):
        delete_project(database, artifacts, "local", by="test")
    with pytest.raises(NotFoundError, match="No project 'acm'"):
        delete_project(database, artifacts, "acm", by="test")


@pytest.mark.sqlite
def test_the_command_asks_before_and_is_in_the_audit_log(cli: Cli, database: Database) -> None:
    assert cli("projects", "delete", PROJECT).code == 2
    ended = cli("projects", "delete", PROJECT, "--yes")
    assert ended.code == 0
    assert ended.out.startswith(f"Deleted the project {PROJECT}: 0 runs, 0 responses")
    assert PROJECT not in cli("projects", "list").out
    assert "delete-project" in cli("audit", "export").out
