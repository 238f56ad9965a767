"""A cost limit is hard: what could cost more than is set aside is refused, and what may have been billed counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Cli
from fakes.faults import Faults
from fakes.openrouter_dialect import OpenRouterChat
from fakes.provider import FakeProvider
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
