"""Retention: what is older than it is to be kept goes, and nothing else."""

from __future__ import annotations

import asyncio
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import proctor
from commands import Cli
from proctor.accounts.projects import add_project
from proctor.domain.artifacts import key_of
from proctor.domain.scope import LOCAL
from proctor.runs.resolve import PlanContext
from proctor.runs.storage.retention import set_rules
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.listing import list_runs
from proctor.stores.moments import month_of
from proctor.worker.schedule import SCHEDULE
from runs.full_project import PROJECT, give_away
from stores.parts import connected, new_database


def aged(home: Path, run_id: str, days: int) -> None:
    """As if the run had ended so long ago."""
    moment = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="microseconds")
    with connected(home) as connection:
        connection.execute("UPDATE runs SET finished_at = ?, created_at = ? WHERE id = ?", [moment, moment, run_id])


def moved(home: Path, run_id: str, month: int) -> None:
    """As if the run had been made in that month: PostgreSQL keeps its answers in partitions of their own then."""
    database = new_database(home)
    with database.connection() as connection, connection.transaction():
        database.prepare_month(connection, month)
        ids = "SELECT id FROM evaluations WHERE run_id = ?"
        for table in ("scores", "bodies"):
            which = f"response_id IN (SELECT id FROM responses WHERE evaluation_id IN ({ids}))"
            connection.execute(f"CREATE TEMPORARY TABLE old_{table} AS SELECT * FROM {table} WHERE {which}", [run_id])
            connection.execute(f"DELETE FROM {table} WHERE {which}", [run_id])
            connection.execute(f"UPDATE old_{table} SET month = ?", [month])
        connection.execute("UPDATE evaluations SET month = ? WHERE run_id = ?", [month, run_id])
        connection.execute(f"UPDATE responses SET month = ? WHERE evaluation_id IN ({ids})", [month, run_id])
        for table in ("bodies", "scores"):
            connection.execute(f"INSERT INTO {table} SELECT * FROM old_{table}")
    database.dispose()


def partitions(home: Path) -> set[str]:
    with connected(home) as connection:
        return {row[0] for row in connection.execute("SELECT relname FROM pg_class WHERE relname ~ '_[0-9]{6}$'")}


def test_runs_that_ended_long_ago_go_and_the_others_stay(cli: Cli, home: Path) -> None:
    old, new = (proctor.evaluate("puzzles", models=model, limit=4).id for model in ("demo/strong", "demo/weak"))
    running = proctor.prepare("puzzles", models="demo/average", limit=4).id
    aged(home, old, 91)
    with connected(home) as connection:
        connection.execute("UPDATE runs SET created_at = '2020-01-01T00:00:00+00:00' WHERE id = ?", [running])
    shown = cli("show", new, "--json").json
    planned = cli("retention", "--older-than", "90d", "--dry-run", "--json").json
    assert ([run["run_id"] for run in planned["runs"]], planned["runs"][0]["responses"]) == ([old], 4)
    assert cli("show", old).code == 0
    assert cli("retention", "--older-than", "90d").code == 2  # there is nobody to ask
    done = cli("retention", "--older-than", "90d", "--yes", "--json").json
    assert ([run["run_id"] for run in done["runs"]], done["is_dry_run"]) == ([old], False)
    assert cli("show", old).code == 2
    assert cli("show", new, "--json").json == shown
    assert cli("resume", running).code == 0
    assert cli("retention", "--older-than", "90d", "--yes", "--json").json["runs"] == []


def test_a_run_that_another_replays_stays(cli: Cli, home: Path) -> None:
    first = proctor.evaluate("puzzles", models="demo/strong", limit=1).id
    second = proctor.evaluate("puzzles", models=f"replay/{first}", limit=1).id
    aged(home, first, 400)
    done = cli("retention", "--older-than", "90d", "--yes", "--json").json
    assert done["runs"] == []
    assert done["notes"] == [f"{first} stays: {second} cannot be resumed without it"]
    aged(home, second, 399)
    done = cli("retention", "--older-than", "90d", "--yes", "--json").json
    assert [run["run_id"] for run in done["runs"]] == [first, second]


