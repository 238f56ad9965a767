"""A project that is deleted leaves nothing: not in a table, not in a file, not among the artifacts."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Boolean, Float, Integer, LargeBinary, Table, select

import proctor
from commands import Cli
from proctor.accounts.projects import add_project
from proctor.domain.chunk import ChunkState
from proctor.domain.errors import NotFoundError, RunError, UserError
from proctor.runs.projects import delete_project
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.database import Database
from proctor.stores.schema import metadata
from stores.parts import new_database

CANARY = "canary-zq7"
PROJECT = "acme"
USER = "user-1"
BENCHMARK = """
name: {name}
dataset: {{source: rows.jsonl, fields: {{id: id, input: question, target: answer}}}}
prompt: {{user: '{{{{ input }}}}'}}
scorers: [includes]
"""
OF_THE_SERVER = frozenset({"audit", "id_blocks", "users", "sessions", "links", "identities", "workers", "budgets"})
"""Tables whose rows are no project's; of budgets those that name it go."""
ANSWERED = frozenset({"runs", "models", "benchmarks", "evaluations", "samples", "responses", "bodies", "scores"})
"""Filled by a real run."""


@pytest.fixture
def database(home: Path) -> Iterator[Database]:
    database = new_database(home)
    add_project(database, PROJECT, by="test")
    yield database
    database.dispose()


def run(folder: Path, name: str, *questions: str) -> str:
    folder.mkdir(exist_ok=True)
    rows = [f'{{"id": "{one}", "question": "What is {one}?", "answer": "{one}"}}' for one in questions]
    (folder / "rows.jsonl").write_text("\n".join(rows))
    (folder / "bench.yaml").write_text(BENCHMARK.format(name=name))
    return proctor.evaluate(str(folder / "bench.yaml"), models="demo/weak", cache=False).id


def give_away(database: Database, run_id: str, artifacts: FolderArtifacts) -> None:
    """The run becomes the project's, and so does a row of every other table that a project's rows are in."""
    key = artifacts.put("canary", CANARY.encode())
    with database.connection() as connection, connection.transaction():
        connection.execute("UPDATE runs SET project = ?, name = ? WHERE id = ?", [PROJECT, CANARY, run_id])
        connection.execute("UPDATE evaluations SET project = ? WHERE run_id = ?", [PROJECT, run_id])
        mine = "SELECT id FROM evaluations WHERE project = ?"
        connection.execute(f"UPDATE responses SET project = ? WHERE evaluation_id IN ({mine})", [PROJECT, PROJECT])
        for table in ("bodies", "scores"):
            mine = "SELECT id FROM responses WHERE project = ?"
            connection.execute(f"UPDATE {table} SET project = ? WHERE response_id IN ({mine})", [PROJECT, PROJECT])
        connection.execute("INSERT INTO users (id, name, is_admin, created_at) VALUES (?, 'u', ?, '')", [USER, False])
        evaluation = connection.execute("SELECT id FROM evaluations WHERE run_id = ?", [run_id]).fetchone()
        known = {"run_id": run_id, "evaluation_id": evaluation[0], "user_id": USER, "project": PROJECT}
        for table in metadata.sorted_tables:
            if table.name not in OF_THE_SERVER | ANSWERED | {"projects"}:
                columns, values = row_of(table, known, key)
                connection.insert(table.name, columns, [values], "ON CONFLICT DO NOTHING")


CHECKED = {("chunks", "state"): ChunkState.FINISHED.value, ("packings", "kind"): "words"}
"""What a column may hold where that is not any text."""


def row_of(table: Table, known: dict[str, Any], key: str) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """A row that says the canary wherever a text may stand; the artifact's key where one does."""
    fixed = {"state": "failed", "artifact": key, "text_artifact": key, "files": f'{{"a": "{key}"}}', "finished_at": 1.0}
    values = dict[str, Any]()
    for column in table.columns:
        if (table.name, column.name) in CHECKED:
            values[column.name] = CHECKED[table.name, column.name]
        elif isinstance(column.type, Boolean):
            values[column.name] = False
        elif column.name in known | fixed:
            values[column.name] = (known | fixed)[column.name]
        elif isinstance(column.type, Integer | Float):
            values[column.name] = 7
        elif isinstance(column.type, LargeBinary):
            values[column.name] = CANARY.encode()
        else:
            values[column.name] = CANARY  # keys and what refers to them alike
    return tuple(values), tuple(values.values())


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
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
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
