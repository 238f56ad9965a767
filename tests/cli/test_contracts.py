"""What programs rely on: the JSON document, the export's rows, the exit codes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import orjson
import pytest

from commands import Cli
from fakes.faults import Faults
from fakes.provider import FakeProvider
from proctor.stores.database import Database

RUN_FIELDS = {"run_id", "status", "seconds", "evaluations"}
EVALUATION_FIELDS = {
    "model", "benchmark", "version", "trials", "scored", "invalid", "failed", "stopped", "cached", "metrics",
    "categories", "usage", "cost_usd", "latency_seconds",
}  # fmt: skip
ROW_FIELDS = {
    "run_id", "model", "benchmark", "sample_id", "epoch", "category", "input", "target", "response", "scores",
    "outcome", "cached", "latency_seconds", "usage", "cost_usd", "error",
}  # fmt: skip


def test_the_json_document_of_a_run_has_the_fields_programs_rely_on(cli: Cli) -> None:
    ended = cli("run", "puzzles", "-m", "demo/strong", "-m", "demo/weak", "--limit", 40, "--json")
    assert ended.code == 0
    document = ended.json
    assert document.keys() >= RUN_FIELDS
    assert document["status"] == "completed"
    assert [item["model"] for item in document["evaluations"]] == ["demo/strong", "demo/weak"]
    for item in document["evaluations"]:
        assert item.keys() >= EVALUATION_FIELDS
        assert item["trials"] == 40 == item["scored"] + item["invalid"] + item["failed"] + item["stopped"]
        accuracy = item["metrics"]["accuracy"]
        assert accuracy.keys() >= {"value", "stderr", "ci95", "n"}
        assert accuracy["ci95"][0] <= accuracy["value"] <= accuracy["ci95"][1]
        assert accuracy["n"] == 40
        assert sum(category["accuracy"]["n"] for category in item["categories"].values()) == 40
        assert item["usage"].keys() == {"input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens"}
        assert item["latency_seconds"].keys() >= {"p50", "p95"}


def test_show_prints_the_same_document_as_the_run_did(cli: Cli) -> None:
    ran = cli("run", "puzzles", "-m", "demo/weak", "--limit", 12, "--json").json
    shown = cli("show", ran["run_id"], "--json").json
    del ran["execution_seconds"], ran["problems"]  # of this execution, not of the run
    assert shown.pop("waiting_for") is None  # of the moment that it was shown
    assert shown == ran


def test_the_accuracy_can_be_recomputed_from_the_exported_rows(cli: Cli) -> None:
    accuracy = cli("run", "puzzles", "-m", "demo/weak", "--limit", 50, "--json").json["evaluations"][0]["metrics"]
    rows = [orjson.loads(line) for line in cli("export", "latest").out.splitlines()]
    values = [row["scores"]["puzzle"]["value"] for row in rows]
    assert len(values) == accuracy["accuracy"]["n"] == 50
    assert sum(values) / len(values) == pytest.approx(accuracy["accuracy"]["value"])


def test_an_exported_row_has_the_fields_programs_rely_on(cli: Cli, asked_model: str, home: Path) -> None:
    cli("run", "arithmetic", "-m", asked_model, "--limit", 3)
    ended = cli("export", "latest", "-f", "jsonl")
    assert ended.code == 0
    rows = [orjson.loads(line) for line in ended.out.splitlines()]
    assert len(rows) == 3
    for row in rows:
        assert row.keys() >= ROW_FIELDS
        assert row["model"] == "openai/test"
        assert row["epoch"] == 0
        assert row["usage"] == {"input_tokens": 11, "output_tokens": 7, "reasoning_tokens": 2, "cached_tokens": 3}
        assert row["latency_seconds"] > 0
        (score,) = row["scores"].values()
        assert score.keys() >= {"value", "answer", "reason"}
        assert (row["cached"], row["error"], row["cost_usd"]) == (False, None, None)


def test_a_cached_answer_is_flagged_and_left_out_of_latency(cli: Cli, asked_model: str, provider: FakeProvider) -> None:
    cli("run", "arithmetic", "-m", asked_model, "--limit", 5)
    (again,) = cli("run", "arithmetic", "-m", asked_model, "--limit", 5, "--json").json["evaluations"]
    assert provider.stats()["asked"] == 5
    assert again["cached"] == 5
    assert again["latency_seconds"] == {"p50": None, "p95": None}
    assert all(orjson.loads(line)["cached"] for line in cli("export").out.splitlines())
    (anew,) = cli("run", "arithmetic", "-m", asked_model, "--limit", 5, "--no-cache", "--json").json["evaluations"]
    assert anew["cached"] == 0
    assert provider.stats()["asked"] == 10


def test_the_numbers_of_a_second_scorer_carry_its_name(cli: Cli, home: Path) -> None:
    Path("two.jsonl").write_text('{"input": "Compute 1 + 1.", "target": "2"}\n')
    Path("two.yaml").write_text("name: two\ndataset: {source: two.jsonl}\nscorers: [numeric, includes]\n")
    ended = cli("run", "two.yaml", "-m", "demo/perfect", "--json", "--fail-under", "includes.accuracy=0")
    assert ended.code == 0
    assert list(ended.json["evaluations"][0]["metrics"]) == ["accuracy", "includes.accuracy"]


def test_a_benchmark_used_twice_says_which_part_is_which(cli: Cli, home: Path) -> None:
    Path("plan.yaml").write_text(
        "models: [demo/strong]\nbenchmarks:\n"
        "  - {benchmark: puzzles, where: {category: dates}, limit: 4}\n"
        "  - {benchmark: puzzles, where: {category: logic}, limit: 4}\n"
    )
    first, second = cli("run", "plan.yaml", "--json").json["evaluations"]
    assert first["selection"] == {"where": {"category": ["dates"]}, "limit": 4}
    assert second["selection"] == {"where": {"category": ["logic"]}, "limit": 4}
    shown = cli("show").out
    assert "puzzles (category=dates, limit=4)" in shown
    assert "puzzles (category=logic, limit=4)" in shown


def test_a_gate_that_passes_gives_0_and_one_that_fails_gives_1(cli: Cli) -> None:
    command = ("run", "puzzles", "-m", "demo/weak", "--limit", 30)
    assert cli(*command, "--fail-under", "accuracy=0.1").code == 0
    failed = cli(*command, "--fail-under", "accuracy=0.99", "--json")
    assert failed.code == 1
    assert failed.json["status"] == "completed"
    assert "demo/weak on puzzles: accuracy is" in failed.err
    assert "below 0.99" in failed.err
    assert cli("resume", "latest", "--fail-under", "accuracy=0.99").code == 1
    assert cli("resume", "latest", "--fail-under", "accuracy=0.1").code == 0


@pytest.mark.parametrize(("broken", "code"), [(5, 0), (6, 1)])
def test_a_run_most_of_whose_trials_failed_is_no_success(cli: Cli, home: Path, broken: int, code: int) -> None:
    """Numbers that rest on less than half of the questions should not turn a build green."""
    rows = [{"id": str(n), "input": f"{'bad' if n < broken else 'good'} {n}", "target": "7"} for n in range(10)]
    Path("some.jsonl").write_text("".join(orjson.dumps(row).decode() + "\n" for row in rows))
    Path("some.yaml").write_text(
        "name: some\ndataset: {source: some.jsonl}\nprompt: {user: '{{ input }}'}\nscorers: [includes]\n"
    )
    Path("mine.py").write_text(
        "def answer(text: str) -> str:\n    if 'bad' in text:\n        raise ValueError('no')\n    return '7'\n"
    )
    ended = cli("run", "some.yaml", "-m", "python/mine:answer", "--json")
    assert ended.code == code
    assert ended.json["status"] == "completed"
    assert ("6 of 10 trials failed, more than half" in ended.err) is bool(code)


def test_a_metric_that_could_not_be_measured_does_not_pass_a_gate(cli: Cli, home: Path) -> None:
    with FakeProvider(Faults(script=("400",))) as broken:
        model = f"openai/test?base_url={broken.url}/v1"
        ended = cli("run", "arithmetic", "-m", model, "--limit", 2, "--retries", 0, "--fail-under", "accuracy=0")
    assert ended.code == 1
    assert "accuracy could not be measured" in ended.err


def test_runs_are_listed_newest_first_as_json(cli: Cli) -> None:
    assert cli("runs", "--json").json == []
    for limit in (1, 2, 3):
        cli("run", "puzzles", "-m", "demo/strong", "--limit", limit, "--name", f"run {limit}")
    rows = cli("runs", "--json").json
    assert [row["name"] for row in rows] == ["run 3", "run 2", "run 1"]
    assert all(newer["created_at"] > older["created_at"] for newer, older in pairwise(rows))
    assert [row["trials"] for row in cli("runs", "-n", 2, "--json").json] == [3, 2]
    assert cli("runs", "--status", "failed", "--json").json == []


def test_a_dry_run_asks_nothing_and_writes_nothing(
    cli: Cli, asked_model: str, provider: FakeProvider, home: Path
) -> None:
    ended = cli("run", "puzzles", "-m", asked_model, "--limit", 7, "--epochs", 2, "--dry-run", "--json", "--seed", 3)
    assert ended.code == 0
    assert ended.json["dry_run"] is True
    assert (ended.json["trials"], ended.json["estimated_requests"], ended.json["seed"]) == (14, 14, 3)
    (item,) = ended.json["evaluations"]
    assert (item["samples"], item["epochs"], item["trials"], item["version"]) == (7, 2, 14, "1")
    assert item["endpoint"].startswith(f"{provider.url}/v1")
    assert provider.stats()["asked"] == 0
    assert not home.exists()


def test_a_dry_run_counts_every_turn_of_a_conversation(cli: Cli, home: Path) -> None:
    Path("talk.jsonl").write_text(
        '{"input": "1 + 1", "target": "2", "follow_ups": ["2 + 2", "3 + 3"]}\n'
        '{"input": "4 + 4", "target": "8", "follow_ups": []}\n'
    )
    Path("talk.yaml").write_text(
        "name: talk\ndataset: {source: talk.jsonl, fields: {follow_ups: follow_ups}}\nscorers: [numeric]\n"
    )
    ended = cli("run", "talk.yaml", "-m", "demo/strong", "--dry-run", "--epochs", 2, "--json")
    assert ended.code == 0, ended.err
    assert (ended.json["trials"], ended.json["estimated_requests"]) == (4, 8)


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (("benchmarks", "--json"), list), (("benchmarks", "show", "puzzles", "--json"), dict),
        (("benchmarks", "check", "dates", "--json"), dict), (("models", "--json"), list),
        (("models", "demo/strong?accuracy=0.5", "--json"), dict), (("doctor", "--json"), list),
        (("db", "upgrade", "--json"), dict),
    ],
)  # fmt: skip
def test_every_command_that_prints_data_can_print_one_json_document(
    cli: Cli, command: tuple[str, ...], kind: type
) -> None:
    ended = cli(*command)
    assert ended.code == 0, ended.err
    assert isinstance(ended.json, kind)
    assert ended.json


def test_an_option_that_means_the_same_is_explained_alike_in_every_command(cli: Cli) -> None:
    for command in ("run", "resume", "rescore"):
        shown = " ".join(cli(command, "--help").out.split())
        assert "--assume-price IN/OUT Dollars per million tokens for models without a known price." in shown


def test_a_run_that_is_cancelled_is_told_to_people_on_standard_error(cli: Cli, database: Database) -> None:
    from proctor.planning.plan_file import plan_from
    from proctor.runs.execute import submit
    from proctor.runs.resolve import PlanContext

    plan = plan_from({"models": ["demo/strong"], "benchmarks": ["arithmetic"]})
    execution = submit(plan, PlanContext(Path(), {}), database)
    ended = cli("cancel", "latest")
    assert (ended.code, ended.out) == (0, "")
    assert f"Run {execution.run_id} is stopping" in ended.error
