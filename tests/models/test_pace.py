"""Keeping within a provider's allowance."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from fakes.loopback import Exchange, Loopback
from fakes.provider import FakeProvider
from models.asking import ask, make, prompt
from proctor.domain.errors import PlanError, RateLimitedError
from proctor.domain.response import Usage
from proctor.models.pace import Pace


def waits(pace: Pace, count: int) -> list[float]:
    """When each of several requests got its turn, in seconds from the start."""

    async def go() -> list[float]:
        started = time.monotonic()

        async def one() -> float:
            await pace.wait(60)
            return time.monotonic() - started

        return sorted(await asyncio.gather(*(one() for _ in range(count))))

    return asyncio.run(go())


def test_requests_go_out_no_faster_than_allowed() -> None:
    turns = waits(Pace("m", requests_per_minute=1200), 5)
    assert [turn >= 0.05 * n - 0.005 for n, turn in enumerate(turns)] == [True] * 5


def test_without_a_limit_nobody_waits() -> None:
    pace = Pace("m")
    pace.settle(Usage(10**9, 10**9), {})
    assert pace._next_at == 0.0


def test_tokens_used_put_the_next_request_off() -> None:
    pace = Pace("m", tokens_per_minute=6000)
    before = time.monotonic()
    pace.settle(Usage(20, 10), {})
    assert pace._next_at - before >= 0.3
    assert waits(pace, 1)[0] > 0


def test_an_allowance_the_provider_calls_used_up_is_waited_for() -> None:
    pace = Pace("m")
    before = time.monotonic()
    pace.settle(Usage(), {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m0s"})
    assert pace._next_at - before >= 60
    pace = Pace("m")
    pace.settle(Usage(), {"x-ratelimit-remaining-requests": "7", "x-ratelimit-reset-requests": "1m0s"})
    assert pace._next_at == 0.0


def test_a_turn_that_comes_too_late_is_a_rate_limit_with_the_wait() -> None:
    pace = Pace("m")
    pace.settle(Usage(), {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "90s"})
    with pytest.raises(RateLimitedError) as caught:
        asyncio.run(pace.wait(5))
    assert caught.value.retry_after_seconds is not None
    assert 80 < caught.value.retry_after_seconds <= 90


def test_a_model_asks_no_more_once_its_provider_says_so() -> None:
    asked: list[Any] = []

    async def last_one(exchange: Exchange) -> None:
        asked.append(exchange.request)
        headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "10m0s"}
        await exchange.reply_json(200, {"choices": [{"message": {"content": "x"}}]}, headers)

    async def go(url: str) -> None:
        model = make({"model": "openai/m", "base_url": url})
        try:
            await model.respond(prompt(), {}, timeout_seconds=5)
            with pytest.raises(RateLimitedError, match="openai/m waits for its allowance"):
                await model.respond(prompt(), {}, timeout_seconds=5)
        finally:
            await model.close()

    with Loopback(last_one) as server:
        asyncio.run(go(server.url))
    assert len(asked) == 1


def test_limits_are_settings_of_every_hosted_model() -> None:
    with FakeProvider() as server:
        given = {"model": "openai/m", "base_url": server.url, "rpm": "6000", "tpm": 1e9}
        assert ask(make(given)).text == "ANSWER: 7"
    with pytest.raises(PlanError, match="'rpm' must be more than 0"):
        make("ollama/m?rpm=0")
