"""What judges will cost: estimated before, held against what they then cost."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from fakes.dialect import Ask, Reply
from fakes.provider import FakeProvider

FORMAT = re.compile(r"^VERDICT ([0-9a-f]{16}): VALUE$", re.MULTILINE)
PRICED = ("--assume-price", "1/10")


def judged(ask: Ask) -> Reply:
    """Four characters to a token; replies of 20 to 90 tokens."""
    text = f"Well.\n\nVERDICT {FORMAT.findall(ask.text)[-1]}: 4"
    characters = sum(len(message["content"]) for message in ask.body["messages"])
    return Reply(text, input_tokens=characters // 4 + 12, output_tokens=random.Random(ask.text).randint(20, 90))


@pytest.fixture
def judge(home: Path) -> Iterator[FakeProvider]:
    rows = [{"id": f"q{n}", "input": f"Say {n} " + "please " * (n % 9), "target": str(n)} for n in range(60)]
    Path("open.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("open.yaml").write_text(
        "name: open\ndataset: {source: open.jsonl}\nprompt: {user: '{{ input }}'}\nscorers: [judge_rubric]\n"
    )
    Path("pairs.yaml").write_text(
        "name: pairs\ndataset: {source: open.jsonl}\nprompt: {user: '{{ input }}'}\nscorers: [judge_pairwise]\n"
    )
    Path("talk.py").write_text("def answer(prompt: str) -> str:\n    return 'Well, it is ' + prompt * 3\n")
    with FakeProvider(reply=judged) as provider:
        yield provider


def address(judge: FakeProvider, more: str = "") -> str:
    return f"openai/judge?base_url={judge.url}/v1{more}"


def arguments(judge: FakeProvider, *more: object, options: str = "&max_tokens=100") -> tuple[object, ...]:
    return (
        "run",
        "open.yaml",
        "-m",
        "python/talk:answer?cache=true",
        "--judge",
        address(judge, options),
        *PRICED,
        *more,
    )


def dry(cli: Cli, judge: FakeProvider, *more: object, options: str = "&max_tokens=100") -> Any:
    ended = cli(*arguments(judge, "--dry-run", "--json", *more, options=options))
    assert ended.code == 0, ended.err
    return ended.json


def cost_of_judge(document: Any) -> Any:
    [evaluation] = document["evaluations"]
    [part] = evaluation["judges"]
    assert (part["scorer"], part["judge"]) == ("judge_rubric", "openai/judge")
    return part["cost"]


def spent(document: Any) -> float:
    [evaluation] = document["evaluations"]
    [work] = evaluation["judges"]["judge_rubric"].values()
    return float(work["cost_usd"])


def test_without_history_answers_and_replies_span_what_is_possible(cli: Cli, judge: FakeProvider) -> None:
    document = dry(cli, judge, "--max-tokens", 50)
    cost = cost_of_judge(document)
    low, high = cost["ci95_usd"]
    assert low < cost["value_usd"] < high
    assert high > 60 * 100 * 10e-6
    assert "replies of 0 to 100 tokens (max_tokens)" in cost["basis"]
    assert "answers of 0 to 200 characters (max_tokens)" in cost["basis"]
    assert cost["basis"].startswith("assumed: $1 in, $10 out")
    assert judge.stats()["asked"] == 0
    actual = cli(*arguments(judge, "--json", "--max-tokens", 50)).json
    assert low <= spent(actual) <= high


def test_a_pilot_narrows_it_and_it_holds_what_then_happens(cli: Cli, judge: FakeProvider) -> None:
    wide = cost_of_judge(dry(cli, judge, "--max-tokens", 2_000))
    cost = cost_of_judge(dry(cli, judge, "--max-tokens", 2_000, "--pilot", 20))
    assert judge.stats()["asked"] == 20
    low, high = cost["ci95_usd"]
    assert high - low < (wide["ci95_usd"][1] - wide["ci95_usd"][0]) / 2
    assert cost["cached_trials"] == 20
    assert "20 verdicts are in the cache" in cost["basis"]
    actual = cli(*arguments(judge, "--json", "--max-tokens", 2_000)).json
    assert judge.stats()["asked"] == 60
    assert low <= spent(actual) <= high, (cost, spent(actual))
    assert cost["value_usd"] == pytest.approx(spent(actual), rel=0.2)


def test_everything_judged_before_costs_nothing(cli: Cli, judge: FakeProvider) -> None:
    cli(*arguments(judge))
    cost = cost_of_judge(dry(cli, judge))
    assert (cost["value_usd"], cost["ci95_usd"], cost["cached_trials"]) == (0.0, [0.0, 0.0], 60)
    assert cost_of_judge(dry(cli, judge, "--no-cache"))["value_usd"] > 0


def test_the_total_includes_the_judges_and_does_not_know_what_they_do_not(cli: Cli, judge: FakeProvider) -> None:
    known = cli(
        "run", "open.yaml", "-m", "demo/strong", "--max-tokens", 50, "--judge", address(judge, "&max_tokens=100"),
        *PRICED, "--dry-run", "--json",
    ).json  # fmt: skip
    assert known["cost"]["value_usd"] == known["evaluations"][0]["judges"][0]["cost"]["value_usd"] > 0
    assert known["cost"]["basis"] == "the sum of all evaluations and their judges"
    unlimited = dry(cli, judge, "--max-tokens", 50, options="")
    assert cost_of_judge(unlimited)["value_usd"] is None
    assert "the judge's replies" in cost_of_judge(unlimited)["basis"]
    assert unlimited["cost"]["value_usd"] is None
    assert "the answers" in cost_of_judge(dry(cli, judge))["basis"]


def test_a_comparison_asks_twice_and_costs_twice(cli: Cli, judge: FakeProvider) -> None:
    common = ("-m", "demo/strong", "--max-tokens", 50, "--judge", address(judge, "&max_tokens=100"), *PRICED)
    found = cli("run", "open.yaml", "pairs.yaml", *common, "--dry-run", "--json").json["evaluations"]
    once, twice = (item["judges"][0]["cost"]["value_usd"] for item in found)
    assert twice == pytest.approx(2 * once, rel=0.2)


def test_the_terminal_names_the_judge_and_its_cost(cli: Cli, judge: FakeProvider) -> None:
    shown = " ".join(cli(*arguments(judge, "--dry-run", "--max-tokens", 50)).out.split())
    assert re.search(r"judge openai/judge \(judge_rubric\): \$0\.\d+ \[\$0\.\d+, \$0\.\d+\]", shown)
    assert " total: " in shown


def test_a_judges_prompts_and_the_answers_in_them_are_measured_by_their_script(cli: Cli, judge: FakeProvider) -> None:
    def value(letter: str) -> float:
        rows = [{"id": f"q{n}", "input": letter * 1_300, "target": "x"} for n in range(5)]
        Path("open.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return float(cost_of_judge(dry(cli, judge, "--max-tokens", 1_000))["value_usd"])

    # The answers are as many tokens in any script: max_tokens says so; the question is not.
    assert value("中") - value("w") == pytest.approx(5 * 1_300 * (1 / 1.3 - 1 / 4) / 1e6, rel=0.02)
