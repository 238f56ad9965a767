"""Runs as logs of Inspect: its own reader takes them, and the figures are the same."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

import proctor
from commands import Cli
from frameworks import Framework, framework

READ = """
import json, sys
from inspect_ai.log import read_eval_log
log = read_eval_log(sys.argv[1])
print(json.dumps({
    "model": log.eval.model, "task": log.eval.task, "status": log.status, "epochs": log.eval.config.epochs,
    "declared": log.eval.dataset.samples, "packages": log.eval.packages,
    "samples": [{"id": one.id, "epoch": one.epoch, "target": one.target, "error": one.error and one.error.message,
                 "answer": one.output.completion, "tokens": one.output.usage and one.output.usage.total_tokens,
                 "roles": [message.role for message in one.messages],
                 "scores": {name: mark.value for name, mark in (one.scores or {}).items()}}
                for one in log.samples]}))
"""
ANSWERS = """
def answer(text):
    if "third" in text:
        raise ConnectionError("the line is dead")
    return "ANSWER: 1" if "first" in text else "no idea"
"""
BENCHMARK = """
name: small
dataset: {source: rows.jsonl}
scorers: [numeric]
prompt: {system: Be brief., user: "{{ input }}"}
"""


@pytest.fixture(scope="module")
def inspect(tmp_path_factory: pytest.TempPathFactory) -> Framework:
    return framework(tmp_path_factory, "inspect", "inspect-ai==0.3.285")


def test_inspect_reads_a_run_that_was_exported_and_so_do_we(cli: Cli, inspect: Framework) -> None:
    rows = [{"id": name, "input": f"the {name}?", "target": "1"} for name in ("first", "second", "third")]
    Path("rows.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    Path("small.yaml").write_text(BENCHMARK)
    Path("answers.py").write_text(ANSWERS)
    assert cli("run", "small.yaml", "-m", "python/answers:answer", "--epochs", "2", "--retries", "0").code in (0, 1)
    assert cli("export", "-f", "inspect", "--with", "prompt", "-o", "log.json").code == 0
    read = orjson.loads(inspect.run(READ, str(Path("log.json").absolute()), folder=Path.cwd()))
    samples = {(one["id"], one["epoch"]): one for one in read.pop("samples")}
    version = proctor.__version__
    expected = {"model": "python/answers:answer", "task": "small", "status": "success", "epochs": 2, "declared": 3}
    assert read == {**expected, "packages": {"proctor": version}}
    assert len(samples) == 6
    assert samples["first", 1]["scores"] == {"numeric": 1.0}
    assert samples["first", 2]["roles"] == ["system", "user", "assistant"]
    assert samples["second", 2]["scores"] == {"numeric": "N"}
    assert (samples["second", 1]["answer"], samples["second", 1]["target"]) == ("no idea", "1")
    assert "the line is dead" in samples["third", 1]["error"]
    assert samples["third", 1]["scores"] == {}
    run = cli("show", "--json").json
    log = orjson.loads(Path("log.json").read_bytes())
    assert log["eval"]["created"] == run["created_at"]
    assert run["created_at"] <= log["stats"]["started_at"] <= log["stats"]["completed_at"]
    [own] = run["evaluations"]
    [kept] = cli("import", "log.json", "--json").json
    [shown] = cli("show", kept["run_id"], "--json").json["evaluations"]
    assert shown["model"] == "imported/python/answers:answer"
    for name in ("trials", "scored", "invalid", "failed"):
        assert shown[name] == own[name], name
    assert shown["metrics"]["accuracy"]["value"] == own["metrics"]["accuracy"]["value"]


@pytest.mark.sqlite
def test_a_log_says_when_the_run_was_and_is_not_named_as_another_form(cli: Cli) -> None:
    cli("run", "puzzles", "-m", "demo/strong", "--limit", "2")
    refused = cli("export", "-f", "inspect", "-o", "log.eval")
    assert refused.code == 2
    assert "log.json" in refused.error
    assert not Path("log.eval").exists()
    cli("export", "-f", "inspect", "-o", "log.json")
    run = cli("show", "--json").json
    log = orjson.loads(Path("log.json").read_bytes())
    assert (log["eval"]["created"], log["status"]) == (run["created_at"], "success")
    assert run["created_at"] <= log["stats"]["started_at"] <= log["stats"]["completed_at"]


@pytest.mark.sqlite
def test_a_run_of_several_models_is_exported_one_by_one(cli: Cli) -> None:
    cli("run", "puzzles", "-m", "demo/strong", "-m", "demo/weak", "--limit", "3")
    refused = cli("export", "-f", "inspect")
    assert refused.code == 2
    assert "holds one model on one benchmark" in refused.error
    assert "demo/strong on puzzles, demo/weak on puzzles" in refused.error
    for model in ("demo/strong", "demo/weak"):
        log = cli("export", "-f", "inspect", "--model", model).json
        assert (log["eval"]["model"], len(log["samples"])) == (model, 3)
    assert len(cli("export", "--model", "demo/weak").out.splitlines()) == 3
    assert "Did you mean 'demo/weak'?" in cli("export", "--model", "demo/wek").error
    assert "leave out --all-attempts" in cli("export", "-f", "inspect", "--all-attempts").err
