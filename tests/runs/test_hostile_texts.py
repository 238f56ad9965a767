"""One answer, whatever it holds, neither ends a run nor takes other answers with it."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from commands import Ended, ended
from proctor.domain.run import RunStatus
from proctor.scorers.json_values import json_in
from proctor.stores.database import Database
from proctor.stores.runs import RunStore
from stores.parts import evaluation, new_run

MODELS = r"""
    from proctor.domain.response import Response, ToolCall, Usage

    HALF = "\ud800 half \0 \x1b[2J \x9b \u202e"

    class Silent(Exception):
        def __str__(self):
            raise ValueError(HALF)

    deep = []
    for _ in range(600):
        deep = [deep]

    def fine(text): return "Paris"
    def raises(text): raise ValueError(HALF)
    def silent(text): raise Silent
    def says(text): return HALF
    def whole(text):
        return Response("Paris", reasoning=HALF, tool_calls=(ToolCall(HALF, {HALF: [10**30, deep]}, HALF),),
                        files={HALF: b"\0"}, model=HALF, request_id=HALF, note=HALF)
    def enormous(text): return "é" * 10_000_000
    def unstorable(text): return Response("Paris", latency_seconds=object())
"""
SCORERS = r"""
    from proctor.domain.score import Score
    HALF = "\ud800 half \0 \x1b[2J \x9b \u202e"
    def marks(sample, response):
        return Score("marks", 1, answer=HALF, reason=HALF * 100_000, details={HALF: {"deep": 10**30, "set": {HALF}}})
    def fails(sample, response):
        raise ValueError(HALF)
"""
BENCHMARK = """
    name: capitals-of-two
    dataset: {source: rows.jsonl}
    scorers: [exact, "python://hostile_scorers:marks", "python://hostile_scorers:fails"]
    metrics: [accuracy]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hostile_models.py").write_text(dedent(MODELS))
    (tmp_path / "hostile_scorers.py").write_text(dedent(SCORERS))
    (tmp_path / "b.yaml").write_text(dedent(BENCHMARK))
    rows = [{"id": f"r{n}", "input": f"capital {n}?", "target": "Paris"} for n in range(3)]
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return tmp_path


def run(folder: Path, *arguments: str) -> Ended:
    return Ended(*ended(folder / "home", folder, *arguments))


@pytest.mark.parametrize("name", ["raises", "silent", "says", "whole", "enormous", "unstorable"])
def test_a_hostile_model_keeps_its_run_and_the_answers_of_others(folder: Path, name: str) -> None:
    models = ("-m", f"python/hostile_models:{name}", "-m", "python/hostile_models:fine")
    done = run(folder, "run", "b.yaml", *models, "--json", "--no-cache")
    assert "Traceback" not in done.err
    by_model = {item["model"]: item for item in done.json["evaluations"]}
    assert by_model["python/hostile_models:fine"]["scored"] == 3
    hostile = by_model[f"python/hostile_models:{name}"]
    assert hostile["failed"] == (3 if name in ("raises", "silent") else 0)
    for command in ("resume", "show", "samples"):
        again = run(folder, command, "latest")
        assert "Traceback" not in again.err
        assert not set("\x1b\x9b\u202e\0") & set(again.out + again.err)
    exported = run(folder, "export", "latest", "-f", "jsonl")
    assert exported.out.count("\n") == 6


def test_names_of_models_samples_and_categories_steer_neither_terminals_nor_pages(folder: Path) -> None:
    name = "a\u202eb\x9bc\x1b[2J"
    (folder / "names.jsonl").write_text(json.dumps({"id": name, "input": name, "target": name, "category": name}))
    benchmark = {"name": "names", "dataset": {"source": "names.jsonl"}, "scorers": ["exact"]}
    (folder / "c.yaml").write_text(json.dumps(benchmark))
    model = "python/hostile_models:says?label=x%E2%80%AEy%C2%9Bz"
    done = run(folder, "run", "c.yaml", "-m", model, "--no-cache")
    assert done.code == 0, done.err
    assert not set("\x1b\x9b\u202e\0\ud800") & set(done.out + done.err)
    for arguments in (
        ("show", "latest"),
        ("show", "latest", "--json"),
        ("runs",),
        ("samples", "latest"),
        ("report", "latest", "-f", "html"),
        ("report", "latest", "-f", "md"),
        ("export", "latest", "-f", "junit"),
        ("leaderboard",),
    ):
        said = run(folder, *arguments)
        assert "Traceback" not in said.err
        assert not set("\x1b\x9b\u202e\0\ud800") & set(said.out + said.err), arguments
    assert run(folder, "show", "latest", "--json").json["evaluations"][0]["model"] == "x\u202ey\x9bz"


def test_arguments_and_files_that_cannot_be_stored_are_mistakes(folder: Path) -> None:
    for arguments in (("show", "\udcff"), ("run", "b.yaml", "-m", "demo/\udcff")):
        said = run(folder, *arguments)
        assert (said.code, said.error) == (2, f"Error: The argument {arguments[-1]!a} is not UTF-8.")
    (folder / "plan.yaml").write_text('name: "a\\0b"\nmodels: [demo/strong]\nbenchmarks: [puzzles]\n')
    said = run(folder, "run", "plan.yaml")
    assert said.code == 2
    assert "plan.yaml:1: a text holds NUL" in said.error


def test_rows_that_cannot_be_stored_are_mistakes_of_the_data(folder: Path) -> None:
    (folder / "hostile_rows.py").write_text(
        "def nul(): return [{'id': 'a\\0', 'input': 'x', 'target': 'y'}]\n"
        "def half(): return [{'id': 'a', 'input': 'x', 'target': 'y', 'note': '\\ud800'}]\n"
    )
    for function, why in (("nul", "it holds a NUL character"), ("half", "it holds a value that is not JSON")):
        document = {
            "name": "rows",
            "dataset": {"source": f"python://hostile_rows:{function}"},
            "scorers": ["exact"],
        }
        (folder / "d.yaml").write_text(json.dumps(document))
        said = run(folder, "run", "d.yaml", "-m", "python/hostile_models:fine")
        assert said.code == 2
        assert why in said.error
    (folder / "rows.jsonl").write_text('{"id": "a\\ud800", "input": "x", "target": "y"}')
    said = run(folder, "run", "b.yaml", "-m", "python/hostile_models:fine")
    assert said.code == 2
    assert "it is not valid JSON" in said.error


def test_the_reason_of_a_run_and_its_events_can_be_stored(database: Database, tmp_path: Path) -> None:
    run_id, _ = new_run(database, evaluation(1), tmp_path)
    store = RunStore(database)
    store.add_event(run_id, "noted", {"\ud800": ["\0", 10**30]})
    store.finish(store.lease(run_id), RunStatus.FAILED, 1.0, "\ud800\0" + "x" * 100_000)
    assert (store.get(run_id).error or "").startswith("\ufffd\ufffdxxx")
    database.dispose()


def test_a_line_of_backticks_is_read_in_no_more_than_its_length() -> None:
    assert json_in("{}\n" + "`" * 2_000_000) == "{}"
