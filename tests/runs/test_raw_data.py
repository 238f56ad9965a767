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
from proctor.stores.database import Database, open_database

AGENT = """
from proctor.domain.response import Response
def answer(prompt):
    return Response("done", files={"main.py": b"print(1)"})
"""


def kept(home: Path, run_id: str) -> tuple[str, list[dict[str, Any]]]:
    database: Database = open_database(f"sqlite:///{home / 'proctor.db'}")
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
