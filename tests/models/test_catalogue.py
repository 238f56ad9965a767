"""What `proctor models` knows about one model, and the lists it keeps."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from fakes.loopback import Exchange, Loopback
from fakes.provider import FakeProvider
from proctor.domain.identity import digest
from proctor.domain.listed_models import ListedModel, ModelLists, ModelSource, StoredModelList
from proctor.domain.model import ModelIdentity
from proctor.domain.response import Usage
from proctor.models.listing import FRESH_SECONDS
from proctor.models.prices import ListedPrice, find_price, read_assumed
from proctor.stores.model_lists import LocatedModelLists

LIST = {
    "data": [
        {
            "id": "a/one",
            "context_length": 8192,
            "pricing": {"prompt": "0.00000015", "completion": "0.0000006"},
            "architecture": {"input_modalities": ["text", "image"]},
            "supported_parameters": ["max_tokens", "tools", "response_format"],
        },
        {"id": "b/two", "context_length": 4096},
    ]
}


class Catalogue:
    def __init__(self) -> None:
        self.asked = 0
        self.server = Loopback(self._handle)

    async def _handle(self, exchange: Exchange) -> None:
        self.asked += 1
        await exchange.reply_json(200, LIST)

    @property
    def provider(self) -> str:
        return f"openrouter?base_url={self.server.url}"


@pytest.fixture
def catalogue() -> Iterator[Catalogue]:
    made = Catalogue()
    with made.server:
        yield made


def kept_in(home: Path) -> ModelLists:
    return LocatedModelLists(f"sqlite:///{home / 'proctor.db'}")


def age(home: Path, seconds: float) -> None:
    with sqlite3.connect(home / "proctor.db") as connection:
        connection.execute("UPDATE model_lists SET fetched_at = ?", [time.time() - seconds])


def test_a_list_is_fetched_once_and_its_time_is_shown(cli: Cli, home: Path, catalogue: Catalogue) -> None:
    first = cli("models", "--list", catalogue.provider, "--json").json
    assert [item["name"] for item in first["models"]] == ["a/one", "b/two"]
    assert first["models"][0]["input_usd_per_million"] == "0.15"
    assert cli("models", "--list", catalogue.provider, "--json").json == first
    assert catalogue.asked == 1
    shown = cli("models", "--list", catalogue.provider).out
    assert datetime.fromtimestamp(first["fetched_at"], UTC).strftime("%Y-%m-%d %H:%M UTC") in shown
    assert "8,192" in shown
    assert catalogue.asked == 1


def test_a_list_is_fetched_again_after_a_day_or_on_request(cli: Cli, home: Path, catalogue: Catalogue) -> None:
    cli("models", "--list", catalogue.provider)
    cli("models", "--list", catalogue.provider, "--refresh")
    assert catalogue.asked == 2
    age(home, FRESH_SECONDS - 60)
    cli("models", "--list", catalogue.provider)
    assert catalogue.asked == 2
    age(home, FRESH_SECONDS + 60)
    cli("models", "--list", catalogue.provider)
    assert catalogue.asked == 3


def test_offline_an_old_list_will_do_and_none_is_fetched(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    missing = cli("models", "--list", "openai", "--offline")
    assert missing.code == 2
    assert "none is fetched offline" in missing.error
    from proctor.models.endpoint import HostedSettings
    from proctor.models.listing import _place

    endpoint, url, headers = _place("openai", {"OPENAI_API_KEY": "sk-x"}, HostedSettings())
    source = ModelSource("openai", endpoint.base_url, digest([url, headers]))
    kept_in(home).keep(source, StoredModelList((ListedModel("old-one"),), 1_700_000_000.0))
    shown = cli("models", "--list", "openai", "--offline", "--refresh")
    assert shown.code == 0, shown.err
    assert "old-one" in shown.out
    assert "2023-11-14" in shown.out


def one(cli: Cli, model: str, *more: str) -> Any:
    return cli("models", model, "--json", *more).json


def test_a_listed_model_has_context_price_and_limits(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    facts = one(cli, "openai/gpt-5-mini?rpm=500")
    assert facts["context_tokens"] == 400_000
    price = facts["price"]
    assert (price["input"], price["output"], price["cached"]) == ("0.25", "2", "0.025")
    assert price["source"].startswith("genai-prices ")
    assert "price changes up to 20" in price["source"]
    assert facts["limits"]["requests_per_minute"] == "500"
    assert facts["limits"]["requests_per_batch"] == 50_000
    assert set(facts["capabilities"].values()) == {None}, "nobody has said what this model can do"
    assert facts["listed_at"] is None
    # The rates shown are those that are charged.
    charged = ListedPrice("openai", "gpt-5-mini", "x").cost(Usage(1_000_000, 1_000_000))
    assert charged == Decimal(price["input"]) + Decimal(price["output"])
    text = cli("models", "openai/gpt-5-mini").out
    assert "$0.25 in, $2 out" in " ".join(text.split())


def test_what_a_model_can_do_is_unknown_until_its_provider_says_so(cli: Cli, catalogue: Catalogue) -> None:
    model = f"openrouter/a/one?base_url={catalogue.server.url}"
    assert set(one(cli, model)["capabilities"].values()) == {None}
    assert "capabilities: text; unknown: streaming, images" in " ".join(cli("models", model).out.split())
    cli("models", "--list", catalogue.provider)
    known = one(cli, model)["capabilities"]
    assert known == {
        "streaming": None, "images": True, "documents": False, "tools": True, "logprobs": False,
        "structured_output": False,
    }  # fmt: skip
    assert "capabilities: text, images, tools; unknown: streaming" in " ".join(cli("models", model).out.split())
    assert one(cli, f"{model}&images=false")["capabilities"]["images"] is False
    other = one(cli, f"openrouter/b/two?base_url={catalogue.server.url}")["capabilities"]
    assert set(other.values()) == {None}, "its list says nothing of this one"


def test_what_cannot_be_asked_for_is_no_capability_of_a_model(cli: Cli) -> None:
    assert set(one(cli, "demo/strong")["capabilities"].values()) == {False}
    assert one(cli, "vllm/any")["capabilities"]["documents"] is False


def test_what_the_provider_lists_is_told_with_its_date(cli: Cli, catalogue: Catalogue) -> None:
    model = f"openrouter/a/one?base_url={catalogue.server.url}"
    before = one(cli, model)
    assert (before["price"], before["context_tokens"], catalogue.asked) == (None, None, 0)
    cli("models", "--list", catalogue.provider)
    after = one(cli, model)
    today = datetime.now(UTC).date().isoformat()
    assert (after["price"]["input"], after["price"]["output"]) == ("0.15", "0.6")
    assert after["price"]["source"] == f"the provider's list of {today}"
    assert after["context_tokens"] == 8192
    assert catalogue.asked == 1


def test_the_price_that_is_shown_is_the_price_that_is_charged(cli: Cli, home: Path, catalogue: Catalogue) -> None:
    """First from the provider's list, then from a file, which wins over it."""
    model = f"openrouter/a/one?base_url={catalogue.server.url}"
    cli("models", "--list", catalogue.provider)
    for source in ("the provider's list of ", "prices.yaml of 2026-11-01"):
        price = one(cli, model)["price"]
        assert price["source"].startswith(source)
        ended = cli("run", "arithmetic", "-m", model, "--limit", 3, "--max-tokens", 100, "--dry-run", "--json")
        assert ended.code == 0, ended.err
        [evaluation] = ended.json["evaluations"]
        assert evaluation["cost"]["basis"].startswith(f"computed: {price['source']};")
        low, high = evaluation["cost"]["ci95_usd"]
        answers = 3 * 100 * float(price["output"]) / 1e6
        assert low < answers < high < answers * 1.5
        (home / "prices.yaml").write_text("openrouter/a/one: {input: 5, output: 50, date: 2026-11-01}\n")


