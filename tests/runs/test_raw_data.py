"""A run's complete responses as one artifact."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path
from typing import Any

import orjson

import proctor
from commands import Cli
from proctor.domain.artifacts import Artifacts
from proctor.runs.raw_data import keep_raw_data
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.runs import RunStore
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