def test_months_without_a_run_are_dropped(cli: Cli, home: Path) -> None:
    if "PROCTOR_DATABASE_URL" not in os.environ:
        pytest.skip("a file keeps all months in one table")
    old, new = (proctor.evaluate("puzzles", models=model, limit=3).id for model in ("demo/strong", "demo/weak"))
    moved(home, old, 202501)
    aged(home, old, 300)
    assert cli("samples", old, "--json").json
    assert len(partitions(home)) == 6
    assert cli("retention", "--older-than", "30d", "--dry-run", "--json").json["months"] == [202501]
    assert "Removed the partitions of 2025-01." in cli("retention", "--older-than", "30d", "--yes").out
    assert partitions(home) == {f"{table}_{month_of(datetime.now(UTC))}" for table in ("responses", "bodies", "scores")}
    assert len(cli("samples", new, "--json").json) == 3


def test_artifacts_without_owner_go_when_they_are_a_day_old(cli: Cli, home: Path) -> None:
    run = proctor.evaluate("puzzles", models="demo/strong", limit=1)
    artifacts = FolderArtifacts(home / "artifacts")
    owned, orphan, young = (artifacts.put("a", name.encode()) for name in ("owned", "orphan", "young"))
    with connected(home) as connection:
        connection.execute("UPDATE scores SET details = ?", [f'{{"program": "{owned}"}}'])
    for key in (owned, orphan):
        os.utime(artifacts.path_of(key), (0, 0))
    kept = set(artifacts.keys())
    done = cli("retention", "--yes", "--json").json
    assert (done["days"], done["artifacts"], done["artifact_bytes"]) == (None, 1, len("orphan"))
    assert kept - set(artifacts.keys()) == {key_of(b"orphan")}
    assert artifacts.exists(young)
    aged(home, run.id, 2)
    os.environ["PROCTOR_RETENTION_DAYS"] = "1"
    try:
        assert [one["run_id"] for one in cli("retention", "--yes", "--json").json["runs"]] == [run.id]
    finally:
        del os.environ["PROCTOR_RETENTION_DAYS"]
    assert not artifacts.exists(owned)


@pytest.mark.sqlite
@pytest.mark.parametrize("value", ["0", "-1", "two", "1e3", "99999999"])
def test_a_number_of_days_that_says_nothing_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("PROCTOR_RETENTION_DAYS", value)
    assert "PROCTOR_RETENTION_DAYS is a whole number of days" in cli("retention").error


