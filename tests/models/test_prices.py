from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from proctor.domain.errors import PlanError
from proctor.domain.model import ModelIdentity
from proctor.domain.price import FREE
from proctor.domain.response import Usage
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
