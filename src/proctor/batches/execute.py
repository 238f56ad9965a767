"""Trials handed in as batches: announced, handed in, waited for; a crash loses none of them and pays for none twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from decimal import Decimal
from itertools import count, groupby, islice
from uuid import uuid4

from msgspec import Struct, field
from msgspec.structs import replace

from proctor.batches.collect import collect
from proctor.batches.session import MAX_TRIES, BatchSession
from proctor.domain.errors import ModelError, PlanError, RequestRejectedError
from proctor.domain.evaluation import Evaluation
from proctor.domain.event import BatchSeen, Observer
from proctor.domain.journal import Journal
from proctor.domain.plan import Plan
from proctor.domain.price import FREE, DiscountedPrice, Price
from proctor.domain.trial import Answer, Trial
from proctor.engine.budget import Budget, reservation
from proctor.engine.loop import unrecorded
from proctor.engine.recording import Recorder
from proctor.engine.retry import RetryPolicy
from proctor.models.batching import BatchState, find_batches
from proctor.models.price_file import FilePrice
from proctor.models.prices import ListedPrice
from proctor.planning.expand import trials_of
from proctor.stores.batches import BatchMember, BatchStore, StoredBatch
from proctor.stores.database import Database

CHUNK = 256
HALF = Decimal("0.5")
FIRST_LOOK_SECONDS = 0.5
MAX_LOOK_SECONDS = 60.0


def batch_price(price: Price | None) -> Price | None:
    """What a request costs in a batch: what the price list or the file says of batches, else half."""
    if price is None or price is FREE:
        return price
    known = price.in_batch() if isinstance(price, (ListedPrice, FilePrice)) else None
    return known or DiscountedPrice(price, HALF, "batch")


def refuse_unbatchable(plan: Plan, evaluations: Sequence[Evaluation]) -> None:
    """What a batch cannot do is refused before anything is handed in."""
    if plan.until is not None:
        raise PlanError("--until decides while answers come in, and the answers of a batch come all at once.")
    if plan.judge and plan.limits.cost_usd is not None:
        raise PlanError(
            "A batch and its judges cannot share a cost limit: judge the answers afterwards, with 'rescore'."
        )
    for evaluation in evaluations:
        find_batches(evaluation.model, evaluation.label)
        if any(sample.follow_ups for sample in evaluation.samples):
            raise PlanError(f"{evaluation.benchmark.name} is asked in several turns, and a batch asks only once.")


async def execute_batches(
    evaluations: Sequence[Evaluation],
    journal: Journal,
    database: Database,
    *,
    retries: int,
    stopping: asyncio.Event,
    observe: Observer,
    budget: Budget | None,
) -> dict[str, str]:
    """Finish every trial that can be finished; gives the models that were given up, and why.

    Setting `stopping` leaves what was handed in with the provider: the next execution waits for the same batches.
    """
    scorers = {item.id: item.scorers for item in evaluations}
    sessions = []
    async with Recorder(journal, scorers, observe) as recorder, asyncio.TaskGroup() as group:
        for label, items in groupby(evaluations, key=lambda item: item.label):
            of_model = list(items)
            api = find_batches(of_model[0].model, label)
            session = BatchSession(
                label, api, BatchStore(database), journal, recorder, retries, stopping, observe, budget
            )
            sessions.append(session)
            group.create_task(_serve(session, of_model))
    # Only now is every answer committed: until here, a crash would have read the same results again.
    for session in sessions:
        for batch_id, ended_as in session.ended:
            await asyncio.to_thread(session.store.end, batch_id, ended_as)
    return {session.label: session.given_up for session in sessions if session.given_up is not None}


async def _serve(session: BatchSession, evaluations: Sequence[Evaluation]) -> None:
    async with asyncio.TaskGroup() as group:
        for evaluation in evaluations:
            try:
                covered = await _take_up(session, evaluation, group)
                await _hand_in_rest(session, evaluation, covered, group)
            except ModelError as error:
                session.give_up(error)
                return


async def _take_up(session: BatchSession, evaluation: Evaluation, group: asyncio.TaskGroup) -> set[str]:
    """Wait again for what an earlier execution has handed in; gives the trials that are covered by it."""
    covered: set[str] = set()
    for batch in await asyncio.to_thread(session.store.open_batches, evaluation.id):
        if session.budget is not None:
            session.budget.commit(batch.reserved_usd)
        known = await session.locate(batch)
        if known is not None:
            covered |= await asyncio.to_thread(session.store.trial_ids, known.id)
            group.create_task(_await_batch(session, evaluation, known))
        else:
            session.settle(batch.reserved_usd, Decimal(0))
    return covered


class Draft(Struct):
    """A batch in the making."""

    lines: list[bytes] = field(default_factory=list)
    members: list[BatchMember] = field(default_factory=list)
    size: int = 0
    reserved_usd: Decimal = Decimal(0)

    def add(self, line: bytes, member: BatchMember, reserved_usd: Decimal) -> None:
        self.lines.append(bytes(memoryview(line)))  # a copy: what orjson gives keeps kilobytes of spare room
        self.members.append(member)
        self.size += len(line) + 1
        self.reserved_usd += reserved_usd


async def _hand_in_rest(
    session: BatchSession, evaluation: Evaluation, covered: set[str], group: asyncio.TaskGroup
) -> None:
    """Everything that is neither recorded nor handed in, in as few batches as the provider's limits allow."""
    draft = Draft()
    async with aclosing(_requests(session, evaluation, covered)) as requests:
        async for trial, line, member in requests:
            reserved = await _most(session, evaluation, trial)
            if draft.lines and not _has_room(session, draft, line, reserved):
                await _hand_in(session, evaluation, draft, group)
                draft = Draft()
            if session.budget is not None and not await session.budget.reserve(reserved):
                return
            draft.add(line, member, reserved)
    if draft.lines and not session.is_closed:
        await _hand_in(session, evaluation, draft, group)
    else:
        session.settle(draft.reserved_usd, Decimal(0))


