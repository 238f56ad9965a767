"""From the answers of a batch that has ended to recorded results, a few hundred at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from decimal import Decimal

from msgspec import Struct, field
from msgspec.structs import replace

from proctor.batches.session import MAX_TRIES, BatchSession
from proctor.domain.errors import ModelError, ProviderFaultError, RequestRejectedError
from proctor.domain.evaluation import Evaluation
from proctor.domain.price import REPORTED
from proctor.domain.response import Response
from proctor.domain.trial import Answer, Trial
from proctor.engine.budget import reservation
from proctor.models.batching import BatchAnswer, BatchState
from proctor.models.tools import checked_calls
from proctor.planning.expand import trial_maker
from proctor.stores.batches import StoredBatch

CHUNK = 256


async def collect(session: BatchSession, evaluation: Evaluation, batch: StoredBatch, state: BatchState) -> None:
    """Hand every request of the batch to the recorder: with its response, or with the reason that there is none."""
    collector = _Collector(session, evaluation, batch)
    if state.problem is None:
        try:
            await session.persist(collector.read, MAX_TRIES)
        except ModelError:
            rest = batch.reserved_usd - collector.settled_usd
            session.settle(rest, rest)  # answered or not, it counts in full until somebody can read it
            raise
        fault = f"the batch ended as {state.name!r} without an answer to this request"
        error: ProviderFaultError | RequestRejectedError = ProviderFaultError(f"{session.label}: {fault}")
    else:
        error = RequestRejectedError(f"{session.label}: the batch was refused: {state.problem}")
    await collector.fail_the_rest(error)
    session.settle(batch.reserved_usd - collector.settled_usd, Decimal(0))


class _Collector(Struct):
    session: BatchSession
    evaluation: Evaluation
    batch: StoredBatch
    seen: set[str] = field(default_factory=set)
    """Requests that are with the recorder: a download that breaks off starts again, and these are left out."""
    settled_usd: Decimal = Decimal(0)

    async def read(self) -> None:
        chunk: list[BatchAnswer] = []
        async with aclosing(self.session.api.answers(str(self.batch.remote_id))) as answers:
            async for answer in answers:
                if answer.custom_id in self.seen:
                    continue
                chunk.append(answer)
                if len(chunk) == CHUNK:
                    await self._take(chunk)
                    chunk = []
        await self._take(chunk)

    async def fail_the_rest(self, error: ProviderFaultError | RequestRejectedError) -> None:
        rest = sorted(await asyncio.to_thread(self.session.store.trial_ids, self.batch.id) - self.seen)
        for start in range(0, len(rest), CHUNK):
            await self._take([BatchAnswer(trial_id, error=error) for trial_id in rest[start : start + CHUNK]])

    async def _take(self, chunk: Sequence[BatchAnswer]) -> None:
        by_id = {answer.custom_id: answer for answer in chunk}
        for trial in await self._trials(list(by_id)):
            answer = by_id[trial.id]
            if answer.response is not None:
                response = self._priced(trial, answer.response)
                await self._settle(trial, response)
                await self.session.recorder.answered(Answer(trial, response))
            else:
                await self._settle(trial, None)
                reason = f"{type(answer.error).__name__}: {answer.error}"
                await self.session.recorder.answered(Answer(trial, None, error=reason))
        self.seen.update(by_id)

    async def _trials(self, trial_ids: Sequence[str]) -> list[Trial]:
        """The trials as they were handed in; those recorded by an earlier execution are left out."""
        if not trial_ids:
            return []
        members = await asyncio.to_thread(self.session.store.members, self.batch.id, trial_ids)
        recorded = await self.session.journal.recorded(self.evaluation.id, trial_ids)
        wanted = [
            member
            for member in members.values()
            if member.trial_id not in recorded or recorded[member.trial_id].attempt < member.attempt
        ]
        wanted.sort(key=lambda member: member.position)
        positions = [member.position for member in wanted]
        samples = await asyncio.to_thread(lambda: list(self.evaluation.samples.at(positions)))
        make = trial_maker(self.evaluation)
        pairs = list(zip(samples, wanted, strict=True))
        made = await asyncio.to_thread(
            lambda: [replace(make(sample, member.epoch), attempt=member.attempt) for sample, member in pairs]
        )
        return [trial for trial, member in zip(made, wanted, strict=True) if trial.id == member.trial_id]

    def _priced(self, trial: Trial, response: Response) -> Response:
        if response.tool_calls:
            response = checked_calls(trial.prompt, response)
        price = self.evaluation.price
        if response.cost_usd is not None:
            return replace(response, cost_basis=REPORTED)
        if price is None:
            return response
        return replace(response, cost_usd=price.cost(response.usage), cost_basis=price.basis)

    async def _settle(self, trial: Trial, response: Response | None) -> None:
        """Give back what was set aside for a request; one that was not answered was not billed."""
        price = self.evaluation.price
        if self.session.budget is None or price is None:
            return
        reserved = await reservation(trial.prompt, trial.options, price, self.evaluation.label)
        spent = Decimal(0)
        if response is not None:
            spent = reserved if response.cost_usd is None else response.cost_usd
        self.settled_usd += reserved
        self.session.settle(reserved, spent)
