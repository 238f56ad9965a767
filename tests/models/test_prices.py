from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from hypothesis import given as given_any
from hypothesis import strategies as st
from msgspec.structs import replace

from proctor.batches.execute import batch_price
from proctor.domain.errors import PlanError
from proctor.domain.message import Message, Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.price import FREE, FlatPrice, Price, joint_kind
from proctor.domain.response import Usage
from proctor.engine.budget import most_it_can_cost
from proctor.models.price_file import FilePrice
from proctor.models.prices import find_price, read_assumed

OPENAI = ModelIdentity("openai", "gpt-5-mini", "https://api.openai.com/v1", "1")


def test_the_list_knows_well_known_models_and_says_where_it_comes_from() -> None:
    price = find_price(OPENAI, None, None)
    assert price is not None
    cost = price.cost(Usage(1_000_000, 0, None, 0))
    cached = price.cost(Usage(1_000_000, 0, None, 1_000_000))
    assert cost is not None
    assert cached is not None
    assert 0 < cached < cost
    assert price.source.startswith("genai-prices ")
    assert price.cost(Usage()) is None


@pytest.mark.parametrize(
    "identity",
    [
        ModelIdentity("openai", "gpt-5-mini", "http://127.0.0.1:8000/v1", "1"),
        ModelIdentity("openai", "no-such-model", "https://api.openai.com/v1", "1"),
        ModelIdentity("python", "module:function", None, "1"),
        ModelIdentity("http", "", "http://127.0.0.1/ask", "1"),
    ],
)
def test_an_unknown_price_is_unknown_not_zero(identity: ModelIdentity) -> None:
    assert find_price(identity, None, None) is None


def test_what_runs_here_costs_nothing() -> None:
    assert find_price(ModelIdentity("demo", "strong", None, "1"), None, None) is FREE


def test_a_file_wins_over_the_list_and_the_list_over_what_is_assumed(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("openai/gpt-5-mini: {input: 1, output: 2, cached: 0.5, date: 2026-11-01}\n")
    price = find_price(OPENAI, file, None)
    assert price is not None
    assert price.cost(Usage(1_000_000, 1_000_000, None, 0)) == Decimal(3)
    assert price.source == "prices.yaml of 2026-11-01"
    assumed = read_assumed("7/7")
    assert find_price(OPENAI, None, assumed) is not assumed
    assert find_price(ModelIdentity("openai", "x", "http://127.0.0.1/v1", "1"), file, assumed) is assumed


@pytest.mark.parametrize("text", ["1", "a/b", "1/2/3", "-1/2", "nan/1", ""])
def test_an_assumed_price_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="IN/OUT"):
        read_assumed(text)


