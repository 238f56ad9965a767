"""`proctor delete`: a run goes, and what other runs refer to stays."""

from __future__ import annotations

import sqlite3
import sys
import threading
from pathlib import Path
from typing import Any

import orjson
import pytest

import proctor
from commands import Cli
from fakes.dialect import Ask, Reply
from fakes.provider import FakeProvider
from proctor.reports.figures import bytes_text, plural
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.schema import metadata
from stores.parts import connected


def counts(home: Path) -> dict[str, int]:
    """Rows of every table, after it was seen that none refers to one that is gone."""
    with connected(home) as connection:
        if isinstance(connection, sqlite3.Connection):  # a server sees to it itself
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        ours = [
            table.name for table in metadata.sorted_tables if table.name not in ("id_blocks", "models", "benchmarks")
        ]
        return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ours}


def whole(home: Path, *run_ids: str) -> list[int]:
    """The sizes of the artifacts with all responses of these runs; a file keeps none."""
    with connected(home) as connection:
        rows = [connection.execute("SELECT raw_data FROM runs WHERE id = ?", [one]).fetchone() for one in run_ids]
    return [FolderArtifacts(home / "artifacts").size(key) or 0 for (key,) in rows if key is not None]


def test_deleting_the_only_run_leaves_nothing(cli: Cli, home: Path) -> None:
    run = proctor.evaluate("puzzles", models=["demo/strong", "demo/weak"], limit=9, epochs=2)
    kept = whole(home, run.id)
    ended = cli("delete", run.id, "--yes")
    assert ended.code == 0
    room = f"{plural(len(kept), 'artifact')} ({bytes_text(sum(kept))} of files)"
    assert ended.out == f"Deleted run {run.id}: 36 responses, 9 samples, {room}.\n"
    assert set(counts(home).values()) == {0}
    assert cli("show", run.id).code == 2


def test_samples_that_another_run_was_asked_stay(cli: Cli, home: Path) -> None:
    first = proctor.evaluate("puzzles", models="demo/strong", limit=12)
    second = proctor.evaluate("puzzles", models="demo/weak", limit=5)
    shown = cli("show", second.id, "--json").json
    deleted = cli("delete", first.id, "--yes", "--json").json["deleted"]
    assert (deleted["responses"], deleted["samples"]) == (12, 7)
    assert counts(home)["samples"] == 5
    assert cli("show", second.id, "--json").json == shown
    assert len(list(proctor.open_run(second.id).results())) == 5


def test_artifacts_go_with_the_last_run_that_refers_to_them(cli: Cli, home: Path) -> None:
    runs = [proctor.evaluate("puzzles", models="demo/strong", limit=2) for _ in range(2)]
    kept = FolderArtifacts(home / "artifacts")
    shared, own = kept.put("a", b"shared"), kept.put("b", b"own, and larger")
    details = {runs[0].id: {"evidence": {"program": shared, "log": own}}, runs[1].id: {"evidence": {"program": shared}}}
    with connected(home) as connection:
        for run_id, value in details.items():
            connection.execute(
                "UPDATE scores SET details = ? WHERE response_id IN (SELECT responses.id FROM responses "
                "JOIN evaluations ON evaluations.id = evaluation_id WHERE run_id = ?)",
                [orjson.dumps(value).decode(), run_id],
            )
    all_responses = whole(home, runs[0].id)
    first = cli("delete", runs[0].id, "-y", "--json").json["deleted"]
    assert (first["artifacts"], first["artifact_bytes"]) == (1 + len(all_responses), 15 + sum(all_responses))
    assert kept.get(shared) == b"shared"
    assert not kept.path_of(own).exists()
    assert cli("delete", runs[1].id, "-y", "--json").json["deleted"]["artifacts"] == 1 + len(all_responses)
    assert not kept.path_of(shared).exists()


def test_without_a_terminal_it_must_be_said_that_nobody_is_asked(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    run = proctor.evaluate("puzzles", models="demo/strong", limit=1, name="precious")
    ended = cli("delete", "latest")
    assert ended.code == 2
    assert f"Delete run {run.id} (precious), completed, of " in ended.error
    assert "add --yes" in ended.error
    assert proctor.open_run().id == run.id


@pytest.mark.parametrize(("answer", "is_deleted"), [("y\n", True), ("n\n", False), ("", False)])
def test_at_a_terminal_it_is_asked(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, answer: str, is_deleted: bool, tmp_path: Path
) -> None:
    proctor.evaluate("puzzles", models="demo/strong", limit=1)
    path = tmp_path / "typed"
    path.write_text(answer)
    with path.open() as typed:
        monkeypatch.setattr(sys, "stdin", typed)
        monkeypatch.setattr(typed, "isatty", lambda: True, raising=False)
        ended = cli("delete", "latest")
    assert (ended.code == 0) is is_deleted
    assert (cli("runs", "--json").json == []) is is_deleted


def test_a_run_that_others_replay_is_named(cli: Cli) -> None:
    first = proctor.evaluate("puzzles", models="demo/strong", limit=1)
    second = proctor.evaluate("puzzles", models=f"replay/{first.id}", limit=1)
    ended = cli("delete", first.id, "--yes", "--json")
    assert ended.json["named_by"] == [second.id]
    assert f"Note: {second.id} cannot be resumed without it" in ended.err


def test_a_live_run_is_not_deleted(cli: Cli) -> None:
    permits = threading.Semaphore(1)
    started = threading.Event()

    def reply(ask: Ask) -> Reply:
        started.set()
        permits.acquire()
        return Reply(ask.text)

    with FakeProvider(reply=reply) as provider:
        run: Any = proctor.prepare("puzzles", models=f"openai/x?base_url={provider.url}/v1", limit=3, concurrency=1)
        thread = threading.Thread(target=run.execute)
        thread.start()
        started.wait()
        try:
            ended = cli("delete", run.id, "--yes")
        finally:
            permits.release(10)
            thread.join()
    assert ended.code == 1
    assert f"Run {run.id} is being executed." in ended.error
    assert len(list(run.results())) == 3
