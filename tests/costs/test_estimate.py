"""What a plan will cost: estimated before, held against what it then cost."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from fakes.dialect import Ask, Reply
from fakes.provider import FakeProvider, solve
from models.pdfs import pdf
from proctor.costs.estimate import CostEstimate, pilot_plan, total_cost
from proctor.domain.plan import Plan
from proctor.planning.selection import select
from runs.arithmetic import write_benchmark

PRICED = ("--assume-price", "1/10", "--max-tokens", 100)


def varied(ask: Ask) -> Reply:
    """Answers of 5 to 60 tokens, decided by the prompt; four characters to a token."""
    tokens_in = max(1, len(ask.text) // 4 + 6)
    return Reply(solve(ask.text), input_tokens=tokens_in, output_tokens=random.Random(ask.text).randint(5, 60))


def dry_run(cli: Cli, model: str, *more: object) -> Any:
    ended = cli("run", "sums.yaml", "-m", model, *PRICED, "--dry-run", "--json", *more)
    assert ended.code == 0, ended.err
    return ended.json


def is_within(cost: dict[str, Any], actual: float) -> bool:
    low, high = cost["ci95_usd"]
    return bool(low <= actual <= high)


def test_without_history_the_interval_spans_what_is_possible(cli: Cli, home: Path, asked_model: str) -> None:
    write_benchmark(Path(), 50)
    document = dry_run(cli, asked_model)
    [evaluation] = document["evaluations"]
    low, high = evaluation["cost"]["ci95_usd"]
    assert high == pytest.approx(50 * (100 * 10 + 15) / 1e6, rel=0.05)
    assert 0 < low < high
    assert "answers of 0 to 100 tokens (max_tokens)" in evaluation["cost"]["basis"]
    assert "assumed: $1 in, $10 out" in evaluation["cost"]["basis"]
    assert document["cost"]["value_usd"] == evaluation["cost"]["value_usd"]
    assert document["pilot"] is None


def test_an_estimate_makes_no_database_and_asks_nobody(
    cli: Cli, home: Path, asked_model: str, provider: FakeProvider
) -> None:
    write_benchmark(Path(), 5)
    dry_run(cli, asked_model)
    assert not home.exists()
    assert provider.stats()["asked"] == 0


@pytest.mark.sqlite
def test_an_older_database_is_neither_upgraded_nor_touched(cli: Cli, home: Path, asked_model: str) -> None:
    write_benchmark(Path(), 5)
    home.mkdir()
    with closing(sqlite3.connect(home / "proctor.db")) as connection, connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        connection.execute("INSERT INTO alembic_version VALUES ('0001')")
    before = (home / "proctor.db").read_bytes()
    assert "no earlier run" in dry_run(cli, asked_model)["evaluations"][0]["cost"]["basis"]
    assert (home / "proctor.db").read_bytes() == before
    assert [path.name for path in home.iterdir()] == ["proctor.db"]


def test_earlier_answers_narrow_the_interval_and_it_holds_what_then_happens(cli: Cli) -> None:
    write_benchmark(Path(), 400)
    with FakeProvider(reply=varied) as provider:
        model = f"openai/sums?base_url={provider.url}/v1"
        wide = dry_run(cli, model)["cost"]
        assert cli("run", "sums.yaml", "-m", model, *PRICED, "--limit", 60, "--json").code == 0
        narrow = dry_run(cli, model)
        cost = narrow["evaluations"][0]["cost"]
        assert "answers as long as 60 earlier ones" in cost["basis"]
        assert cost["cached_trials"] == 60
        assert (cost["ci95_usd"][1] - cost["ci95_usd"][0]) < (wide["ci95_usd"][1] - wide["ci95_usd"][0]) / 5
        actual = cli("run", "sums.yaml", "-m", model, *PRICED, "--json").json["evaluations"][0]
        assert actual["cached"] == 60
        assert is_within(cost, actual["cost_usd"]), (cost, actual["cost_usd"])
        assert cost["value_usd"] == pytest.approx(actual["cost_usd"], rel=0.15)


def conversing(ask: Ask) -> Reply:
    """Answers of 50 tokens and 200 characters; all messages are counted, four characters to a token."""
    tokens_in = sum(len(message["content"]) // 4 + 6 for message in ask.body["messages"])
    return Reply("ANSWER: 1 ".ljust(200, "."), input_tokens=tokens_in, output_tokens=50, cached_tokens=0)


def write_talks(count: int) -> None:
    """Conversations of one to four turns."""
    more = [" And in one word? " * 12, "Why? " * 30, "Are you sure? " * 9]
    rows = [
        {"id": f"s{n}", "question": f"What is {n} + 1? " * 15, "answer": "1", "more": more[: n % 4]}
        for n in range(count)
    ]
    write_benchmark(Path(), 1)
    Path("sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    definition = Path("sums.yaml").read_text()
    Path("sums.yaml").write_text(definition.replace("target: answer", "target: answer, follow_ups: more"))


def test_each_turn_of_a_conversation_is_counted_with_all_that_was_said_before_it(cli: Cli) -> None:
    write_talks(40)
    with FakeProvider(reply=conversing) as provider:
        model = f"openai/sums?base_url={provider.url}/v1"
        document = dry_run(cli, model)
        cost = document["evaluations"][0]["cost"]
        assert document["estimated_requests"] == 100
        assert "conversations of 2.5 turns" in cost["basis"]
        some = cli("run", "sums.yaml", "-m", model, *PRICED, "--limit", 20, "--json").json["evaluations"][0]
        known = dry_run(cli, model, "--no-cache")["evaluations"][0]["cost"]
        assert "answers as long as 20 earlier ones" in known["basis"]
        actual = cli("run", "sums.yaml", "-m", model, *PRICED, "--no-cache", "--json").json["evaluations"][0]
        assert some["usage"]["input_tokens"] < actual["usage"]["input_tokens"]
        # The middle of 0 to 100 tokens is what this model answers, so the estimate can be held against the bill.
        assert cost["value_usd"] == pytest.approx(actual["cost_usd"], rel=0.05)
        assert is_within(cost, actual["cost_usd"])
        assert known["value_usd"] == pytest.approx(actual["cost_usd"], rel=0.15)
        assert is_within(known, actual["cost_usd"])


def test_answers_of_a_conversation_may_each_be_as_long_as_max_tokens(cli: Cli) -> None:
    write_talks(4)
    with FakeProvider(reply=lambda ask: replace(conversing(ask), output_tokens=100)) as provider:
        model = f"openai/sums?base_url={provider.url}/v1"
        cost = dry_run(cli, model)["cost"]
        for _ in range(2):  # once without history, once with
            actual = cli("run", "sums.yaml", "-m", model, *PRICED, "--no-cache", "--json").json["evaluations"][0]
            assert is_within(cost, actual["cost_usd"]), (cost, actual["cost_usd"])
            cost = dry_run(cli, model, "--no-cache")["cost"]


def estimate_of(cli: Cli, question: str, file: str | None = None) -> dict[str, Any]:
    """The estimate of ten such questions, without history."""
    write_benchmark(Path(), 1)
    rows = [{"id": str(n), "question": question, "answer": "1", "file": file} for n in range(10)]
    Path("sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if file is not None:
        definition = Path("sums.yaml").read_text()
        Path("sums.yaml").write_text(definition.replace("target: answer", "target: answer, files: file"))
    cost: dict[str, Any] = dry_run(cli, "openai/x?base_url=http://127.0.0.1:9/v1")["evaluations"][0]["cost"]
    return cost


def test_prompts_are_measured_by_their_script(cli: Cli) -> None:
    english, chinese = estimate_of(cli, "w" * 2_600), estimate_of(cli, "中" * 2_600)
    answers = 100 / 2 * 10
    assert english["value_usd"] == pytest.approx(10 * (2_600 / 4 + 6 + answers) / 1e6, rel=0.01)
    assert chinese["value_usd"] == pytest.approx(10 * (2_600 / 1.3 + 6 + answers) / 1e6, rel=0.01)
    assert "about 4 Latin, 1.3 Chinese, Japanese or Korean and 2 other characters to a token" in chinese["basis"]
    assert "images" not in chinese["basis"]


def test_answers_on_another_benchmark_do_not_tell_how_these_prompts_are_cut_into_tokens(
    cli: Cli, asked_model: str
) -> None:
    write_benchmark(Path(), 10)
    definition = Path("sums.yaml").read_text()
    Path("others.yaml").write_text(definition.replace("name: sums", "name: others"))
    cli("run", "others.yaml", "-m", asked_model, *PRICED, "--no-cache")
    cost = dry_run(cli, asked_model)["evaluations"][0]["cost"]
    assert "about 4 Latin" in cost["basis"]
    cli("run", "sums.yaml", "-m", asked_model, *PRICED, "--no-cache")
    assert "characters to a token, as before" in dry_run(cli, asked_model)["evaluations"][0]["cost"]["basis"]


def test_pictures_and_pages_are_part_of_an_estimate(cli: Cli) -> None:
    Path("paper.pdf").write_bytes(pdf(["one", "two"]))
    plain, papers = estimate_of(cli, "What?"), estimate_of(cli, "What?", "paper.pdf")
    assert papers["value_usd"] - plain["value_usd"] == pytest.approx(10 * 2_000 / 1e6, rel=0.02)
    assert "images and pages of documents at about 1,000 tokens" in papers["basis"]


def test_a_little_is_not_shown_as_nothing(cli: Cli, asked_model: str) -> None:
    write_benchmark(Path(), 2)
    little = ("--assume-price", "0.01/0.02", "--max-tokens", 20)
    estimate = " ".join(cli("run", "sums.yaml", "-m", asked_model, *little, "--dry-run").out.split())
    ended = cli("run", "sums.yaml", "-m", asked_model, *little)
    for shown in (estimate, ended.out):
        assert "$0.0000 " not in shown
        assert "$0.0000," not in shown
        assert "$0.000000" in shown


def test_a_pilot_is_asked_for_real_kept_and_not_paid_for_twice(cli: Cli) -> None:
    write_benchmark(Path(), 200)
    with FakeProvider(reply=varied) as provider:
        model = f"openai/sums?base_url={provider.url}/v1"
        document = dry_run(cli, model, "--pilot", 30, "--epochs", 2)
        assert document["pilot"]["trials"] == provider.stats()["asked"] == 30
        assert document["pilot"]["cost_usd"] > 0
        cost = document["cost"]
        assert document["evaluations"][0]["cost"]["cached_trials"] == 30
        actual = cli("run", "sums.yaml", "-m", model, *PRICED, "--epochs", 2, "--json").json["evaluations"][0]
        assert provider.stats()["asked"] == 400
        assert actual["cached"] == 30
        assert is_within(cost, actual["cost_usd"]), (cost, actual["cost_usd"])


def test_everything_in_the_cache_costs_nothing(cli: Cli, asked_model: str) -> None:
    write_benchmark(Path(), 10)
    cli("run", "sums.yaml", "-m", asked_model, *PRICED)
    cost = dry_run(cli, asked_model)["cost"]
    assert (cost["value_usd"], cost["ci95_usd"]) == (0.0, [0.0, 0.0])
    assert dry_run(cli, asked_model, "--no-cache")["cost"]["value_usd"] > 0


def test_answers_with_other_options_are_told_apart(cli: Cli, asked_model: str) -> None:
    write_benchmark(Path(), 10)
    cli("run", "sums.yaml", "-m", asked_model, *PRICED, "--temperature", 1)
    assert "earlier ones with other options" in dry_run(cli, asked_model)["evaluations"][0]["cost"]["basis"]


def test_an_unknown_price_or_length_stays_unknown(cli: Cli, asked_model: str) -> None:
    write_benchmark(Path(), 10)
    free = cli("run", "sums.yaml", "-m", "demo/strong", "-m", asked_model, "--dry-run", "--json").json
    assert free["evaluations"][0]["cost"]["value_usd"] == 0.0
    assert free["evaluations"][1]["cost"] == {
        "value_usd": None, "ci95_usd": None, "cached_trials": 0, "basis": "the price is unknown",
    }  # fmt: skip
    assert free["cost"]["value_usd"] is None
    assert "1 of 2 evaluations cannot be estimated" in free["cost"]["basis"]
    unlimited = cli("run", "sums.yaml", "-m", asked_model, "--assume-price", "1/2", "--dry-run")
    assert "unknown" in unlimited.out
    assert "--pilot N finds out" in " ".join(unlimited.out.split())


def test_a_batch_is_estimated_at_half_the_price(cli: Cli, asked_model: str) -> None:
    write_benchmark(Path(), 10)
    whole, half = dry_run(cli, asked_model), dry_run(cli, asked_model, "--batch")
    assert half["cost"]["value_usd"] == pytest.approx(whole["cost"]["value_usd"] / 2)
    assert "times 0.5 (batch)" in half["evaluations"][0]["cost"]["basis"]


def test_the_terminal_shows_the_interval_and_what_it_rests_on(cli: Cli, asked_model: str) -> None:
    write_benchmark(Path(), 10)
    shown = " ".join(cli("run", "sums.yaml", "-m", asked_model, *PRICED, "--dry-run").out.split())
    assert "Estimated cost [95 % interval]:" in shown
    assert "openai/test on sums: $" in shown
    assert "No model was asked and nothing was written." in shown
    piloted = " ".join(cli("run", "sums.yaml", "-m", asked_model, *PRICED, "--dry-run", "--pilot", 3).out.split())
    assert "asked 3 trials for $" in piloted
    assert "Nothing was asked" not in piloted


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--pilot", 3), "--pilot needs --dry-run"),
        (("--pilot", 3, "--dry-run", "--no-cache"), "leave out --no-cache"),
    ],
)
def test_a_pilot_that_makes_no_sense_is_refused(cli: Cli, arguments: tuple[object, ...], reason: str) -> None:
    ended = cli("run", "arithmetic", "-m", "demo/strong", *arguments)
    assert ended.code == 2
    assert reason in ended.error


def test_a_pilots_samples_are_samples_of_the_run() -> None:
    plan = Plan.model_validate(
        {"models": ["demo/strong"], "benchmarks": ["arithmetic", {"benchmark": "dates", "limit": 4}]}
    )
    small = pilot_plan(plan, 9)
    assert [spec.limit for spec in small.benchmarks] == [9, 4]
    assert [spec.epochs for spec in small.benchmarks] == [1, 1]
    from proctor.benchmarks.registry import load_benchmark

    samples = load_benchmark(plan.benchmarks[0], seed=0, folder=Path()).samples
    chosen = {limit: {sample.id for sample in select(samples, {}, limit, 0)} for limit in (9, 40)}
    assert chosen[9] < chosen[40]


def test_totals_add_bounds_and_know_what_they_do_not_know() -> None:
    from decimal import Decimal

    one = CostEstimate(Decimal(2), Decimal(1), Decimal(4), "x", 3)
    both = total_cost([one, one])
    assert (both.value_usd, both.low_usd, both.high_usd, both.cached_trials) == (4, 2, 8, 6)
    assert total_cost([one, CostEstimate(None, None, None, "y")]).value_usd is None


@pytest.mark.untraced
def test_a_hundred_thousand_trials_are_looked_up_in_the_cache(cli: Cli, asked_model: str) -> None:
    rows = [{"id": str(n), "question": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(20_000)]
    write_benchmark(Path(), 1)
    Path("sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    cli("run", "sums.yaml", "-m", asked_model, *PRICED, "--limit", 5)
    cost = dry_run(cli, asked_model, "--epochs", 5)["cost"]
    assert cost["cached_trials"] == 5


def test_prompts_are_counted_in_the_models_own_tokens(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    write_benchmark(Path(), 20)
    found = {name: dry_run(cli, f"openai/{name}")["evaluations"][0]["cost"] for name in ("gpt-4o", "unheard-of")}
    assert "prompts counted in tokens of o200k_base" in found["gpt-4o"]["basis"]
    assert "prompts measured in characters" in found["unheard-of"]["basis"]