def test_a_run_is_charged_what_the_provider_listed(cli: Cli, home: Path) -> None:
    listing = StoredModelList((ListedModel("a/one", None, "0.15", "0.6"),), time.time())
    with FakeProvider() as provider:
        model = f"openrouter/a/one?base_url={provider.url}/v1"
        unknown = cli("run", "arithmetic", "-m", model, "--limit", 3, "--json", "--no-cache").json["evaluations"][0]
        assert unknown["cost_usd"] is None
        kept_in(home).keep(ModelSource("openrouter", f"{provider.url}/v1", "x"), listing)
        known = cli("run", "arithmetic", "-m", model, "--limit", 3, "--json", "--no-cache").json["evaluations"][0]
        usage = known["usage"]
        paid = usage["input_tokens"] * 0.15e-6 + usage["output_tokens"] * 0.6e-6
        assert known["cost_usd"] == pytest.approx(paid)
        assert known["cost_basis"] == "computed"


OWN = ModelIdentity("openai", "gpt-5-mini", "https://api.openai.com/v1/chat/completions", "1")


def kept(lists: ModelLists, base_url: str, price: str, fetched_at: float = 1_700_000_000.0, key: str = "x") -> None:
    model = ListedModel(OWN.name, None, price, price, "1", "9", "4")
    lists.keep(ModelSource("openai", base_url, key), StoredModelList((model,), fetched_at))


