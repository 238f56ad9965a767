"""How many streams each user has open: one that takes more than its share is refused until it closes some."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from proctor.server.events import HEADERS
from proctor.server.problems import ProblemError

STREAMS_A_USER = 10
RETRY_SECONDS = 5


class StreamLimit:
    """Open streams by user; without accounts there is one user, whose machine it is, and no limit."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}
        self._unlimited = 0

    @property
    def open(self) -> int:
        """Streams that are followed now."""
        return sum(self._open.values()) + self._unlimited

    def take(self, user: str | None) -> None:
        """Raises ProblemError (429) for whoever has as many as one may; whoever takes gives it back."""
        if user is None:
            self._unlimited += 1
            return
        count = self._open.get(user, 0)
        if count >= STREAMS_A_USER:
            detail = f"At most {STREAMS_A_USER} streams can be open for one user or key: close one first."
            raise ProblemError(429, "too-many", detail, headers={"Retry-After": str(RETRY_SECONDS)})
        self._open[user] = count + 1

    def give_back(self, user: str | None) -> None:
        if user is None:
            self._unlimited -= 1
            return
        self._open[user] -= 1
        if not self._open[user]:
            del self._open[user]


class CountedStream(StreamingResponse):
    """Server-sent events that count among the streams of a user while they are sent."""

    def __init__(self, content: AsyncIterable[bytes], limit: StreamLimit, user: str | None) -> None:
        super().__init__(content, media_type="text/event-stream", headers=HEADERS)
        self._limit, self._user = limit, user

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._limit.take(self._user)
            try:
                await super().__call__(scope, receive, send)
            finally:
                self._limit.give_back(self._user)
        finally:
            if isinstance(self.body_iterator, AsyncGenerator):
                await self.body_iterator.aclose()
