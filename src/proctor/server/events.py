"""Events of runs as streams (SSE): one reader of the database for all who follow one, prepared bytes for each.

A client is a number: the last event it was sent. One that is slow costs nothing but that; what the feed no longer has
at hand is read again from the database, so that nothing is lost and memory is bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from typing import Protocol

from msgspec import Struct

from proctor.domain.documents.document import json_bytes
from proctor.domain.errors import NotFoundError, StoreError
from proctor.domain.run import ENDED, RunStatus
from proctor.stores.database import Database
from proctor.stores.events import EVENTS_AT_A_TIME, StoredEvent, events_after, last_number
from proctor.stores.rescorings import RESCORING, RescoringStore
from proctor.stores.runs import RunStore

KINDS = frozenset({"accepted", "prepared", "started", "progress", "chunk", "result", "finished", "failed", "cancelled"})
"""What programs outside rely on; other notes of a run stay within."""
LAST = {RunStatus.COMPLETED: "finished", RunStatus.FAILED: "failed", RunStatus.CANCELLED: "cancelled"}
POLL_SECONDS = 0.3
BEAT_SECONDS = 15.0
KEPT = 500
BEAT = b": \n\n"
RETRY = b"retry: 1000\n\n"
HEADERS = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
"""Proxies hold nothing back, and compress nothing, for which they would wait until there is enough."""


class PreparedEvent(Struct, frozen=True):
    number: int
    content: bytes
    """Empty for a note that is not sent."""


def _prepared(number: int, kind: str, data: dict[str, object]) -> PreparedEvent:
    return PreparedEvent(number, b"id: %d\nevent: %s\ndata: %s\n\n" % (number, kind.encode(), json_bytes(data)))


class EventSource(Protocol):
    """What is followed: events in an order, with an end."""

    @property
    def key(self) -> str:
        """The same for all who follow the same."""

    def check(self) -> None:
        """Raises NotFoundError where there is no such thing."""

    def state(self) -> str:
        """As it is stored; asked for before the events are read."""

    def is_over(self, state: str) -> bool: ...

    def prepare(self, event: StoredEvent) -> PreparedEvent: ...

    def read(self, after: int) -> Iterator[StoredEvent]: ...

    def read_end(self, state: str, last: int) -> list[PreparedEvent]:
        """What is to be said at the end that no event says."""


class RunEvents:
    """The events of a run."""

    def __init__(self, database: Database, run_id: str) -> None:
        self._database, self._run_id = database, run_id

    @property
    def key(self) -> str:
        return self._run_id

    def check(self) -> None:
        self._run_id = RunStore(self._database).get(self._run_id).id

    def state(self) -> str:
        return RunStore(self._database).get(self._run_id).status

    def is_over(self, state: str) -> bool:
        return state in ENDED

    def prepare(self, event: StoredEvent) -> PreparedEvent:
        if event.kind not in KINDS:
            return PreparedEvent(event.number, b"")
        return _prepared(event.number, event.kind, {"run_id": self._run_id, "at": event.at, **event.data})

    def read(self, after: int) -> Iterator[StoredEvent]:
        return events_after(self._database, self._run_id, after)

    def read_end(self, state: str, last: int) -> list[PreparedEvent]:
        """A run that was executed elsewhere may not say that it ended: its status does."""
        number, is_told = last_number(self._database, self._run_id)
        if is_told or last > number:
            return []
        return [_prepared(number + 1, LAST[RunStatus(state)], {"run_id": self._run_id})]


class RescoringEvents:
    """Those among a run's events that are about one of its rescorings."""

    def __init__(self, database: Database, run_id: str, rescoring_id: str) -> None:
        self._database, self._run_id, self._rescoring_id = database, run_id, rescoring_id

    @property
    def key(self) -> str:
        return f"{self._run_id} {self._rescoring_id}"

    def check(self) -> None:
        self.state()

    def state(self) -> str:
        return RescoringStore(self._database).get(self._run_id, self._rescoring_id).state

    def is_over(self, state: str) -> bool:
        return state not in ("queued", "running")

    def prepare(self, event: StoredEvent) -> PreparedEvent:
        if event.kind != RESCORING or event.data["rescoring_id"] != self._rescoring_id:
            return PreparedEvent(event.number, b"")
        said = {name: value for name, value in event.data.items() if name != "event"}
        return _prepared(event.number, event.data["event"], {"run_id": self._run_id, "at": event.at, **said})

    def read(self, after: int) -> Iterator[StoredEvent]:
        return events_after(self._database, self._run_id, after)

    def read_end(self, state: str, last: int) -> list[PreparedEvent]:  # noqa: ARG002 - the last event says it
        return []