def test_each_project_keeps_what_it_says_and_says_what_would_go(cli: Cli, home: Path) -> None:
    """A project's own time wins; what another one has is older and stays."""
    theirs, mine = (proctor.evaluate("puzzles", models=model, limit=4).id for model in ("demo/strong", "demo/weak"))
    database = new_database(home)
    add_project(database, PROJECT, by="test")
    give_away(database, theirs, FolderArtifacts(home / "artifacts"))  # a row of everything, from long ago
    database.dispose()
    aged(home, theirs, 40)
    aged(home, mine, 80)
    with connected(home) as connection:
        for table in ("playground_asks", "submissions"):
            connection.execute(f"UPDATE {table} SET created_at = '2020-01-01T00:00:00+00:00'")

    def rows(table: str) -> int:
        with connected(home) as connection:
            return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def heard_of(moment: float) -> None:
        with connected(home) as connection:
            connection.execute("UPDATE playground_answers SET state = 'streaming', beat_at = ?", [moment])

    kinds = ("--set", "runs=30d", "--set", "asks=7d", "--set", "submissions=7d", "--set", "cache=1d")
    assert cli("projects", "retention", PROJECT, *kinds).code == 0
    said = cli("projects", "retention", PROJECT, "--json").json
    assert said["days"] == {"runs": 30, "asks": 7, "submissions": 7, "cache": 1}
    heard_of(time.time() + 60)
    assert cli("retention", "--older-than", "90d", "--dry-run", "--json").json["asks"] == 0, "one is being answered"
    heard_of(time.time() - 3_600)  # its process is gone
    planned = cli("retention", "--older-than", "90d", "--dry-run", "--json").json
    assert [(run["run_id"], run["project"]) for run in planned["runs"]] == [(theirs, PROJECT)]
    assert (planned["asks"], planned["submissions"], planned["cached"]) == (1, 1, 1)
    before = {table: rows(table) for table in ("runs", "playground_asks", "submissions", "cache", "saved_plans")}
    assert before == {"runs": 2, "playground_asks": 1, "submissions": 1, "cache": 1, "saved_plans": 1}
    done = cli("retention", "--older-than", "90d", "--yes", "--json").json
    assert [run["run_id"] for run in done["runs"]] == [theirs]
    assert (done["asks"], done["submissions"], done["cached"]) == (1, 1, 1)
    assert {table: rows(table) for table in before} == {**dict.fromkeys(before, 0), "runs": 1, "saved_plans": 1}
    assert rows("playground_answers") == 0
    assert cli("show", mine).code == 0
    assert "set-retention" in cli("audit", "export").out


@pytest.mark.sqlite
def test_what_never_goes_stays_where_all_else_is_old(cli: Cli, home: Path) -> None:
    kept = proctor.evaluate("puzzles", models="demo/strong", limit=2).id
    aged(home, kept, 400)
    assert "never removed" in cli("projects", "retention", "local", "--set", "runs=never").out
    assert cli("retention", "--older-than", "90d", "--yes", "--json").json["runs"] == []
    assert "no times of its own" in cli("projects", "retention", "local", "--forget", "runs").out
    assert len(cli("retention", "--older-than", "90d", "--yes", "--json").json["runs"]) == 1


@pytest.mark.sqlite
def test_a_kind_that_there_is_not_is_a_mistake(cli: Cli) -> None:
    ended = cli("projects", "retention", "local", "--set", "run=90d")
    assert ended.code == 2
    assert "Did you mean 'runs'?" in ended.err
    assert cli("projects", "retention", "local", "--set", "runs").code == 2
    assert cli("projects", "retention", "local", "--set", "runs=soon").code == 2
    assert cli("projects", "retention", "nobody").code == 2


def test_a_worker_removes_daily_what_is_let_expire_and_nothing_where_nobody_says_so(home: Path) -> None:
    old, new = (proctor.evaluate("puzzles", models=model, limit=2).id for model in ("demo/strong", "demo/weak"))
    aged(home, old, 91)
    database, artifacts = new_database(home), FolderArtifacts(home / "artifacts")
    orphan = artifacts.put("orphan", b"nobody's")
    os.utime(artifacts.path_of(orphan), (1, 1))
    worker = SimpleNamespace(database=database, context=PlanContext(home, {}, artifacts=artifacts), retention_days=None)
    daily = SCHEDULE["apply_retention"]
    assert daily.period_seconds == 86_400

    def apply() -> object:
        return asyncio.run(daily.work(cast("Any", worker)))

    assert apply() == 0
    set_rules(database, LOCAL, {"runs": None}, [], by="ann")
    assert apply() == 0
    assert artifacts.exists(orphan)
    set_rules(database, LOCAL, {"runs": 100.0}, [], by="ann")
    assert apply() == 0
    assert not artifacts.exists(orphan), "what a killed process left is nobody's"
    worker.retention_days = 1.0
    assert apply() == 0, "what the project says wins"
    set_rules(database, LOCAL, {"runs": 90.0}, [], by="ann")
    assert apply() == 1
    assert [run.id for run in list_runs(database, limit=9)] == [new]
    database.dispose()
