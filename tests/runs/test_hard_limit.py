"""A cost limit is hard: what could cost more than is set aside is refused, and what may have been billed counts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from fakes.faults import Faults
from fakes.openrouter_dialect import OpenRouterChat
from fakes.provider import FakeProvider
from proctor.models.cost_limit import CANNOT_CHANGE_THE_COST
from runs.arithmetic import write_benchmark

PRICED = ("--max-tokens", 100, "--assume-price", "1/10", "--max-cost", 1)
DEAREST = 100 * 10e-6  # an answer of a hundred tokens, prompt not counted


@pytest.fixture
def sums(home: Path) -> None:
    write_benchmark(Path(), 1)


@pytest.mark.usefixtures("sums")
@pytest.mark.parametrize(("fault", "is_billed"), [("midstream-error", True), ("503", False), ("429", False)])
def test_an_error_within_an_answer_counts_in_full_and_a_refusal_for_nothing(
    cli: Cli, fault: str, *, is_billed: bool
) -> None:
    with FakeProvider(Faults((fault,), retry_after="0"), dialects=(OpenRouterChat(),)) as provider:
        model = f"openrouter/y?base_url={provider.url}/v1&stream=true"
        ended = cli("run", "sums.yaml", "-m", model, *PRICED, "--retries", 0, "--json")
        assert provider.stats()["asked"] == 1
    assert ended.json["evaluations"][0]["failed"] == 1
    assert (ended.json["unanswered_cost_usd"] > DEAREST) is is_billed


@pytest.fixture
def plan(sums: None, tmp_path: Path) -> Callable[..., Path]:
    """Write a plan with a cost limit that names this model, and perhaps a judge."""

    def write(model: Mapping[str, Any], judge: Mapping[str, Any] | None = None, **limits: Any) -> Path:
        benchmark = "sums.yaml"
        if judge is not None:
            benchmark = "judged.yaml"
            Path(benchmark).write_text(Path("sums.yaml").read_text().replace("numeric", "judge_rubric"))
        limits = limits or {"cost_usd": 1, "assume_price": "1/1"}
        document = {"models": [model], "benchmarks": [benchmark], "limits": limits}
        file = tmp_path / "work" / "plan.yaml"
        file.write_text(json.dumps(document if judge is None else {**document, "judge": judge}))
        return file

    return write


ALLOWED = {"user": "me", "logit_bias": {"50256": -100}, "chat_template_kwargs": {"enable_thinking": False}}


@pytest.mark.parametrize("provider_name", ["openrouter", "openai"])
def test_extra_fields_that_may_change_what_a_request_costs_are_refused_by_name(
    cli: Cli, plan: Callable[..., Path], provider: FakeProvider, provider_name: str
) -> None:
    model = {"model": f"{provider_name}/y", "base_url": f"{provider.url}/v1", "max_tokens": 5}
    refused = cli("run", plan({**model, "extra": {"n": 5, **ALLOWED, "max_tokens": 9999}}))
    assert refused.code == 2
    assert f"'extra' of {provider_name}/y holds max_tokens, n, which may change what a request costs" in refused.error
    assert "logit_bias" in refused.error.partition("may hold")[2]
    assert provider.stats()["asked"] == 0
    assert cli("run", plan({**model, "extra": ALLOWED})).code == 0
    sent = provider.requests[-1].json
    assert {name: sent[name] for name in ALLOWED} == ALLOWED
    assert cli("run", plan({**model, "extra": {"n": 5}}, concurrency=1)).code == 0, (
        "without a limit it is theirs to say"
    )


def test_a_judges_extra_fields_are_refused_too(cli: Cli, plan: Callable[..., Path], provider: FakeProvider) -> None:
    model = {"model": "openai/y", "base_url": f"{provider.url}/v1", "max_tokens": 5}
    refused = cli("run", plan(model, judge={**model, "extra": {"service_tier": "priority"}}))
    assert refused.code == 2
    assert "'extra' of the judge openai/y holds service_tier" in refused.error
    assert provider.stats()["asked"] == 0


FUNCTIONS = """
def deaf(prompt: str) -> str:
    return "ANSWER: 1"

def told(prompt: str, options: dict) -> str:
    assert options["max_tokens"] == 100
    return "ANSWER: 1"