def test_the_price_list_wins_over_what_a_provider_listed_and_that_over_what_is_assumed(tmp_path: Path) -> None:
    lists = kept_in(tmp_path)
    kept(lists, "https://api.openai.com/v1", "3")
    assert isinstance(find_price(OWN, None, read_assumed("1/2"), lists), ListedPrice)
    elsewhere = replace(OWN, endpoint="http://127.0.0.1:8000/v1/chat/completions")
    assert find_price(elsewhere, None, None, lists) is None, "another address has another list"
    kept(lists, "http://127.0.0.1:8000/v1", "5", key="y")
    price = find_price(elsewhere, None, read_assumed("1/2"), lists)
    assert price is not None
    assert price.basis == "computed: the provider's list of 2023-11-14"
    assert price.cost(Usage(2_000_000, 1_000_000)) == 15
    assert price.cost(Usage(2_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000)) == 1 + 9 + 4
    kept(lists, "http://127.0.0.1:8000/v1", "6", 1_700_000_001.0, key="z")
    newest = find_price(elsewhere, None, None, lists)
    assert newest is not None
    assert newest.cost(Usage(1_000_000, 0)) == 6


def test_a_prices_file_tells_its_date(cli: Cli, home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "prices.yaml").write_text("vllm/mine: {input: 0.5, output: 1.5, date: 2026-11-01}\n")
    price = one(cli, "vllm/mine")["price"]
    assert (price["input"], price["output"], price["source"]) == ("0.5", "1.5", "prices.yaml of 2026-11-01")


def test_what_is_known_here_is_told_without_a_key(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    facts = one(cli, "openai/gpt-5-mini")
    assert (facts["price"]["input"], facts["context_tokens"]) == ("0.25", 400_000)
    assert (facts["key_variable"], facts["has_key"]) == ("OPENAI_API_KEY", False)
    assert "key: OPENAI_API_KEY is not set" in cli("models", "openai/gpt-5-mini").out
    assert "key: MY_KEY is not set" in cli("models", "openai/gpt-5-mini?auth_variable=MY_KEY").out
    monkeypatch.setenv("MY_KEY", "sk-x")
    assert "key: MY_KEY is set" in cli("models", "openai/gpt-5-mini?auth_variable=MY_KEY").out
    assert "key: none needed" in cli("models", "demo/strong").out
    refused = cli("run", "arithmetic", "-m", "openai/gpt-5-mini", "--limit", 1)
    assert refused.code == 2
    assert "set the environment variable OPENAI_API_KEY" in refused.error


def test_an_agent_whose_key_is_not_set_is_not_asked_who_it_is(cli: Cli) -> None:
    facts = one(cli, "grpc/127.0.0.1:9?auth_variable=MY_KEY")
    assert facts["has_key"] is False
    assert "agent" not in facts
    assert "problem" in one(cli, "grpc/127.0.0.1:9")["agent"], "without a key to send, it is asked"


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ({}, "GEMINI_API_KEY is not set"),
        ({"GOOGLE_API_KEY": "x"}, "GOOGLE_API_KEY is set"),
        ({"GOOGLE_API_KEY": " "}, "GEMINI_API_KEY is not set"),
        ({"GEMINI_API_KEY": "x"}, "GEMINI_API_KEY is set"),
        ({"GEMINI_API_KEY": "x", "GOOGLE_API_KEY": "y"}, "GEMINI_API_KEY is set"),
    ],
)
def test_google_has_two_variables_and_the_one_that_is_used_is_shown(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, keys: dict[str, str], shown: str
) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    [google] = [item for item in cli("models", "--json").json if item["provider"] == "google"]
    assert f"{google['key_variable']} is {'set' if google['has_key'] else 'not set'}" == shown
    assert f"key: {shown}" in cli("models", "google/gemini-2.5-flash").out
    assert shown in " ".join(cli("doctor").out.split())


def test_what_nobody_knows_is_not_known(cli: Cli) -> None:
    facts = one(cli, "vllm/mine")
    assert (facts["price"], facts["context_tokens"]) == (None, None)
    assert "price: not known" in cli("models", "vllm/mine").out


def test_a_model_and_a_list_are_not_asked_for_together(cli: Cli) -> None:
    assert "not both" in cli("models", "demo/strong", "--list", "openai").error


def test_half_is_what_the_price_list_says_of_batches() -> None:
    """The discount that runs with --batch are given, held against the list for every model that it has."""
    from genai_prices.data import providers

    now, seen = datetime.now(UTC), 0
    for provider in providers:
        if provider.id not in ("openai", "anthropic"):
            continue
        for model in provider.models:
            for variant in model.price_variants or ():
                if variant.when != {"processing": "batch"}:
                    continue
                if variant.constraint is not None and not variant.constraint.active(now):
                    continue
                full, half = model.get_prices(now), variant.prices
                for name in ("input_mtok", "output_mtok"):
                    rates = [getattr(rate, "base", rate) for rate in (getattr(full, name), getattr(half, name))]
                    if None not in rates:
                        seen += 1
                        assert rates[1] == rates[0] / 2, (provider.id, model.id, name)
    assert seen > 20
