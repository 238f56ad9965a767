"""A project that has a row in every table where a project can have one, each with a word that can be found again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import orjson
from sqlalchemy import Boolean, Float, Integer, LargeBinary, Table

import proctor
from proctor.domain.chunk import ChunkState
from proctor.domain.documents.benchmark import BenchmarkDescription
from proctor.stores.archived_values import JSON_COLUMNS
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.database import Database
from proctor.stores.schema import metadata

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


def run(folder: Path, name: str, *questions: str) -> str:
    folder.mkdir(exist_ok=True)
    rows = [f'{{"id": "{one}", "question": "What is {one}?", "answer": "{one}"}}' for one in questions]
    (folder / "rows.jsonl").write_text("\n".join(rows))
    (folder / "bench.yaml").write_text(BENCHMARK.format(name=name))
    return proctor.evaluate(str(folder / "bench.yaml"), models="demo/weak", cache=False).id


def give_away(database: Database, run_id: str, artifacts: FolderArtifacts) -> None:
    """The run becomes the project's, and so does a row of every other table that a project's rows are in."""
    key = artifacts.put("canary", CANARY.encode())
    own = own_benchmark(artifacts, key)
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
        answer = connection.execute("SELECT id FROM responses WHERE project = ? ORDER BY id", [PROJECT]).fetchone()
        known = {
            "run_id": run_id,
            "evaluation_id": evaluation[0],
            "response_id": answer[0],
            "user_id": USER,
            "project": PROJECT,
        }
        for table in metadata.sorted_tables:
            if table.name not in OF_THE_SERVER | ANSWERED | {"projects"}:
                columns, values = row_of(table, {**known, **own} if table.name == "own_benchmarks" else known, key)
                connection.insert(table.name, columns, [values], "ON CONFLICT DO NOTHING")


def own_benchmark(artifacts: FolderArtifacts, data: str) -> dict[str, Any]:
    """The columns of a benchmark that somebody could have uploaded."""
    written = BENCHMARK.format(name=CANARY).replace("dataset", f"version: {CANARY}\ndataset", 1)
    files = {"bench.yaml": artifacts.put("bench.yaml", written.encode()), "rows.jsonl": data}
    described = BenchmarkDescription(
        name=CANARY, version=CANARY, description="", protocol="", licence=None, source=None, homepage=None, input="",
        tags={}, shots=None, variants={}, parameters={}, scorers={}, metrics=[], options={}, needs_sandbox=False,
        samples=None,
    )  # fmt: skip
    return {
        "entry": "bench.yaml",
        "files": orjson.dumps(files).decode(),
        "description": msgspec.json.encode(described).decode(),
    }


MOMENT = "2020-01-01T00:00:00+00:00"
CHECKED = {
    ("playground_votes", "best"): f'["{CANARY}"]',
    ("chunks", "state"): ChunkState.FINISHED.value,
    ("packings", "kind"): "words",
}
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
        elif column.name in fixed | known:
            values[column.name] = (fixed | known)[column.name]
        elif isinstance(column.type, Integer | Float):
            values[column.name] = 7
        elif isinstance(column.type, LargeBinary):
            values[column.name] = CANARY.encode()
        elif column.name.endswith(("at", "_at")):
            values[column.name] = MOMENT
        elif column.name in JSON_COLUMNS:
            values[column.name] = f'{{"note": "{CANARY}"}}'
        else:
            values[column.name] = CANARY  # keys and what refers to them alike
    return tuple(values), tuple(values.values())