def _has_room(session: BatchSession, draft: Draft, line: bytes, reserved: Decimal) -> bool:
    """Money that is set aside for a draft comes back only once the draft was handed in: a short purse ends it too."""
    limits = session.api.limits
    if len(draft.lines) >= limits.requests or draft.size + len(line) > limits.bytes:
        return False
    return session.budget is None or session.budget.fits(reserved)


async def _most(session: BatchSession, evaluation: Evaluation, trial: Trial) -> Decimal:
    if session.budget is None or evaluation.price is None:
        return Decimal(0)
    return await reservation(trial.prompt, trial.options, evaluation.price, evaluation.label)


async def _requests(
    session: BatchSession, evaluation: Evaluation, covered: set[str]
) -> AsyncGenerator[tuple[Trial, bytes, BatchMember]]:
    """The trials to be asked, each as a line of a batch; one that cannot be sent is recorded as failed."""
    trials, number = trials_of(evaluation), 0
    while not session.is_closed:
        chunk = await asyncio.to_thread(_take, trials, CHUNK)
        if not chunk:
            return
        places = {trial.id: divmod(number + place, evaluation.fingerprint.count) for place, trial in enumerate(chunk)}
        number += len(chunk)
        open_trials = [trial for trial in chunk if trial.id not in covered]
        for trial in await unrecorded(open_trials, evaluation.id, session.journal, session.recorder, session.observe):
            try:
                line = await session.api.line(trial.id, trial.prompt, trial.options)
            except RequestRejectedError as error:
                await session.recorder.answered(Answer(trial, None, error=f"{type(error).__name__}: {error}"))
                continue
            epoch, position = places[trial.id]
            yield trial, line, BatchMember(trial.id, trial.attempt, epoch, position)


def _take(trials: Iterator[Trial], size: int) -> list[Trial]:
    return list(islice(trials, size))


async def _hand_in(session: BatchSession, evaluation: Evaluation, draft: Draft, group: asyncio.TaskGroup) -> None:
    """Announce it, hand it in, note the provider's name for it; after a doubtful fault, look before trying again."""
    policy = RetryPolicy(session.retries)
    for tries in count():
        token = uuid4().hex
        batch = await asyncio.to_thread(session.store.announce, evaluation.id, token, draft.members, draft.reserved_usd)
        try:
            known: StoredBatch | None = replace(batch, remote_id=await session.api.hand_in(draft.lines, token))
        except ModelError as error:
            is_doubtful = error.status is None or (error.status >= 500 and error.is_retryable)
            if not is_doubtful:
                await asyncio.to_thread(session.store.forget, batch.id)
            wait = policy.wait_seconds(error, tries)
            if wait is None:
                # What the provider may have taken counts in full; others of the run must not wait for the rest.
                session.settle(draft.reserved_usd, draft.reserved_usd if is_doubtful else Decimal(0))
                raise
            await session.note_fault(error, wait, tries + 1, session.retries)
            known = await session.locate(batch) if is_doubtful else None
            if known is None and session.is_closed:
                session.settle(draft.reserved_usd, Decimal(0))
                return
        if known is not None and known.remote_id is not None:
            await asyncio.to_thread(session.store.handed_in, known.id, known.remote_id)
            group.create_task(_await_batch(session, evaluation, known))
            return


async def _await_batch(session: BatchSession, evaluation: Evaluation, batch: StoredBatch) -> None:
    """Look at it now and then until it has ended, and record what came of it."""
    try:
        state = await _ended(session, batch)
        if state is not None:
            await collect(session, evaluation, batch, state)
            session.ended.append((batch.id, state.name))
    except ModelError as error:
        session.give_up(error)


async def _ended(session: BatchSession, batch: StoredBatch) -> BatchState | None:
    remote_id, wait = str(batch.remote_id), FIRST_LOOK_SECONDS
    while True:
        state = await session.persist(lambda: session.api.state(remote_id), MAX_TRIES)
        session.observe(
            BatchSeen(session.label, remote_id, state.name, state.is_ended, state.done, state.total or batch.requests)
        )
        if state.is_ended:
            return state
        if await session.pause(wait):
            return None
        wait = min(wait * 1.5, MAX_LOOK_SECONDS)