class RunFeed:
    """Events, read once for all who follow them, while somebody does."""

    def __init__(self, source: EventSource) -> None:
        self._source = source
        self._recent: deque[PreparedEvent] = deque(maxlen=KEPT)
        self._first = 0
        """Events up to this number are in the database only."""
        self._last = 0
        self._has_ended = False
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.clients = 0

    async def start(self, after: int) -> None:
        self._first = self._last = after
        await self._look()
        self._task = asyncio.create_task(self._watch())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _watch(self) -> None:
        while not self._has_ended:
            await asyncio.sleep(POLL_SECONDS)
            with contextlib.suppress(StoreError):  # it is asked again; whoever follows loses nothing
                await self._look()

    async def _look(self) -> None:
        try:
            # The state first: an event that is written between the two is seen before the end is believed.
            state = await asyncio.to_thread(self._source.state)
            found = await asyncio.to_thread(self._read, self._last)
        except NotFoundError:  # deleted meanwhile
            found, self._has_ended = [], True
        else:
            if self._source.is_over(state) and len(found) < EVENTS_AT_A_TIME:
                found += await asyncio.to_thread(self._source.read_end, state, self._last)
                self._has_ended = True
        self._append(found)

    def _read(self, after: int) -> list[PreparedEvent]:
        found = []
        for event in self._source.read(after):
            found.append(self._source.prepare(event))
            if len(found) == EVENTS_AT_A_TIME:
                break
        return found

    def _append(self, found: list[PreparedEvent]) -> None:
        for event in found:
            if len(self._recent) == KEPT:
                self._first = self._recent[0].number
            self._recent.append(event)
            self._last = event.number
        if found or self._has_ended:
            news, self._news = self._news, asyncio.Event()
            news.set()

    async def follow(self, after: int, ending: asyncio.Event) -> AsyncGenerator[bytes, None]:
        """Everything after this number, in order, until the run has ended or the server does."""
        yield RETRY
        stopping = asyncio.create_task(ending.wait())
        try:
            while not ending.is_set():
                news = self._news
                if after < self._first:
                    found = await asyncio.to_thread(self._read, after)
                else:
                    found = [event for event in self._recent if event.number > after]
                for event in found:
                    after = event.number
                    if event.content:
                        yield event.content
                if found:
                    continue
                if self._has_ended:
                    return
                waiting = asyncio.create_task(news.wait())
                done, _ = await asyncio.wait(
                    {waiting, stopping}, timeout=BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                waiting.cancel()
                if not done:
                    yield BEAT
        finally:
            stopping.cancel()


class Feeds:
    """The feeds that somebody follows."""

    def __init__(self) -> None:
        self._open: dict[str, RunFeed] = {}
        self._starting = asyncio.Lock()

    async def follow(self, source: EventSource, after: int, ending: asyncio.Event) -> AsyncGenerator[bytes, None]:
        """Events after this number; whoever comes first opens the feed, the last one closes it."""
        async with self._starting:
            feed = self._open.get(source.key)
            if feed is None:
                feed = RunFeed(source)
                await feed.start(after)
                self._open[source.key] = feed
            feed.clients += 1
        try:
            async for content in feed.follow(after, ending):
                yield content
        finally:
            feed.clients -= 1
            if not feed.clients and self._open.get(source.key) is feed:
                del self._open[source.key]
                await feed.close()
