"""Sampling options reach the provider exactly as they were written; those not given are not sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from fakes.provider import FakeProvider

pytestmark = pytest.mark.sqlite  # where results are kept makes no difference here

ALWAYS = {"model", "messages"}


def sent(provider: FakeProvider) -> dict[str, Any]:
    """The fields of the only request, those that every request has left out."""
    (request,) = provider.requests
    return {name: value for name, value in request.json.items() if name not in ALWAYS}


def sent_text(provider: FakeProvider) -> str:
    (request,) = provider.requests
    return request.body.decode()


def test_options_that_are_not_given_are_not_sent(cli: Cli, provider: FakeProvider, asked_model: str) -> None:
    cli("run", "arithmetic", "-m", asked_model, "--limit", 1)
    assert sent(provider) == {}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("--temperature", "0"), '"temperature":0,'),
        (("--temperature", "0.0"), '"temperature":0.0,'),
        (("--temperature", "0.7"), '"temperature":0.7,'),
        (("--top-p", "1"), '"top_p":1,'),
        (("--top-p", "0"), '"top_p":0,'),
    ],
)
def test_a_flag_is_sent_as_it_was_written(
    cli: Cli, provider: FakeProvider, asked_model: str, flags: tuple[str, str], expected: str
) -> None:
    assert cli("run", "arithmetic", "-m", asked_model, "--limit", 1, *flags).code == 0
    assert expected in sent_text(provider).replace("}", ",}")
    assert len(sent(provider)) == 1


def test_max_tokens_is_sent(cli: Cli, provider: FakeProvider, asked_model: str) -> None:
    cli("run", "arithmetic", "-m", asked_model, "--limit", 1, "--max-tokens", 17)
    assert 17 in sent(provider).values()
    assert len(sent(provider)) == 1


def test_options_in_the_model_string_win_over_flags(cli: Cli, provider: FakeProvider, asked_model: str) -> None:
    cli("run", "arithmetic", "-m", f"{asked_model}&temperature=0&seed=7", "--limit", 1, "--temperature", "0.9")
    assert sent(provider) == {"temperature": 0, "seed": 7}


def test_options_of_a_plan_are_sent_zero_and_lists_included(cli: Cli, provider: FakeProvider, asked_model: str) -> None:
    Path("plan.yaml").write_text(
        f"""
models:
  - model: {asked_model}
    temperature: 0
    top_p: 0.0
    presence_penalty: -0.5
    stop: END
    extra: {{min_p: 0.05, ignore_eos: false}}
benchmarks: [{{benchmark: arithmetic, limit: 1}}]
sampling: {{temperature: 1, frequency_penalty: 0}}
"""
    )
    ended = cli("run", "plan.yaml")
    assert ended.code == 0, ended.err
    assert sent(provider) == {
        "temperature": 0, "top_p": 0.0, "presence_penalty": -0.5, "frequency_penalty": 0, "stop": ["END"],
        "min_p": 0.05, "ignore_eos": False,
    }  # fmt: skip


def test_flags_win_over_a_plan_and_leave_the_rest_of_it(cli: Cli, provider: FakeProvider, asked_model: str) -> None:
    Path("plan.yaml").write_text(
        f"models: ['{asked_model}']\nbenchmarks: [{{benchmark: arithmetic, limit: 1}}]\n"
        "sampling: {temperature: 1, top_p: 0.5}\nlimits: {retries: 2, concurrency: 3}\nseed: 4\n"
    )
    document = cli(
        "run", "plan.yaml", "--temperature", 0, "--concurrency", 2, "--seed", 9, "--epochs", 2, "--dry-run", "--json"
    ).json
    assert document["evaluations"][0]["options"] == {"temperature": 0, "top_p": 0.5}
    assert (document["limits"]["concurrency"], document["limits"]["retries"]) == (2, 2)
    assert (document["seed"], document["trials"]) == (9, 2)


def test_a_benchmark_file_beside_a_plan_is_found_from_any_folder(cli: Cli) -> None:
    folder = Path("below")
    folder.mkdir()
    (folder / "data.jsonl").write_text('{"input": "Compute 1 + 1.", "target": "2"}\n')
    (folder / "mine.yaml").write_text("name: mine\ndataset: {source: data.jsonl}\nscorers: [numeric]\n")
    (folder / "plan.yaml").write_text("models: demo/strong\nbenchmarks: mine.yaml\n")
    assert cli("run", "below/plan.yaml").code == 0
    assert cli("resume", "latest").code == 0


def test_where_and_limit_choose_the_same_samples_every_time(cli: Cli, provider: FakeProvider, asked_model: str) -> None:
    flags = ("--where", "category=dates", "--where", "category=logic", "--limit", 6, "--no-cache")
    cli("run", "puzzles", "-m", asked_model, *flags, "--seed", 1)
    first = dict(provider.asked)
    cli("run", "puzzles", "-m", asked_model, *flags, "--seed", 1)
    assert {text: count * 2 for text, count in first.items()} == dict(provider.asked)
    cli("run", "puzzles", "-m", asked_model, *flags, "--seed", 2)
    assert set(first) != set(provider.asked)
    categories = {item["category"] for item in cli("samples", "--json", "-n", 50).json}
    assert categories == {"dates", "logic"}


def test_epochs_ask_each_sample_that_often(cli: Cli, provider: FakeProvider, asked_model: str) -> None:
    (item,) = cli("run", "dates", "-m", asked_model, "--limit", 3, "--epochs", 4, "--json").json["evaluations"]
    assert sorted(provider.asked.values()) == [4, 4, 4]
    assert (item["trials"], item["samples"], item["metrics"]["accuracy"]["n"]) == (12, 3, 3)


def test_concurrency_bounds_what_is_in_flight(cli: Cli) -> None:
    with FakeProvider(latency_seconds=0.02) as provider:
        cli("run", "puzzles", "-m", f"openai/x?base_url={provider.url}/v1", "--limit", 30, "--concurrency", 3)
        assert 1 <= provider.most_in_flight <= 3