"""
BODY = '{"q": {{ prompt | tojson }}%s}'


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("command/cat", "command/cat is a program, and nothing limits how much a program asks of others"),
        ("python/functions:deaf", "python/functions:deaf is a function that is not told max_tokens"),
        ("python/functions:told", None),
        ("http/?url=URL", None),
        ({"model": "http/", "url": "URL", "body": BODY % ""}, "is not told max_tokens: put {{ options.max_tokens }}"),
        ({"model": "http/", "url": "URL", "body": BODY % ', "max_tokens": 7'}, "is not told max_tokens"),
        ({"model": "http/", "url": "URL", "body": BODY % ', "t": {{ options.seed }}'}, "is not told max_tokens"),
        ({"model": "http/", "url": "URL", "body": BODY % ', "t": {{ options["seed"] }}'}, "is not told max_tokens"),
        ({"model": "http/", "url": "URL", "body": BODY % ', "m": {{ options.max_tokens }}'}, None),
        ({"model": "http/", "url": "URL", "body": BODY % ', "m": {{ options.get("max_tokens") }}'}, None),
        ({"model": "http/", "url": "URL", "body": BODY % ', "o": {{ options | tojson }}'}, None),
        ({"model": "http/", "url": "URL", "method": "GET"}, "is not told max_tokens"),
    ],
)
def test_a_model_that_is_never_told_max_tokens_is_refused(
    cli: Cli, plan: Callable[..., Path], model: str | dict[str, Any], words: str | None
) -> None:
    Path("functions.py").write_text(FUNCTIONS)
    with FakeProvider() as provider:
        text = json.dumps({"model": model} if isinstance(model, str) else model)
        spec = json.loads(text.replace("URL", f"{provider.url}/ask"))
        ended = cli("run", plan({**spec, "max_tokens": 100, "seed": 3}), "--dry-run")
        if words is None:
            assert ended.code == 0, ended.err
        else:
            assert ended.code == 2
            assert ended.error.count("The cost limit cannot be enforced") == 1
            assert words in ended.error
            assert cli("run", plan({**spec, "max_tokens": 100}, concurrency=1), "--dry-run").code == 0


def test_a_judge_that_is_never_told_max_tokens_is_refused(
    cli: Cli, plan: Callable[..., Path], provider: FakeProvider
) -> None:
    model = {"model": "openai/y", "base_url": f"{provider.url}/v1", "max_tokens": 5}
    refused = cli("run", plan(model, judge={"model": "command/cat", "max_tokens": 5}))
    assert refused.code == 2
    assert "the judge command/cat is a program" in refused.error
    assert provider.stats()["asked"] == 0


def test_fallbacks_have_prices_of_their_own(cli: Cli, plan: Callable[..., Path], provider: FakeProvider) -> None:
    model = {"model": "openrouter/y", "base_url": f"{provider.url}/v1", "max_tokens": 5, "fallbacks": ["dear/z"]}
    refused = cli("run", plan(model))
    assert refused.code == 2
    assert "openrouter/y may be answered by its fallbacks" in refused.error
    assert "dear/z" in refused.error
    assert provider.stats()["asked"] == 0
    assert cli("run", plan(model, concurrency=1)).code == 0
    assert cli("run", plan({**model, "fallbacks": []})).code == 0


def test_an_answer_that_does_not_say_what_it_cost_is_told_of_in_words_that_are_true(
    cli: Cli, plan: Callable[..., Path]
) -> None:
    Path("functions.py").write_text(FUNCTIONS)
    ended = cli("run", plan({"model": "python/functions:told", "max_tokens": 100}), "--json")
    assert ended.json["evaluations"][0]["scored"] == 1
    assert ended.json["unanswered_cost_usd"] > 0
    words = "on requests without an answer, or whose answers report no cost."
    assert words in " ".join(cli("show", "latest").out.split())


def test_the_documentation_lists_what_extra_may_hold() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "cost.md").read_text()
    [row] = [line for line in page.splitlines() if line.startswith("| `extra` ")]
    assert set(re.findall(r"`(\w+)`", row.partition("may hold only")[2])) == CANNOT_CHANGE_THE_COST
