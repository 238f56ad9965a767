"""Runs with --batch: half the price, the same results, and nothing lost or paid for twice."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from fakes.batches import BatchProvider
from fakes.provider import FakeProvider
from proctor.models.batching import BatchLimits
from proctor.models.batching_openai import OpenAIBatches
from runs.arithmetic import finish, kill, start, wait_for, write_benchmark
from stores.parts import connected

KEY = "sk-batch"


@pytest.fixture
def provider(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchProvider]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    write_benchmark(Path(), 40)
    with BatchProvider(key=KEY) as started:
        yield started


def model_of(provider: BatchProvider, kind: str) -> str:
    if kind == "openai":
        return f"openai/m?base_url={provider.url}/v1&auth_variable=OPENAI_API_KEY"
    return f"anthropic/m?base_url={provider.url}&auth_variable=ANTHROPIC_API_KEY"


BOTH = pytest.mark.parametrize("kind", ["openai", "anthropic"])


def run(cli: Cli, provider: BatchProvider, kind: str, *more: object) -> Any:
    return cli("run", "sums.yaml", "-m", model_of(provider, kind), "--batch", "--json", *more)


def batch_rows(home: Path) -> list[tuple[Any, ...]]:
    with connected(home) as connection:
        return connection.execute("SELECT remote_id, requests, ended_as FROM batches").fetchall()


@BOTH
def test_a_batch_gives_the_same_results_as_single_requests_at_half_the_price(
    cli: Cli, provider: BatchProvider, home: Path, kind: str
) -> None:
    batched = run(cli, provider, kind, "--assume-price", "1/10", "--max-tokens", 50)
    assert batched.code == 0, batched.err
    assert len(provider.batches) == 1
    assert set(provider.asked.values()) == {1}
    [evaluation] = batched.json["evaluations"]
    with FakeProvider(key=KEY) as single:
        model = f"openai/m?base_url={single.url}/v1&auth_variable=OPENAI_API_KEY"
        plain = cli("run", "sums.yaml", "-m", model, "--json", "--assume-price", "1/10", "--max-tokens", 50)
    [other] = plain.json["evaluations"]
    for name in ("trials", "scored", "invalid", "failed", "stopped", "metrics", "categories", "usage"):
        assert evaluation[name] == other[name], name
    assert evaluation["cost_usd"] == pytest.approx(other["cost_usd"] / 2)
    assert evaluation["cost_usd"] == pytest.approx(40 * (11 + 70) / 1_000_000 / 2)
    assert evaluation["latency_seconds"]["p50"] is None
    [(remote, requests, ended_as)] = batch_rows(home)
    assert (remote, requests) == (next(iter(provider.batches)), 40)
    assert ended_as in ("completed", "ended")
    with connected(home) as connection:
        assert connection.execute("SELECT count(*) FROM batch_trials").fetchone() == (0,)


@pytest.mark.parametrize("limits", [BatchLimits(4, 10**6), BatchLimits(100, 600), BatchLimits(100, 5)])
def test_batches_are_split_by_requests_and_by_bytes(
    cli: Cli, provider: BatchProvider, monkeypatch: pytest.MonkeyPatch, limits: BatchLimits
) -> None:
    monkeypatch.setattr(OpenAIBatches, "limits", limits)
    ended = run(cli, provider, "openai", "--limit", 10)
    assert ended.json["evaluations"][0]["scored"] == 10
    sent = [text.splitlines() for name, text in provider.files.items() if not name.endswith(("-out", "-err"))]
    assert sum(map(len, sent)) == 10
    for lines in sent:
        assert len(lines) <= limits.requests
        assert len(lines) == 1 or sum(map(len, lines)) <= limits.bytes
    for batch, (first, *_) in pairwise(sent):  # as few as the limits allow
        assert len(batch) == limits.requests or sum(map(len, batch)) + len(batch) + len(first) > limits.bytes


@BOTH
def test_trial_ids_are_the_custom_ids_and_the_options_are_sent(
    cli: Cli, provider: BatchProvider, home: Path, kind: str
) -> None:
    run(cli, provider, kind, "--temperature", 0, "--max-tokens", 9)
    [batch] = provider.batches.values()
    with connected(home) as connection:
        ids = {row[0] for row in connection.execute("SELECT trial_id FROM responses")}
    assert set(batch["asks"]) == ids
    for ask in batch["asks"].values():
        assert (ask.body["temperature"], ask.body["max_tokens"]) == (0, 9)
        assert "stream" not in ask.body


@BOTH
def test_partial_failures_fail_and_a_resume_asks_only_these_again(cli: Cli, provider: BatchProvider, kind: str) -> None:
    fates = {"What is 3 + 3?": "error", "What is 4 + 4?": "missing", "What is 5 + 5?": "unfinished"}
    provider.fate = lambda text: fates.get(text, "ok")
    provider.ends_as = "expired"
    ended = run(cli, provider, kind)
    assert ended.code == 0, ended.err
    [evaluation] = ended.json["evaluations"]
    assert (evaluation["scored"], evaluation["failed"]) == (37, 3)
    rows = [json.loads(row) for row in cli("export", "latest").out.splitlines()]
    errors = {row["input"]: row["error"] for row in rows if row["outcome"] == "failed"}
    assert set(errors) == set(fates)
    assert "without an answer" in errors["What is 4 + 4?"]
    provider.fate, provider.ends_as = (lambda _: "ok"), "completed"
    resumed = cli("resume", "latest", "--json")
    assert resumed.code == 0, resumed.err
    assert resumed.json["evaluations"][0]["scored"] == 40
    assert {text: count for text, count in provider.asked.items() if count > 1} == dict.fromkeys(fates, 2)
    assert [len(batch["asks"]) for batch in provider.batches.values()] == [40, 3]


def test_a_cancelled_batch_keeps_what_was_answered(cli: Cli, provider: BatchProvider) -> None:
    provider.ends_as = "cancelled"
    provider.fate = lambda text: "unfinished" if text < "What is 2" else "ok"
    [evaluation] = run(cli, provider, "openai").json["evaluations"]
    assert evaluation["failed"] > 0
    assert evaluation["scored"] == 40 - evaluation["failed"] > 0


def test_a_batch_that_is_refused_as_a_whole_says_why(cli: Cli, provider: BatchProvider) -> None:
    provider.ends_as = "failed"
    ended = run(cli, provider, "openai")
    assert ended.code == 1
    assert ended.json["evaluations"][0]["failed"] == 40
    assert "the batch was refused: The model does not exist" in ended.err


@BOTH
def test_answers_of_a_batch_are_kept_in_the_cache(cli: Cli, provider: BatchProvider, kind: str) -> None:
    run(cli, provider, kind)
    again = run(cli, provider, kind)
    assert again.json["evaluations"][0]["cached"] == 40
    assert len(provider.batches) == 1


def test_several_epochs_find_their_samples_again(cli: Cli, provider: BatchProvider) -> None:
    [evaluation] = run(cli, provider, "openai", "--epochs", 3, "--limit", 10).json["evaluations"]
    assert (evaluation["trials"], evaluation["scored"]) == (30, 30)
    assert evaluation["metrics"]["accuracy"]["value"] == 1.0


@BOTH
def test_killed_between_handing_in_and_collecting_the_same_batch_is_collected(
    tmp_path: Path, home: Path, provider: BatchProvider, kind: str
) -> None:
    provider.is_held = True
    process = start(home, Path(), "run", "sums.yaml", "-m", model_of(provider, kind), "--batch", "--json")
    wait_for(lambda: any("/batches/" in request.path for request in provider.requests))
    kill(process)
    assert len(provider.batches) == 1
    provider.release()
    code, out, err = finish(start(home, Path(), "resume", "latest", "--json"))
    assert code == 0, err
    assert json.loads(out)["evaluations"][0]["scored"] == 40
    assert len(provider.batches) == 1
    assert set(provider.asked.values()) == {1}


@BOTH
def test_killed_before_the_batchs_name_was_known_it_is_found_again(
    home: Path, provider: BatchProvider, kind: str
) -> None:
    """The answer to the order never arrived: the provider has the batch, and Proctor only its own note."""
    run_process = start(home, Path(), "run", "sums.yaml", "-m", model_of(provider, kind), "--batch", "--json")
    code, _, err = finish(run_process)
    assert code == 0, err
    with connected(home) as connection:
        # Back to the moment between the order and its answer.
        [(batch_id, evaluation_id)] = connection.execute("SELECT id, evaluation_id FROM batches").fetchall()
        trials = connection.execute("SELECT trial_id, epoch FROM responses ORDER BY id").fetchall()
        order = list(next(iter(provider.batches.values()))["asks"])
        connection.execute("UPDATE batches SET remote_id = NULL, ended_as = NULL")
        for trial, epoch in trials:
            row = [batch_id, trial, epoch, order.index(trial)]
            connection.execute("INSERT INTO batch_trials VALUES (?, ?, 0, ?, ?)", row)
        for table in ("scores", "bodies"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute("DELETE FROM responses WHERE evaluation_id = ?", [evaluation_id])
    code, out, err = finish(start(home, Path(), "resume", "latest", "--json"))
    assert code == 0, err
    assert json.loads(out)["evaluations"][0]["scored"] == 40
    assert len(provider.batches) == 1


@BOTH
def test_a_batch_whose_order_was_answered_by_silence_is_not_ordered_twice(
    cli: Cli, provider: BatchProvider, kind: str
) -> None:
    provider.faults = [("/batches", 0)]
    ended = run(cli, provider, kind)
    assert ended.code == 0, ended.err
    assert len(provider.batches) == 1
    assert ended.json["evaluations"][0]["scored"] == 40


@BOTH
def test_a_batch_that_never_arrived_is_ordered_again(cli: Cli, provider: BatchProvider, kind: str) -> None:
    provider.faults = [("/batches", 503), ("/batches", 429)]
    ended = run(cli, provider, kind)
    assert ended.code == 0, ended.err
    assert ended.json["evaluations"][0]["scored"] == 40
    assert set(provider.asked.values()) == {1}


def test_a_download_that_breaks_off_is_read_again(cli: Cli, provider: BatchProvider) -> None:
    provider.faults = [("/content", 0), ("/content", 500)]
    ended = run(cli, provider, "openai")
    assert ended.code == 0, ended.err
    assert ended.json["evaluations"][0]["scored"] == 40


def test_a_wrong_key_ends_the_run_and_nothing_is_noted_as_handed_in(
    cli: Cli, provider: BatchProvider, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-one")
    ended = run(cli, provider, "openai")
    assert ended.code == 1
    assert "Check the key in OPENAI_API_KEY" in ended.err
    assert batch_rows(home) == []
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert cli("resume", "latest", "--json").json["evaluations"][0]["scored"] == 40


HANDING_IN = pytest.mark.parametrize(
    ("kind", "path", "is_order"),
    [
        ("openai", "/v1/files", False),
        ("openai", "/v1/batches", True),
        ("anthropic", "/v1/messages/batches", True),
    ],
)


@HANDING_IN
def test_an_answer_of_unknown_form_ends_the_run_at_once_and_it_can_be_resumed(
    cli: Cli, provider: BatchProvider, home: Path, kind: str, path: str, is_order: bool
) -> None:
    provider.faults = [(path, 200)]
    ended = run(cli, provider, kind)
    assert (ended.code, ended.json["status"]) == (1, "failed")
    [line] = [line for line in ended.err.splitlines() if line.startswith("Error:")]
    assert f"failed: {kind}/m: what this server answered to POST {path} is not what a batch API says ({{" in line
    assert "Leave out --batch, or check base_url." in line
    assert {request.method for request in provider.requests} == {"POST"}
    # An order that was answered by nonsense may have been taken: only a resume finds out.
    assert [remote for remote, *_ in batch_rows(home)] == ([None] if is_order else [])
    resumed = cli("resume", "latest", "--json")
    assert resumed.code == 0, resumed.err
    assert resumed.json["evaluations"][0]["scored"] == 40
    assert set(provider.asked.values()) == {1}


@HANDING_IN
@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_server_without_a_batch_api_is_said_to_have_none(
    cli: Cli, provider: BatchProvider, home: Path, kind: str, path: str, is_order: bool, status: int
) -> None:
    provider.faults = [(path, status)]
    ended = run(cli, provider, kind)
    assert (ended.code, ended.json["status"]) == (1, "failed")
    assert f"failed: {kind}/m: this server has no batch API (HTTP {status} for POST {path})." in ended.err
    assert {request.method for request in provider.requests} == {"POST"}
    assert batch_rows(home) == []


@BOTH
def test_a_batch_that_nobody_can_find_again_ends_the_resumed_run_at_once(
    cli: Cli, provider: BatchProvider, kind: str
) -> None:
    order = "/v1/batches" if kind == "openai" else "/v1/messages/batches"
    provider.faults = [(order, 200)]
    run(cli, provider, kind)
    provider.faults = [(order, 200)]
    resumed = cli("resume", "latest", "--json")
    assert (resumed.code, resumed.json["status"]) == (1, "failed")
    assert f"answered to GET {order} is not what a batch API says" in resumed.err
    assert provider.batches == {}


def test_interrupted_while_waiting_the_batch_stays_with_the_provider(home: Path, provider: BatchProvider) -> None:
    import signal

    provider.is_held = True
    process = start(home, Path(), "run", "sums.yaml", "-m", model_of(provider, "openai"), "--batch", "--json")
    wait_for(lambda: any("/batches/" in request.path for request in provider.requests))
    os.kill(process.pid, signal.SIGINT)
    code, out, _ = finish(process)
    assert code == 130
    assert json.loads(out)["evaluations"][0]["stopped"] == 40
    provider.release()
    code, out, err = finish(start(home, Path(), "resume", "latest", "--json"))
    assert code == 0, err
    assert (len(provider.batches), json.loads(out)["evaluations"][0]["scored"]) == (1, 40)


def test_a_cost_limit_holds_for_batches_too(cli: Cli, provider: BatchProvider) -> None:
    """At half of 1/10 a request costs 0.0000405 dollars and may cost about 0.0003: some fit, and not all forty."""
    money = ("--assume-price", "1/10", "--max-tokens", 50)
    ended = run(cli, provider, "openai", *money, "--max-cost", "0.001")
    assert ended.code == 1
    [evaluation] = ended.json["evaluations"]
    assert ended.json["status"] == "cancelled"
    assert 0 < evaluation["cost_usd"] <= 0.001
    assert 0 < evaluation["scored"] == 40 - evaluation["stopped"] < 40
    assert len(provider.batches) > 1
    resumed = cli("resume", "latest", "--max-cost", "1", "--json")
    assert resumed.json["evaluations"][0]["scored"] == 40
    assert set(provider.asked.values()) == {1}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("-m", "demo/strong"), "demo/strong has no batch API"),
        (("-m", "ollama/x"), "ollama/x has no batch API: --batch works with anthropic and openai models"),
        (("-m", "openai/m?base_url=http://127.0.0.1:1", "--until", "ci<0.1"), "--until"),
    ],
)
def test_what_cannot_be_batched_is_refused_by_name(
    cli: Cli, home: Path, arguments: tuple[str, ...], reason: str
) -> None:
    write_benchmark(Path(), 3)
    ended = cli("run", "sums.yaml", "--batch", *arguments)
    assert ended.code == 2
    assert reason in ended.error
    assert not home.exists() or not (home / "proctor.db").exists() or cli("runs", "--json").json in ([], {"runs": []})


def test_a_conversation_cannot_be_batched(cli: Cli) -> None:
    Path("talk.jsonl").write_text('{"q": "Hello.", "more": ["And?"], "a": "Hi"}\n')
    Path("talk.yaml").write_text(
        "name: talk\ndataset: {source: talk.jsonl, fields: {input: q, target: a, follow_ups: more}}\n"
        "prompt: {user: '{{ input }}'}\nscorers: [{includes: {}}]\n"
    )
    ended = cli("run", "talk.yaml", "-m", "openai/m?base_url=http://127.0.0.1:1", "--batch")
    assert ended.code == 2
    assert "several turns" in ended.error
