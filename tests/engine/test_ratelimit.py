"""How fast a model may be asked, by a clock that only moves when somebody waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import Cli
from engine.parts import EchoScorer, MemoryJournal, ScriptedModel, trials
from fakes.loopback import Exchange, Loopback
from fakes.provider import FakeProvider
from models.asking import ask, make
from proctor.domain.errors import PlanError
from proctor.domain.model import Allowance, ModelIdentity
from proctor.domain.response import RateState, Response, Usage
from proctor.engine.loop import ModelWork, Work, execute
from proctor.engine.ratelimit import RateLimit, RateLimits
from proctor.models.rates import read_rate


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def pause(self, seconds: float, stopping: asyncio.Event, changed: asyncio.Event) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def admissions(
    count: int, rpm: float | None, tpm: float | None = None, used: int | None = None, characters: int = 0
) -> tuple[list[float], Clock]:
    """When each of `count` requests was let through, in seconds from the start; each ends at once."""
    clock = Clock()

    async def go() -> list[float]:
        limit = RateLimit(rpm, tpm, clock=clock, pause=clock.pause)
        times = []
        for _ in range(count):
            set_aside = await limit.admit(characters, asyncio.Event())
            assert set_aside is not None
            times.append(clock.now - 1000.0)
            limit.settle(set_aside, None if used is None else Usage(used, 0), None)
        return times

    return asyncio.run(go()), clock


@given(st.floats(1, 6000), st.integers(2, 300))
def test_no_minute_sees_more_requests_than_allowed_and_a_seconds_worth(rpm: float, count: int) -> None:
    times, _ = admissions(count, rpm)
    for start in times:
        in_the_minute = sum(start <= time < start + 60 for time in times)
        assert in_the_minute <= rpm + max(1.0, rpm / 60) + 1e-6


@given(st.floats(1, 6000), st.integers(2, 300))
def test_no_allowance_is_wasted(rpm: float, count: int) -> None:
    times, _ = admissions(count, rpm)
    assert times[-1] <= (count - 1) * 60 / rpm + 1e-6


def test_one_pause_for_each_turn_and_no_busy_waiting() -> None:
    times, clock = admissions(11, 60)
    assert times == pytest.approx([float(second) for second in range(11)])
    assert len(clock.pauses) == 10


@given(st.floats(600, 600_000), st.integers(1, 5_000), st.integers(20, 100))
def test_tokens_that_were_used_are_waited_for(tpm: float, used: int, count: int) -> None:
    """The guess of no token at all is put right by each answer."""
    times, _ = admissions(count, None, tpm, used)
    allowed = tpm / 60 * times[-1] + max(1.0, tpm / 60)
    assert used * (count - 2) <= allowed + 1e-6


def test_the_first_guess_counts_the_prompt() -> None:
    times, _ = admissions(3, None, 600, None, characters=400)
    assert times == pytest.approx([0.0, 10.0, 20.0])


def test_those_who_wait_are_let_through_in_the_order_they_came() -> None:
    clock = Clock()

    async def go() -> list[int]:
        limit = RateLimit(60, clock=clock, pause=clock.pause)
        order: list[int] = []

        async def one(number: int) -> None:
            assert await limit.admit(0, asyncio.Event()) is not None
            order.append(number)

        await asyncio.gather(*(one(number) for number in range(20)))
        return order

    assert asyncio.run(go()) == list(range(20))


def test_nobody_waits_without_a_limit() -> None:
    times, clock = admissions(500, None, used=10**6)
    assert times[-1] == 0.0
    assert clock.pauses == []


def learned(state: RateState, others_in_flight: int = 0) -> Callable[[int], Awaitable[list[float]]]:
    """A limit that has heard `state`; gives the times at which further requests were let through."""

    async def go(count: int) -> list[float]:
        clock = Clock()
        limit = RateLimit(clock=clock, pause=clock.pause)
        for _ in range(others_in_flight):
            await limit.admit(0, asyncio.Event())
        first = await limit.admit(0, asyncio.Event())
        assert first is not None
        limit.settle(first, Usage(100, 0), state)
        times = []
        for _ in range(count):
            assert await limit.admit(400, asyncio.Event()) is not None
            times.append(clock.now - 1000.0)
        return times

    return go


def test_what_the_provider_says_is_left_is_used_up_and_no_more() -> None:
    times = asyncio.run(learned(RateState(3, 12.0))(5))
    assert times == [0.0, 0.0, 0.0, 12.0, 12.0]


def test_requests_in_flight_are_taken_off_what_is_left() -> None:
    times = asyncio.run(learned(RateState(3, 12.0), others_in_flight=2)(3))
    assert times == [0.0, 12.0, 12.0]


def test_tokens_left_are_used_up_and_no_more() -> None:
    times = asyncio.run(learned(RateState(tokens_left=250, tokens_reset_seconds=7.0))(4))
    assert times == [0.0, 0.0, 7.0, 7.0]


def test_a_quota_that_is_spent_for_hours_is_asked_for_after_ten_minutes() -> None:
    assert asyncio.run(learned(RateState(0, 8 * 3600.0))(2)) == [600.0, 600.0]
    assert asyncio.run(learned(RateState(tokens_left=0, tokens_reset_seconds=8 * 3600.0))(1)) == [600.0]


def test_news_wakes_those_who_wait() -> None:
    async def go() -> float:
        limit = RateLimit()
        slow = await limit.admit(0, asyncio.Event())
        first = await limit.admit(0, asyncio.Event())
        assert slow is not None
        assert first is not None
        limit.settle(first, None, RateState(1, 3600.0))
        waiting = asyncio.create_task(limit.admit(0, asyncio.Event()))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        limit.settle(slow, None, RateState(50, 3600.0))
        async with asyncio.timeout(10):
            assert await waiting is not None
        return 0.0

    asyncio.run(go())


def test_a_run_that_stops_waits_for_no_turn() -> None:
    async def go() -> None:
        stopping = asyncio.Event()
        limit = RateLimit(1)
        assert await limit.admit(0, stopping) is not None
        waiting = asyncio.create_task(limit.admit(0, stopping))
        await asyncio.sleep(0.01)
        stopping.set()
        async with asyncio.timeout(10):
            assert await waiting is None

    asyncio.run(go())


def test_a_lane_keeps_to_the_limit_with_many_in_flight() -> None:
    clock = Clock()
    sent: list[float] = []

    def act(text: str, _: int) -> Response:
        sent.append(clock.now)
        return Response(text, usage=Usage(5, 5))

    async def go() -> None:
        limit = RateLimit(600, clock=clock, pause=clock.pause)
        work = [ModelWork("m", ScriptedModel(act), [Work(1, trials(100), (EchoScorer(),))], 64, 0, 5, rate=limit)]
        await execute(work, MemoryJournal(), stopping=asyncio.Event(), observe=lambda _: None)

    asyncio.run(go())
    assert len(sent) == 100
    # Ten at once are a second's worth; the other ninety take nine seconds.
    assert max(sent) - 1000.0 == pytest.approx(9.0)


def test_requests_that_a_model_sends_on_its_own_are_made_up_for() -> None:
    clock = Clock()
    sent: list[float] = []

    def act(text: str, _: int) -> Response:
        sent.append(clock.now - 1000.0)
        return Response(text, turns=("a first try", "a second one"))

    async def go() -> None:
        limit = RateLimit(60, clock=clock, pause=clock.pause)
        work = [ModelWork("m", ScriptedModel(act), [Work(1, trials(3), (EchoScorer(),))], 1, 0, 5, rate=limit)]
        await execute(work, MemoryJournal(), stopping=asyncio.Event(), observe=lambda _: None)

    asyncio.run(go())
    assert sent == pytest.approx([0.0, 3.0, 6.0])


def spread(limit: RateLimit, clock: Clock, count: int = 4, used: int = 0) -> list[float]:
    """When each of several requests in a row is let through, in seconds from the first."""

    async def go() -> list[float]:
        times = []
        for _ in range(count):
            set_aside = await limit.admit(0, asyncio.Event())
            assert set_aside is not None
            times.append(clock.now)
            limit.settle(set_aside, Usage(used, 0), None)
        return [moment - times[0] for moment in times]

    return asyncio.run(go())


HOSTED = ("openai", "anthropic", "google", "openrouter", "huggingface", "ollama", "vllm", "completions")
KEYS = {
    "OPENAI_API_KEY": "k",
    "ANTHROPIC_API_KEY": "k",
    "GEMINI_API_KEY": "k",
    "OPENROUTER_API_KEY": "k",
    "HF_TOKEN": "k",
}
HERE = "base_url=http://127.0.0.1:1"


@pytest.mark.parametrize("provider", HOSTED)
def test_the_settings_of_a_hosted_model_are_limits_of_the_run(provider: str) -> None:
    clock = Clock()
    limits = RateLimits(clock=clock, pause=clock.pause)
    by_requests = limits.of(make(f"{provider}/m?{HERE}&rpm=30", KEYS))
    assert spread(by_requests, clock) == pytest.approx([0, 2, 4, 6])
    by_tokens = limits.of(make(f"{provider}/n?{HERE}&tpm=600", KEYS))
    assert spread(by_tokens, clock, used=100) == pytest.approx([0, 10, 20, 30])
    with pytest.raises(PlanError, match="'rpm' must be more than 0"):
        make(f"{provider}/m?{HERE}&rpm=0", KEYS)


@pytest.mark.parametrize(("flag", "setting", "seconds"), [(60, 30, 2), (30, 60, 2), (None, 30, 2), (30, None, 2)])
def test_the_stricter_of_flag_and_setting_holds(flag: float | None, setting: float | None, seconds: float) -> None:
    clock = Clock()
    limits = RateLimits(flag, clock=clock, pause=clock.pause)
    model = Keyed("a", "k", Allowance(requests_per_minute=setting))
    assert spread(limits.of(model), clock, 3) == pytest.approx([0, seconds, 2 * seconds])


@pytest.mark.parametrize("provider", HOSTED)
def test_a_model_and_a_judge_on_one_key_share_the_stricter_allowance(provider: str) -> None:
    clock = Clock()
    limits = RateLimits(clock=clock, pause=clock.pause)
    model, judge = (make(f"{provider}/m?{HERE}&rpm={rpm}", KEYS) for rpm in (60, 30))
    assert limits.of(model) is limits.of(judge)
    assert spread(limits.of(model), clock) == pytest.approx([0, 2, 4, 6])
    other = make(f"{provider}/m?{HERE}&rpm=60", dict.fromkeys([*KEYS, "VLLM_API_KEY", "OLLAMA_API_KEY"], "another"))
    is_keyed = provider != "ollama"
    assert (limits.of(other) is limits.of(model)) is not is_keyed


def test_a_wider_allowance_that_comes_later_widens_nothing() -> None:
    clock = Clock()
    limits = RateLimits(clock=clock, pause=clock.pause)
    narrow, wide = (Keyed("a", "k", Allowance(rate, 60 * rate)) for rate in (30.0, 600.0))
    assert limits.of(narrow) is limits.of(wide)
    assert spread(limits.of(wide), clock, 3) == pytest.approx([0, 2, 4])


def test_work_without_the_runs_limits_keeps_to_the_models_own() -> None:
    model = Keyed("a", "k", Allowance(requests_per_minute=0.001))

    async def go() -> None:
        stopping = asyncio.Event()
        model.act = lambda text, _: (asyncio.get_running_loop().call_later(0.05, stopping.set), Response(text))[1]
        work = [ModelWork("m", model, [Work(1, trials(3), (EchoScorer(),))], 3, 0, 5)]
        await execute(work, MemoryJournal(), stopping=stopping, observe=lambda _: None)

    asyncio.run(go())
    assert model.asked.total() == 1


def test_waiting_for_a_turn_takes_nothing_from_a_requests_time_and_is_no_fault(cli: Cli) -> None:
    """One request a second with two seconds for each: the last waits longer than that, and nobody fails."""
    with FakeProvider() as server:
        model = f"openai/m?base_url={server.url}&rpm=60"
        ended = cli(
            "run", "arithmetic", "-m", model, "--limit", 5, "--timeout", 2, "--retries", 0, "--concurrency", 5, "--json"
        )
    assert ended.code == 0, ended.err
    [evaluation] = ended.json["evaluations"]
    assert (evaluation["scored"], evaluation["failed"]) == (5, 0)


class Keyed(ScriptedModel):
    def __init__(self, name: str, account: str | None, allowance: Allowance = Allowance()) -> None:  # noqa: B008
        super().__init__()
        self.name, self.account, self.allowance = name, account, allowance

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity("p", self.name, "http://x", "1")


def test_a_limit_belongs_to_provider_key_and_model() -> None:
    limits = RateLimits(60)
    assert limits.of(Keyed("a", "k1")) is limits.of(Keyed("a", "k1"))
    assert limits.of(Keyed("a", "k1")) is not limits.of(Keyed("a", "k2"))
    assert limits.of(Keyed("a", "k1")) is not limits.of(Keyed("b", "k1"))


def test_two_keys_of_one_model_are_told_apart_without_showing_them() -> None:
    one, two = (make("openai/m?base_url=http://127.0.0.1:1", {"OPENAI_API_KEY": key}) for key in ("sk-one", "sk-two"))
    assert one.account != two.account  # type: ignore[attr-defined]
    assert "sk-one" not in one.account  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("headers", "state"),
    [
        (
            {"x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": "1s",
             "x-ratelimit-remaining-tokens": "149984", "x-ratelimit-reset-tokens": "6m0s"},
            RateState(59, 1.0, 149984, 360.0),
        ),
        ({"x-ratelimit-remaining-requests": "59"}, None),
        ({"x-ratelimit-remaining-requests": "many", "x-ratelimit-reset-requests": "1s"}, None),
        ({"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "soon"}, None),
        ({"anthropic-ratelimit-tokens-remaining": "7", "anthropic-ratelimit-tokens-reset": "2020-01-01T00:00:00Z"},
         RateState(None, None, 7, 0.0)),
        ({}, None),
    ],
)  # fmt: skip
def test_headers_are_read(headers: dict[str, str], state: RateState | None) -> None:
    assert read_rate(headers) == state


def test_an_adapter_passes_on_what_its_provider_says() -> None:
    async def answer(exchange: Exchange) -> None:
        left = {"X-RateLimit-Remaining-Requests": "4", "X-RateLimit-Reset-Requests": "250ms"}
        await exchange.reply_json(200, {"choices": [{"message": {"content": "x"}}]}, left)

    with Loopback(answer) as server:
        assert ask(make({"model": "openai/m", "base_url": server.url})).rate == RateState(4, 0.25)


def test_plain_completions_pass_on_what_their_provider_says() -> None:
    async def answer(exchange: Exchange) -> None:
        left = {"X-RateLimit-Remaining-Requests": "0", "X-RateLimit-Reset-Requests": "10m0s"}
        await exchange.reply_json(200, {"choices": [{"index": 0, "text": "x"}]}, left)

    with Loopback(answer) as server:
        assert ask(make({"model": "completions/m", "base_url": server.url})).rate == RateState(0, 600.0)


def test_a_provider_that_counts_is_never_asked_too_often(cli: Cli) -> None:
    """A real run against a server that allows five requests and says so: no request is turned away."""
    seen: dict[str, Any] = {"left": 5, "refused": 0, "asked": 0}

    async def answer(exchange: Exchange) -> None:
        seen["asked"] += 1
        if seen["left"] == 0:
            seen["refused"] += 1
            await exchange.reply_json(429, {"error": {"message": "slow down"}}, {"retry-after": "1"})
            return
        seen["left"] -= 1
        headers = {"x-ratelimit-remaining-requests": str(seen["left"]), "x-ratelimit-reset-requests": "300ms"}
        asyncio.get_running_loop().call_later(0.25, seen.__setitem__, "left", 5)
        await exchange.reply_json(200, {"choices": [{"message": {"content": "ANSWER: 7"}}]}, headers)

    with Loopback(answer) as server:
        ended = cli(
            "run", "arithmetic", "-m", f"openai/m?base_url={server.url}", "--limit", 20, "--concurrency", 1, "--json"
        )
    assert ended.code == 0, ended.err
    assert seen == {"left": seen["left"], "refused": 0, "asked": 20}


def test_a_plan_and_flags_set_the_limits(cli: Cli) -> None:
    Path("plan.yaml").write_text(
        "models: [demo/strong]\nbenchmarks: [{benchmark: arithmetic, limit: 2}]\nlimits: {requests_per_minute: 6000}\n"
    )
    shown = cli("run", "plan.yaml", "--max-tpm", 90_000, "--dry-run", "--json").json["limits"]
    assert (shown["requests_per_minute"], shown["tokens_per_minute"]) == (6000, 90_000)
    assert "it must be above 0" in cli("run", "plan.yaml", "--max-rpm", 0).error
    assert cli("run", "plan.yaml", "--json").code == 0
