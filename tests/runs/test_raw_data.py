"""A run's complete responses as one artifact."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

import proctor
from commands import Cli
from proctor.domain.artifacts import Artifacts
from proctor.runs.chunks.finish import keep_missing_raw_data
from proctor.runs.raw_data import RawDataStoppedError, keep_raw_data
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.runs import RunStore
from runs.arithmetic import wait_for
from runs.workers import accepted, workers
from stores.parts import new_database

AGENT = """
from proctor.domain.response import Response
def answer(prompt):
    return Response("done", files={"main.py": b"print(1)"})
"""


def kept(home: Path, run_id: str) -> tuple[str, list[dict[str, Any]]]:
    database = new_database(home)
    store: Artifacts = FolderArtifacts(home / "artifacts")
    try:
        key = keep_raw_data(database, run_id, store)
    finally:
        database.dispose()
    return key, [orjson.loads(line) for line in gzip.decompress(store.get(key)).splitlines()]


def test_the_rows_are_those_of_the_whole_export(cli: Cli, home: Path) -> None:
    run = proctor.evaluate("puzzles", models=["demo/strong", "demo/weak"], limit=30)
    key, rows = kept(home, run.id)
    said = cli("export", run.id, "--all-attempts", "--with", "prompt,metadata,choices,tags").out
    assert rows == [orjson.loads(line) for line in said.splitlines()]
    assert len(rows) == 60
    assert kept(home, run.id)[0] == key


def test_files_of_an_answer_are_there_with_their_contents(home: Path) -> None:
    Path("raw_data_agent.py").write_text(AGENT)
    run = proctor.evaluate("puzzles", models="python/raw_data_agent:answer", limit=1)
    _, (row,) = kept(home, run.id)
    assert row["response"] == "done"
    assert base64.b64decode(row["files"]["main.py"]["base64"]) == b"print(1)"


def test_a_server_has_it_of_every_completed_run_and_deleting_takes_it_along(
    cli: Cli, home: Path, database_engine: str
) -> None:
    run = proctor.evaluate("puzzles", models="demo/strong", limit=3)
    database, store = new_database(home), FolderArtifacts(home / "artifacts")
    key = RunStore(database).get(run.id).raw_data
    database.dispose()
    if database_engine == "sqlite":  # a file drops no month
        assert key is None
        return
    assert key is not None
    assert len(gzip.decompress(store.get(key)).splitlines()) == 3
    assert cli("delete", run.id, "--yes", "--json").json["deleted"]["artifacts"] == 1
    assert not store.exists(key)


@pytest.mark.usefixtures("cli")
def test_a_worker_that_is_lost_between_a_runs_end_and_its_artifact_leaves_that_to_others(
    home: Path, tmp_path: Path, database_engine: str
) -> None:
    if database_engine == "sqlite":
        pytest.skip("a file keeps none")
    database, artifacts = new_database(home), FolderArtifacts(home / "artifacts")
    run_id = accepted(database, tmp_path, home, models=["demo/strong"], benchmarks=["puzzles"])
    with workers(1, home, tmp_path):
        wait_for(lambda: RunStore(database).get(run_id).raw_data is not None, 120)
    key = RunStore(database).get(run_id).raw_data
    assert key is not None
    with database.connection() as connection:
        connection.execute("UPDATE runs SET raw_data = NULL")
    artifacts.delete(key)
    with pytest.raises(RawDataStoppedError):
        keep_raw_data(database, run_id, artifacts, lambda: False)
    assert not artifacts.exists(key)
    assert keep_missing_raw_data(database, artifacts) == 0, "whoever has just ended it may be at it"
    with database.connection() as connection:
        connection.execute("UPDATE queue SET finished_at = finished_at - 120")
    assert keep_missing_raw_data(database, artifacts) == 1
    assert RunStore(database).get(run_id).raw_data == key
    assert artifacts.exists(key)
    assert keep_missing_raw_data(database, artifacts) == 0
    database.dispose()