@pytest.mark.parametrize("entry", ["{input: 1}", "{input: a, output: 2}", "3", "{input: 1, output: 2, outptu: 3}"])
def test_a_prices_file_with_a_mistake_is_refused(tmp_path: Path, entry: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(f"openai/gpt-5-mini: {entry}\n")
    with pytest.raises(PlanError, match=r"prices\.yaml"):
        find_price(OPENAI, file, None)


PUBLISHED = [
    # provider, model, host, dollars for a million tokens: input, output, read from the cache, written to it
    ("anthropic", "claude-sonnet-4-5", "api.anthropic.com", "3", "15", "0.30", "3.75"),
    ("anthropic", "claude-haiku-4-5", "api.anthropic.com", "1", "5", "0.10", "1.25"),
    ("openai", "gpt-5-mini", "api.openai.com", "0.25", "2", "0.025", "0.25"),
    ("google", "gemini-2.5-flash", "generativelanguage.googleapis.com", "0.30", "2.50", "0.03", "0.30"),
]


@pytest.mark.parametrize(("provider", "model", "host", "given", "made", "read", "written"), PUBLISHED)
def test_each_kind_of_token_is_billed_at_its_published_rate(
    provider: str, model: str, host: str, given: str, made: str, read: str, written: str
) -> None:
    price = find_price(ModelIdentity(provider, model, f"https://{host}/v1", "1"), None, None)
    assert price is not None
    thousand = 1_000

    def cost(usage: Usage) -> Decimal:
        found = price.cost(usage)
        assert found is not None
        return found * 1_000

    assert cost(Usage(thousand, 0)) == Decimal(given)
    assert cost(Usage(0, thousand)) == Decimal(made)
    assert cost(Usage(0, thousand, reasoning_tokens=900)) == Decimal(made), "reasoning is output, and in it already"
    assert cost(Usage(thousand, 0, cached_tokens=thousand)) == Decimal(read)
    assert cost(Usage(thousand, 0, cache_write_tokens=thousand)) == Decimal(written)
    parts = Usage(4 * thousand, thousand, cached_tokens=thousand, cache_write_tokens=2 * thousand)
    assert cost(parts) == sum(map(Decimal, (given, made, read, written, written)))


@pytest.mark.parametrize(("provider", "model", "host", "given", "made", "read", "written"), PUBLISHED)
def test_a_batch_costs_half_of_the_published_rates(
    provider: str, model: str, host: str, given: str, made: str, read: str, written: str
) -> None:
    price = batch_price(find_price(ModelIdentity(provider, model, f"https://{host}/v1", "1"), None, None))
    assert price is not None
    assert price.cost(Usage(1_000, 1_000)) == (Decimal(given) + Decimal(made)) / 2_000
    assert "batch" in price.basis


def test_a_file_may_name_the_rate_of_what_is_put_into_the_cache(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("openai/gpt-5-mini: {input: 1, output: 2, cached: 0.5, written: 1.25}\n")
    price = find_price(OPENAI, file, None)
    assert price is not None
    parts = Usage(3_000_000, 0, cached_tokens=1_000_000, cache_write_tokens=1_000_000)
    assert price.cost(parts) == Decimal("2.75")


def test_a_price_says_what_a_cost_reckoned_with_it_rests_on(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("openai/gpt-5-mini: {input: 1, output: 2, date: 2026-11-01}\n")
    listed, given, assumed = find_price(OPENAI, None, None), find_price(OPENAI, file, None), read_assumed("1/2")
    assert listed is not None
    assert given is not None
    assert re.fullmatch(r"computed: genai-prices [\d.]+ \(price changes up to \d{4}-\d\d-\d\d\)", listed.basis)
    assert given.basis == "computed: prices.yaml of 2026-11-01"
    assert assumed.basis == "assumed: $1 in, $2 out for a million tokens"
    assert FREE.basis == "free"
    assert joint_kind([listed.basis, given.basis]) == "computed"
    assert joint_kind([listed.basis, assumed.basis]) == joint_kind(["reported", None]) == "mixed"
    assert joint_kind([]) == joint_kind([None]) == "unknown"


def given(tmp_path: Path, entry: str) -> Price:
    file = tmp_path / "prices.yaml"
    file.write_text(f"openai/gpt-5-mini: {entry}\n")
    price = find_price(OPENAI, file, None)
    assert price is not None
    return price


@pytest.mark.parametrize("rate", ["-1", "-0.001", ".nan", ".inf", "-.inf", "true", "[1]", "null", "free"])
@pytest.mark.parametrize("field", ["input", "output", "cached", "written", "reasoning"])
def test_a_rate_that_is_no_amount_is_refused_with_its_place_and_value(tmp_path: Path, field: str, rate: str) -> None:
    rates = {"input": "1", "output": "2", field: rate}
    value = re.escape(repr(yaml.safe_load(rate)))
    with pytest.raises(PlanError, match=rf"prices\.yaml: openai/gpt-5-mini: {field} must be .* not {value}\."):
        given(tmp_path, "{" + ", ".join(f"{name}: {text}" for name, text in rates.items()) + "}")


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("{input: 1, output: 2, tiers: {above: 3}}", "tiers must be a list"),
        ("{input: 1, output: 2, tiers: [{input: 3}]}", "tier 1: above is missing"),
        ("{input: 1, output: 2, tiers: [{above: 0, input: 3}]}", "tier 1: above must be .* over 0, not 0"),
        ("{input: 1, output: 2, tiers: [{above: 1.5, input: 3}]}", "tier 1: above must be .* not 1.5"),
        ("{input: 1, output: 2, tiers: [{above: 9}, {above: 9}]}", "tier 2: above must be .* over 9, not 9"),
        ("{input: 1, output: 2, tiers: [{above: 9, input: -3}]}", "tier 1: input must be .* not -3"),
        ("{input: 1, output: 2, tiers: [{above: 9, output: 1}]}", "tier 1: output must be no less .* not 1"),
        ("{input: 1, output: 2, cached: 1.5}", "cached must be no more than input"),
        ("{input: 1, output: 2, batch: 0.5}", "batch: a price is written .* not 0.5"),
        ("{input: 1, output: 2, batch: {input: 1}}", "batch: output is missing"),
        ("{input: 1, output: 2, batch: {input: 1, output: .nan}}", "batch: output must be .* not nan"),
        ("{input: 1, output: 2, batch: {input: 1, output: 1, batch: {}}}", "batch: there is no field 'batch'"),
    ],
)
def test_a_mistake_in_tiers_or_batches_is_named(tmp_path: Path, entry: str, reason: str) -> None:
    with pytest.raises(PlanError, match=rf"prices\.yaml: openai/gpt-5-mini: {reason}"):
        given(tmp_path, entry)


def test_a_file_prices_long_prompts_by_tiers_that_hold_for_all_of_a_request(tmp_path: Path) -> None:
    price = given(
        tmp_path, "{input: 1, output: 2, cached: 0.5, tiers: [{above: 1000, input: 3}, {above: 5000, output: 10}]}"
    )
    assert price.cost(Usage(1_000, 1_000)) == Decimal("0.003")
    assert price.cost(Usage(1_001, 1_000)) == Decimal("0.005003")
    assert price.cost(Usage(5_000, 0, cached_tokens=5_000)) == Decimal("0.0025"), "what a tier leaves out stays"
    assert price.cost(Usage(10_000, 1_000)) == Decimal("0.04")
    assert price.cost(Usage(None, 3)) is None


def test_a_file_prices_reasoning_apart_from_the_rest_of_the_output(tmp_path: Path) -> None:
    price = given(tmp_path, "{input: 0, output: 8, reasoning: 3}")
    assert price.cost(Usage(0, 1_000_000)) == 8
    assert price.cost(Usage(0, 1_000_000, reasoning_tokens=400_000)) == Decimal("6.0")
    assert price.cost(Usage(0, 1_000_000, reasoning_tokens=9_000_000)) == 3, "no more reasoning than output"


def test_a_file_prices_batches_and_half_is_what_holds_without(tmp_path: Path) -> None:
    some = Usage(1_000_000, 1_000_000)
    named = batch_price(given(tmp_path, "{input: 1, output: 2, date: 2026-11-01, batch: {input: 0.1, output: 0.3}}"))
    assert named is not None
    assert named.cost(some) == Decimal("0.4")
    assert named.basis == "computed: prices.yaml of 2026-11-01, rates for batches"
    half = batch_price(given(tmp_path, "{input: 1, output: 2, tiers: [{above: 10, input: 3}]}"))
    assert half is not None
    assert half.cost(some) == Decimal("2.5")


@given_any(
    rates=st.lists(st.decimals(0, 100, places=2), min_size=5, max_size=5),
    steps=st.lists(st.integers(1, 500), max_size=3),
    length=st.integers(0, 300),
    used=st.tuples(*[st.floats(0, 1)] * 5),
)
def test_no_request_costs_more_than_is_reserved_for_it(
    rates: list[Decimal], steps: list[int], length: int, used: tuple[float, ...]
) -> None:
    """Whatever the file says, and whatever share of the tokens is cached, written or reasoning."""
    base = FlatPrice(*rates[:2], min(rates[2], rates[0]), written_per_million=rates[3], reasoning_per_million=rates[4])
    tiers = tuple(
        (sum(steps[: n + 1]), replace(base, input_per_million=rates[0] + n, output_per_million=rates[1] + n))
        for n in range(len(steps))
    )
    price = FilePrice(base, tiers)
    prompt, longest = Prompt((Message("user", "x" * length),)), 50
    tokens_in, tokens_out = int(length * used[0]), int(longest * used[1])
    cached = int(tokens_in * used[2])
    usage = Usage(
        tokens_in, tokens_out, int(tokens_out * used[3]), cached, int((tokens_in - cached) * used[4])
    )  # fmt: skip
    cost = price.cost(usage)
    assert cost is not None
    assert cost <= most_it_can_cost(prompt, {"max_tokens": longest}, price)
