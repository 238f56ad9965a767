"""What a session says while it waits, and what becomes of the money."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from proctor.batches import session as batch_session
from proctor.batches.session import BatchSession
from proctor.cli.plain import line
from proctor.domain.errors import ModelUnavailableError, ProviderFaultError
from proctor.domain.event import BatchDelayed, BatchSeen, Event, FaultSeen, ModelGivenUp
from proctor.engine.budget import Budget
from proctor.models.batching import Search
from proctor.runs.progress import Progress
from proctor.stores.batches import StoredBatch

ANNOUNCED = StoredBatch(1, 1, "token", None, 40, Decimal("0.6"), 0.0)
FAULT = ProviderFaultError("openai/m: a fault", status=503)


class OneBatch:
    """A store with one batch, which was announced and perhaps never handed in."""

    def __init__(self) -> None:
        self.is_forgotten = False

    def trial_ids(self, _: int) -> set[str]:
        return {"t"}

    def remote_ids(self) -> set[str]:
        return set()

    def forget(self, _: int) -> None:
        self.is_forgotten = True


class Searching:
    """A batch API that gives or raises one thing after the other when it is searched."""

    def __init__(self, *outcomes: Search | Exception) -> None:
        self._outcomes = list(outcomes)

    async def search(self, *_: Any) -> Search:
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def session_of(api: Searching, events: list[Event], budget: Budget | None = None) -> BatchSession:
    parts: Any = (api, OneBatch(), None, None)
    return BatchSession("openai/m", *parts, 3, asyncio.Event(), events.append, budget)


def test_each_try_after_a_fault_is_told() -> None:
    events: list[Event] = []
    session = session_of(Searching(FAULT, FAULT, Search(None)), events)
    assert asyncio.run(session.locate(ANNOUNCED)) is None
    assert [event for event in events if isinstance(event, FaultSeen)] == [FaultSeen("openai/m", "a fault", False)] * 2
    assert [event.reason for event in events if isinstance(event, BatchDelayed)] == [
        "the batch API is asked again after a fault (1 of 20)",
        "the batch API is asked again after a fault (2 of 20)",
    ]
    assert session.store.is_forgotten  # type: ignore[attr-defined]


def test_doubt_about_an_earlier_order_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_session, "DOUBT_SECONDS", 0.001)
    events: list[Event] = []
    asyncio.run(session_of(Searching(Search(None, is_certain=False), Search(None)), events).locate(ANNOUNCED))
    assert events == [BatchDelayed("openai/m", "an earlier order may be among the provider's unfinished batches")]


def test_money_for_a_batch_that_nobody_can_find_counts_as_spent_and_keeps_nobody_waiting() -> None:
    async def go() -> bool:
        budget = Budget(Decimal(1), Decimal(0), lambda _: None)
        budget.commit(ANNOUNCED.reserved_usd)
        session = session_of(Searching(ModelUnavailableError("openai/m: no batch API", status=404)), [], budget)
        with pytest.raises(ModelUnavailableError):
            await session.locate(ANNOUNCED)
        assert (budget.reserved_usd, budget.spent_usd) == (0, ANNOUNCED.reserved_usd)
        async with asyncio.timeout(10):
            return await budget.reserve(Decimal("0.5"))

    assert asyncio.run(go()) is False


@pytest.mark.parametrize(
    ("end", "text"),
    [
        (BatchSeen("openai/m", "b", "in_progress", False, 3, 40), "0 of 1 batches ended, 3 of 40 requests done"),
        (ModelGivenUp("openai/m", "it is gone"), None),
    ],
)
def test_the_progress_says_why_batches_get_no_further_until_they_do(end: Event, text: str | None) -> None:
    progress = Progress([])
    assert progress.batch_text is None
    progress(BatchDelayed("openai/m", "the batch API is asked again after a fault (1 of 20)"))
    assert "openai/m: the batch API is asked again after a fault (1 of 20)" in line(progress)
    progress(end)
    assert "asked again" not in line(progress)
    assert progress.batch_text == (text if text is None else f"{text} at the provider")
