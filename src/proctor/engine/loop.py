"""The loop: pull trials through a cursor, leave out what is recorded, ask, record, score."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.event import Observer, TrialsSkipped
from proctor.domain.journal import Journal, Recorded
from proctor.domain.model import Model
from proctor.domain.price import Price
from proctor.domain.scorer import Scorer
from proctor.domain.tracing import begin_span, is_traced
from proctor.domain.trial import Answer, Trial
from proctor.engine.breaker import CircuitBreaker
from proctor.engine.budget import Budget
from proctor.engine.garbage_collection import relaxed_gc
from proctor.engine.limiter import AdaptiveLimit
from proctor.engine.model_gate import ModelGate
from proctor.engine.ratelimit import RequestLimit
from proctor.engine.recording import Recorder
from proctor.engine.trial_queue import TrialQueue


def _always() -> bool:
    return True


class Work(Struct, frozen=True):
    """The trials of one evaluation, still to be pulled."""

    evaluation_id: int
    trials: Iterator[Trial]
    scorers: tuple[Scorer, ...]
    is_wanted: Callable[[], bool] = _always
    """Asked before each request: False leaves out what was pulled but not sent."""


class ModelWork(Struct, frozen=True):
    """All that one model has to do, one evaluation after the other."""

    label: str
    model: Model
    work: Sequence[Work]
    concurrency: int
    retries: int
    timeout_seconds: float
    price: Price | None = None
    rate: RequestLimit | None = None
    """Shared with others that ask the same model with the same key; None for one of its own."""
    breaker: CircuitBreaker | None = None
    limit: AdaptiveLimit | None = None
    """How many requests may be in flight, as earlier work has learned; None for one of its own."""


async def execute(
    models: Sequence[ModelWork],
    journal: Journal,
    *,
    stopping: asyncio.Event,
    observe: Observer,
    budget: Budget | None = None,
) -> dict[str, str]:
    """Finish every trial that can be finished; gives the models that were given up, and why.

    Models run side by side and do not wait for each other. Setting `stopping` ends the run cleanly: requests in
    flight are finished and recorded, nothing new is sent.
    """
    scorers = {work.evaluation_id: work.scorers for model in models for work in model.work}
    gates = [
        ModelGate(
            model.model,
            model.label,
            concurrency=model.concurrency,
            retries=model.retries,
            timeout_seconds=model.timeout_seconds,
            stopping=stopping,
            observe=observe,
            price=model.price,
            budget=budget,
            rate=model.rate,
            breaker=model.breaker,
            limit=model.limit,
        )
        for model in models
    ]
    with relaxed_gc():
        async with Recorder(journal, scorers, observe) as recorder, asyncio.TaskGroup() as group:
            for model, gate in zip(models, gates, strict=True):
                group.create_task(_drive(model, gate, journal, recorder, observe))
    return {gate.label: gate.given_up for gate in gates if gate.given_up is not None}


async def _drive(model: ModelWork, gate: ModelGate, journal: Journal, recorder: Recorder, observe: Observer) -> None:
    ready = TrialQueue(model.concurrency)
    is_wanted = {work.evaluation_id: work.is_wanted for work in model.work}

    async def ask() -> None:
        while (trial := await ready.take()) is not None:
            if not is_wanted[trial.evaluation_id]():
                continue
            if is_traced():
                await _ask_traced(trial, gate, recorder)
            elif (answer := await gate.ask(trial)) is not None:
                await recorder.answered(answer)

    async with asyncio.TaskGroup() as group:
        for _ in range(model.concurrency):
            group.create_task(ask())
        for work in model.work:
            await _feed(work, gate, journal, recorder, ready, observe)
        await ready.add([None] * model.concurrency)


async def _ask_traced(trial: Trial, gate: ModelGate, recorder: Recorder) -> None:
    tracing = begin_span("trial", {"proctor.trial.id": trial.id, "proctor.sample.id": trial.sample.id})
    with tracing.current():
        answer = await gate.ask(trial)
        if answer is None:
            tracing.end()
        else:
            await recorder.answered(answer, tracing)


def _take(trials: Iterator[Trial], count: int) -> list[Trial]:
    return list(islice(trials, count))


async def _feed(
    work: Work,
    gate: ModelGate,
    journal: Journal,
    recorder: Recorder,
    ready: TrialQueue,
    observe: Observer,
) -> None:
    """Prepare trials a chunk at a time, off the event loop, and hand over those that must be asked."""
    while not gate.is_closed:
        chunk = await asyncio.to_thread(_take, work.trials, ready.next_chunk())
        if not chunk:
            return
        await ready.add(await unrecorded(chunk, work.evaluation_id, journal, recorder, observe))


async def unrecorded(
    chunk: list[Trial], evaluation_id: int, journal: Journal, recorder: Recorder, observe: Observer
) -> list[Trial]:
    """Leave out what is finished, score what is only recorded, answer from the cache what can be."""
    known = await journal.recorded(evaluation_id, [trial.id for trial in chunk])
    await _score_again(chunk, known, journal, recorder)
    finished = [item for item in known.values() if item.is_scored and not item.is_failed]
    if finished:
        observe(TrialsSkipped(evaluation_id, len(finished)))
    missing = [_next_attempt(trial, known.get(trial.id)) for trial in chunk]
    to_ask = [trial for trial in missing if trial is not None]
    keys = [trial.cache_key for trial in to_ask if trial.cache_key is not None]
    cached = await journal.cached(keys) if keys else {}
    fresh = []
    for trial in to_ask:
        hit = cached.get(trial.cache_key) if trial.cache_key is not None else None
        if hit is None:
            fresh.append(trial)
        else:
            await recorder.answered(Answer(trial, hit, is_cached=True))
    return fresh


def _next_attempt(trial: Trial, known: Recorded | None) -> Trial | None:
    if known is None:
        return trial
    return replace(trial, attempt=known.attempt + 1) if known.is_failed else None


async def _score_again(chunk: list[Trial], known: Mapping[str, Recorded], journal: Journal, recorder: Recorder) -> None:
    unscored = {key: item for key, item in known.items() if not item.is_scored and not item.is_failed}
    if not unscored:
        return
    responses = await journal.responses([item.response_id for item in unscored.values()])
    for trial in chunk:
        if (item := unscored.get(trial.id)) is not None:
            attempt = replace(trial, attempt=item.attempt)
            await recorder.recorded(Answer(attempt, responses[item.response_id], response_id=item.response_id))
