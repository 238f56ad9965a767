"""A cost limit that many workers keep together: never a cent above, whoever is lost, and nothing kept for nothing."""

from __future__ import annotations

import asyncio
import random
import threading
from decimal import Decimal

import pytest

from proctor.costs.shared_budget import SharedBudget
from proctor.domain.chunk import Chunk, Pool, TrialTally
from proctor.stores.chunk_rows import lease_of
from proctor.stores.chunks import ChunkStore
from proctor.stores.codec import floor_pico
from proctor.stores.database import Database
from proctor.stores.queue import QueueStore
from proctor.stores.run_money import ChunkMoney
from stores.parts import let_it_run_out, new_chunks, reclaimed

CAP = Decimal("1.00")
WORKERS = 4
REQUESTS = 24


class Spender:
    """A worker that sends requests which may cost so much, and costs less: sometimes it is lost in the middle."""

    def __init__(self, database: Database, chunk: Chunk, seed: int, *, may_be_lost: bool) -> None:
        self.database, self.chunk, self.rng, self.may_be_lost = database, chunk, random.Random(seed), may_be_lost
        self.spent = Decimal(0)
        self.exhausted: list[Decimal] = []
        self.is_lost = False

    def work(self) -> None:
        asyncio.run(self._work())

    async def _work(self) -> None:
        money = ChunkMoney(self.database, self.chunk, CAP)
        stopping = asyncio.Event()
        budget = SharedBudget(CAP, money, stopping, lambda _, amount: self.exhausted.append(amount))
        lost_at = self.rng.randrange(REQUESTS) if self.may_be_lost else None
        asked = 0

        async def ask() -> None:
            nonlocal asked
            while asked < REQUESTS and not self.is_lost:
                asked += 1
                most = Decimal(self.rng.randrange(1, 40)) / 1000
                if not await budget.reserve(most):
                    return
                if lost_at is not None and asked >= lost_at and not self.is_lost:
                    self.is_lost = True  # all that is in flight is billed, and nobody hears of it
                    self.spent += budget.reserved_usd
                    stopping.set()
                    return
                await asyncio.sleep(0.001)
                if self.is_lost:
                    return
                cost = most * self.rng.randrange(0, 101) / 100
                self.spent += cost
                budget.settle(most, cost)

        await asyncio.gather(*(ask() for _ in range(4)))
        if not self.is_lost:
            ChunkStore(self.database).finish(lease_of(self.chunk), TrialTally(), floor_pico(budget.unspent_usd))


@pytest.mark.parametrize(("seed", "may_be_lost"), [(1, False), (2, True), (3, True)])
def test_many_workers_never_spend_a_cent_above_the_cap(database: Database, seed: int, may_be_lost: bool) -> None:
    run_id = new_chunks(database, chunks=3 * WORKERS)
    store, spent, exhausted = ChunkStore(database), Decimal(0), 0
    for turn in range(3):
        chunks = [store.lease_next([Pool.DEFAULT]) for _ in range(WORKERS)]
        spenders = [
            Spender(database, chunk, seed * 100 + turn * 10 + place, may_be_lost=may_be_lost and place == 0)
            for place, chunk in enumerate(chunks)
            if chunk is not None
        ]
        threads = [threading.Thread(target=spender.work, daemon=True) for spender in spenders]
        for thread in threads:
            thread.start()
        for place, thread in enumerate(threads):
            if may_be_lost and place == 0:
                thread.join(60)
                if spenders[0].is_lost:
                    let_it_run_out(database, spenders[0].chunk.id)
                    reclaimed(database)
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive(), "they wait for each other"
        spent += sum((spender.spent for spender in spenders), Decimal(0))
        exhausted += sum(bool(spender.exhausted) for spender in spenders)
        queued = QueueStore(database).get(run_id)
        assert queued is not None
        assert spent <= queued.taken_usd <= CAP, "what may have been spent is counted, and is never above the cap"
        if not may_be_lost:
            assert queued.taken_usd == spent, "what was not spent was given back"
    assert exhausted, "the cap was met"
