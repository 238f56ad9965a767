"""Events of all runs as one stream: a single reader of the database for everybody, prepared bytes for each.

A client is a place in the order of events and nothing else. What the feed no longer has at hand is read again from
the database within the client's own scope, so that a slow client loses nothing and costs no memory.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator

from msgspec import Struct

from proctor.domain.documents.document import json_bytes
from proctor.domain.errors import StoreError
from proctor.server.events import BEAT_SECONDS, KINDS, POLL_SECONDS
from proctor.stores.database import Database
from proctor.stores.feed import FedEvent, fed_events, last_position, number_events

KEPT = 1_000
SENT_AT_ONCE = 50
"""Events in one piece: what waits for a slow client is not a copy of everything."""


class FeedItem(Struct, frozen=True):
    """An event as both kinds of stream send it, encoded once for all who follow."""

    position: int
    project: str
    sse: bytes
    message: str
    """The same for a WebSocket."""


class FeedPart(Struct, frozen=True):
    """What is new, and the place that is reached with it; nothing new is a sign of life."""

    position: int
    items: list[FeedItem]

    @property
    def sse(self) -> bytes:
        """An id by itself is no event: it only says where to go on after a pause."""
        return b"".join(item.sse for item in self.items) or b"id: %d\n\n" % self.position


def prepare_item(event: FedEvent) -> FeedItem:
    data = json_bytes({"run_id": event.run_id, "number": event.number, "at": event.at, **event.data}).strip()
    sse = b"id: %d\nevent: %s\ndata: %s\n\n" % (event.position, event.kind.encode(), data)
    message = f'{{"id":{event.position},"event":"{event.kind}","data":{data.decode()}}}'
    return FeedItem(event.position, event.project, sse, message)


class ProjectFeed:
    """All projects' events, read once while anybody follows; each follower is given what is his."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._recent: deque[FeedItem] = deque(maxlen=KEPT)
        self._first = self._last = 0
        """Events up to `first` are in the database only; up to `last`, all are known."""
        self._news = asyncio.Event()
        self._changing = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None
        self.followers = 0

    async def follow(
        self, database: Database, after: int | None, ending: asyncio.Event, *, is_waiting: bool = True
    ) -> AsyncGenerator[FeedPart, None]:
        """What happens after this place, from now on if it is None; ends with the server, or at the end of what there
        is. `database` is the one of whoever follows: nothing beyond its scope is given."""
        await self._join(ending)
        try:
            # A place that was never reached was another database's: the end of this one is where to go on.
            place = self._last if after is None else min(after, self._last)
            yield FeedPart(place, [])
            while not ending.is_set():
                news = self._news
                part = await self._next(database, place)
                place = part.position
                if part.items:
                    yield part
                if place < self._last:
                    continue
                if not is_waiting:
                    return
                try:
                    async with asyncio.timeout(BEAT_SECONDS):
                        await news.wait()
                except TimeoutError:
                    yield FeedPart(place, [])
        finally:
            await self._leave()

    async def _next(self, database: Database, after: int) -> FeedPart:
        """The next ones that this follower may see, and how far was looked for them."""
        last, project = self._last, database.scope.project
        if after < self._first:
            found = await asyncio.to_thread(fed_events, database, after, SENT_AT_ONCE)
            reached = found[-1].position if found else after
            items = [prepare_item(event) for event in found if event.kind in KINDS]
            return FeedPart(reached if len(found) == SENT_AT_ONCE else max(last, reached), items)
        items = []
        for item in reversed(self._recent):
            if item.position <= after:
                break
            if project is None or item.project == project:
                items.append(item)
        items = items[: -SENT_AT_ONCE - 1 : -1]
        return FeedPart(items[-1].position if len(items) == SENT_AT_ONCE else max(last, after), items)

    async def _join(self, ending: asyncio.Event) -> None:
        async with self._changing:
            if self._watching is None:
                await asyncio.to_thread(number_events, self._database)
                self._first = self._last = await asyncio.to_thread(last_position, self._database)
                self._recent.clear()
                self._watching = asyncio.create_task(self._watch(ending))
            self.followers += 1

    async def _leave(self) -> None:
        self.followers -= 1
        if not self.followers and self._watching is not None:
            watching, self._watching = self._watching, None
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching

    async def _watch(self, ending: asyncio.Event) -> None:
        while not ending.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await ending.wait()
            with contextlib.suppress(StoreError):  # it is asked again; whoever follows loses nothing
                await self._look()
        self._tell()

    async def _look(self) -> None:
        await asyncio.to_thread(number_events, self._database)
        while found := await asyncio.to_thread(fed_events, self._database, self._last):
            for event in found:
                if event.kind in KINDS:
                    if len(self._recent) == KEPT:
                        self._first = self._recent[0].position
                    self._recent.append(prepare_item(event))
                self._last = event.position
            self._tell()

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
