"""A hard cap that many workers keep together: each takes blocks of the run's money, and gives back what is left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Protocol

from proctor.engine.budget import Budget

STEPS = 128
"""A block is this part of the cap, or what one request needs: a write before every request would slow a run down."""
ASK_AGAIN_SECONDS = 0.2


class Money(Protocol):
    """What all who work on a run may spend together; asked in threads."""

    def take(self, amount_usd: Decimal) -> bool:
        """Reserve so much more; False where the cap leaves too little."""
        ...

    def give_back(self, unspent_usd: Decimal) -> None:
        """Nothing is in flight here, and so much of what was taken is not spent."""
        ...

    def is_held_by_others(self) -> bool:
        """Whether others may give something back."""
        ...

    def taken_usd(self) -> Decimal: ...


class SharedBudget(Budget):
    """One worker's part: what it has spent and reserved never exceeds what it has taken from the run's money.

    `on_exhausted` is told, in a thread, what all have spent and of the first amount that does not fit.
    """

    def __init__(
        self,
        cap_usd: Decimal,
        money: Money,
        stopping: asyncio.Event,
        on_exhausted: Callable[[Decimal, Decimal], None],
    ) -> None:
        super().__init__(cap_usd, Decimal(0), lambda _: None)
        self._money, self._stopping, self._tell = money, stopping, on_exhausted
        self._taken_usd = Decimal(0)
        self._taking = asyncio.Lock()

    @property
    def unspent_usd(self) -> Decimal:
        """What was taken and neither spent nor reserved."""
        return max(Decimal(0), self._taken_usd - self.spent_usd - self.reserved_usd)

    async def reserve(self, amount_usd: Decimal) -> bool:
        while not self._stopping.is_set():
            if amount_usd <= self.unspent_usd:
                self.reserved_usd += amount_usd
                return True
            async with self._taking:
                is_there = amount_usd <= self.unspent_usd or await self._take(amount_usd)
            if is_there:
                continue
            if self.reserved_usd or await self._is_held_by_others():
                self._changed.clear()
                await self._wait()
                continue
            spent = await asyncio.to_thread(self._money.taken_usd)
            if spent + amount_usd > self.cap_usd and not self.reserved_usd:
                await asyncio.to_thread(self._tell, spent, amount_usd)
                return False
        return False

    async def _is_held_by_others(self) -> bool:
        return await asyncio.to_thread(self._money.is_held_by_others)

    async def _take(self, amount_usd: Decimal) -> bool:
        """Take a block, or else just what is needed; where nothing is in flight, what is left over goes back first."""
        missing = amount_usd - self.unspent_usd
        for block in (max(missing, self.cap_usd / STEPS), missing):
            if await asyncio.to_thread(self._money.take, block):
                self._taken_usd += block
                return True
        if self.reserved_usd:
            return False
        # Two workers that each hold what the other one needs would wait for ever.
        unspent = self.unspent_usd
        self._taken_usd -= unspent
        await asyncio.to_thread(self._money.give_back, unspent)
        if await asyncio.to_thread(self._money.take, amount_usd):
            self._taken_usd += amount_usd
            return True
        return False

    async def _wait(self) -> None:
        """Until something is settled here, or others may have given something back."""
        try:
            async with asyncio.timeout(ASK_AGAIN_SECONDS):
                await self._changed.wait()
        except TimeoutError:
            return
