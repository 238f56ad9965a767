"""A budget that a crash cannot make forget: money that may be spent is written down before it can be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Protocol

from proctor.engine.budget import Budget

STEPS = 64
"""Written ahead in steps of this part of the cap: a write before every request would slow a run down."""


class Ledger(Protocol):
    """What a run's money looks like in the store."""

    def recorded_usd(self) -> Decimal:
        """What the answers that are recorded have cost."""
        ...

    def unanswered_usd(self) -> Decimal:
        """What may have been spent beside that."""
        ...

    def keep_unanswered(self, amount_usd: Decimal) -> None: ...


class DurableBudget(Budget):
    """A hard cap that holds over any number of executions, crashes included.

    A request whose answer never arrives may have been billed, and after a crash nobody knows which of those in flight
    were. So the store always holds at least what is spent or reserved and not recorded, and the next execution counts
    it as spent.
    """

    def __init__(self, cap_usd: Decimal, ledger: Ledger, on_exhausted: Callable[[Decimal], None]) -> None:
        self._recorded_usd, self._kept_usd = ledger.recorded_usd(), ledger.unanswered_usd()
        super().__init__(cap_usd, self._recorded_usd + self._kept_usd, on_exhausted)
        self._ledger = ledger
        self._step_usd = cap_usd / STEPS
        self._writing = asyncio.Lock()

    @property
    def _at_risk_usd(self) -> Decimal:
        """Spent or reserved, and not known to be recorded."""
        return self.spent_usd + self.reserved_usd - self._recorded_usd

    async def reserve(self, amount_usd: Decimal) -> bool:
        if not await super().reserve(amount_usd):
            return False
        while self._at_risk_usd > self._kept_usd:
            await self._write_ahead()
        return True

    async def _write_ahead(self) -> None:
        async with self._writing:
            if self._at_risk_usd <= self._kept_usd:
                return  # somebody else's write was enough
            self._recorded_usd = await asyncio.to_thread(self._ledger.recorded_usd)
            amount = self._at_risk_usd + self._step_usd
            await asyncio.to_thread(self._ledger.keep_unanswered, amount)
            self._kept_usd = amount

    def close(self) -> None:
        """Nothing is in flight any more: keep what was spent without a recorded answer, and nothing else."""
        self._ledger.keep_unanswered(max(Decimal(0), self.spent_usd - self._ledger.recorded_usd()))
