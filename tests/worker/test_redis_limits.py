"""What several processes ask of one model together, counted by the provider."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fakes.provider import FakeProvider
from proctor.domain.plan import Limits, ModelSpec
from proctor.engine.breaker import FAILURES_TO_OPEN
from proctor.models.registry import create_model
from proctor.worker.redis_limits import RedisLimits
from redis_server import RedisServer

TESTS = Path(__file__).parents[1]
Asking = subprocess.Popen[str]


@contextmanager
def asking(
    count: int, redis: RedisServer, provider: FakeProvider, concurrency: int, rpm: int, seconds: float
) -> Iterator[list[Asking]]:
    command = [sys.executable, "-m", "worker.asking", redis.url, f"openai/test?base_url={provider.url}/v1"]
    command += [str(concurrency), str(rpm), str(seconds)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(count)]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def ended(process: Asking) -> dict[str, Any]:
    out, _ = process.communicate(timeout=120)
    found: dict[str, Any] = json.loads(out)
    return found


def wait_for(provider: FakeProvider, more: int) -> None:
    """Until so many more requests have come."""
    wanted, until = len(provider.arrivals) + more, time.monotonic() + 60
    while len(provider.arrivals) < wanted:
        assert time.monotonic() < until, f"{len(provider.arrivals)} requests, not {wanted}"
        time.sleep(0.05)


def most_within(times: list[float], seconds: float) -> int:
    first, most = 0, 0
    for last, moment in enumerate(times):
        while times[first] < moment - seconds:
            first += 1
        most = max(most, last - first + 1)
    return most


def test_the_rate_holds_over_all_processes_in_every_window(redis: RedisServer) -> None:
    with (
        FakeProvider(latency_seconds=0.1) as provider,
        asking(3, redis, provider, concurrency=20, rpm=1_800, seconds=12) as processes,
    ):
        told = [ended(process) for process in processes]
        assert most_within(provider.arrivals, 10) <= 300 * 1.05
        assert provider.most_in_flight <= 20
        answered = sum(item["answered"] for item in told)
        assert answered == len(provider.arrivals) > 100  # of 240 that are allowed: a busy machine does less
        allowed = 1_800 / 60 * 12
        assert sum(item["round_trips"] for item in told) < allowed  # by the clock, however few a busy machine asks


def test_no_kill_nor_freeze_nor_loss_of_redis_lets_more_requests_in_flight(redis: RedisServer) -> None:
    with (
        FakeProvider(latency_seconds=0.03) as provider,
        asking(3, redis, provider, concurrency=7, rpm=0, seconds=150) as processes,
    ):
        killed, frozen, left = processes
        wait_for(provider, 50)
        killed.kill()
        wait_for(provider, 50)
        frozen.send_signal(signal.SIGSTOP)
        time.sleep(8)  # longer than its lease: the one that is left has all permits by now
        wait_for(provider, 50)
        frozen.send_signal(signal.SIGCONT)
        wait_for(provider, 100)
        redis.end()
        time.sleep(1)
        redis.wipe()
        redis.start()
        with asking(2, redis, provider, concurrency=7, rpm=0, seconds=12) as newcomers:  # the first 5 wait
            for process in newcomers:
                assert ended(process)["answered"] > 0
        wait_for(provider, 50)
        assert frozen.poll() is left.poll() is None
        assert provider.most_in_flight <= 7


def test_an_open_breaker_of_one_worker_is_news_to_the_others_and_so_is_its_end(redis: RedisServer) -> None:
    """Else each of them would ask a provider that is down until it has seen that for itself."""

    async def scenario() -> None:
        spec = ModelSpec.model_validate("openai/down?base_url=http://127.0.0.1:9/v1")
        model = create_model(spec, environment={}, folder=Path())
        workers = [RedisLimits(redis.url) for _ in range(2)]
        for worker in workers:
            await worker.start()
        limits = [worker.shared("run", Limits(concurrency=4), model) for worker in workers]
        stopping = asyncio.Event()
        for limit in limits:  # both have something in flight
            assert await limit.admit(1, stopping) is not None
        here, there = (worker.breaker(model) for worker in workers)
        for _ in range(FAILURES_TO_OPEN):
            here.failed()
        async with asyncio.timeout(30):
            while not there.is_open:
                await asyncio.sleep(0.02)
        assert not there.is_open_here
        here.succeeded()
        async with asyncio.timeout(30):
            while there.is_open:
                await asyncio.sleep(0.02)
        for worker in workers:
            await worker.close()
        await model.close()

    asyncio.run(scenario())
