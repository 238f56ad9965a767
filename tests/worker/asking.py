"""A process that asks a model as a worker does, until it is told to stop; used by the tests of shared limits.

python -m worker.asking REDIS_URL MODEL CONCURRENCY RPM SECONDS prints how many were answered and the round trips.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from engine.parts import trials
from proctor.domain.plan import Limits, ModelSpec
from proctor.engine.model_gate import ModelGate
from proctor.models.registry import create_model
from proctor.worker.redis_limits import RedisLimits


async def ask(url: str, name: str, concurrency: int, rpm: float | None, seconds: float) -> dict[str, int]:
    model = create_model(ModelSpec.model_validate(name), environment={"OPENAI_API_KEY": "k"}, folder=Path())
    limits = Limits(concurrency=concurrency, requests_per_minute=rpm, retries=0)
    shared = RedisLimits(url)
    await shared.start()
    of_run = shared.of_run("run", limits)
    stopping = asyncio.Event()
    gate = ModelGate(
        model, name, concurrency=concurrency, retries=0, timeout_seconds=60, stopping=stopping,
        observe=lambda _: None, rate=of_run.of(model), breaker=of_run.breaker_of(model),
    )  # fmt: skip
    source = trials(10**6, prefix=f"{os.getpid()}-")
    answered = 0

    async def work() -> None:
        nonlocal answered
        while not stopping.is_set():
            answer = await gate.ask(next(source))
            answered += answer is not None and answer.response is not None

    asyncio.get_running_loop().call_later(seconds, stopping.set)
    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(work())
    await shared.close()
    await model.close()
    return {"answered": answered, "round_trips": shared.round_trips}


if __name__ == "__main__":
    _, url, name, concurrency, rpm, seconds = sys.argv
    asked = ask(url, name, int(concurrency), float(rpm) or None, float(seconds))
    print(json.dumps(asyncio.run(asked)), flush=True)
