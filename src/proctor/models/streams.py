"""Streams: pieces of an answer are handed over in the very callback that receives them."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable

from proctor.domain.errors import ModelError
from proctor.models.connections import HttpConnection
from proctor.models.http1 import AnswerParser

MAX_WAITING = 1024 * 1024
"""So many bytes of lines that nobody has asked for yet make the server wait."""

Take = Callable[[bytes], bool]


class StreamedAnswer(AnswerParser):
    """An answer that is read while it arrives; the body of a refusal is kept, as any other is."""

    __slots__ = ("_has_enough", "_take", "connection", "fault")

    connection: HttpConnection

    def __init__(self, largest: int, take: Take) -> None:
        super().__init__(largest)
        self._take = take
        self._has_enough = False
        self.fault: ModelError | None = None
        """What reading it came upon: raised by whoever asked, because a callback must not."""

    def begin(self, connection: HttpConnection) -> None:
        self.connection = connection

    def feed(self, data: bytes) -> bool:
        is_whole = super().feed(data)
        if self.fault is not None and not is_whole:
            self.is_reusable = False
            return True
        return is_whole

    def end(self, *, is_announced: bool = True) -> None:
        if not self._has_enough:
            super().end(is_announced=is_announced)

    def _keep(self, data: bytes) -> None:
        if self.status >= 300:
            super()._keep(data)
            return
        if self._has_enough:
            return
        try:
            self._has_enough = self._take(data)
        except ModelError as error:
            self.fault, self._has_enough = error, True
        if self._has_enough:  # The server may not have ended yet.
            self.connection.leave_soon(self)


class StreamedLines(StreamedAnswer):
    """An answer of any size, line by line; lines that are not taken yet keep the server waiting."""

    # A little that is compressed can be a thousand times as much: the server could not be made to wait for it.
    TAKES_GZIP = False

    __slots__ = ("_changed", "_is_over", "_line", "_line_size", "_longest", "_too_long", "_waiting", "_waiting_size")

    def __init__(self, longest: int, too_long: Callable[[], ModelError]) -> None:
        super().__init__(longest, self._split)
        self._longest = longest
        self._too_long = too_long
        self._line: list[bytes] = []
        self._line_size = 0
        self._waiting: deque[bytes] = deque()
        self._waiting_size = 0
        self._changed = asyncio.Event()
        self._is_over = False

    async def lines(self) -> AsyncGenerator[bytes]:
        """Each line that is not empty, as it comes, until `finish` was called."""
        while True:
            while self._waiting:
                line = self._waiting.popleft()
                self._waiting_size -= len(line)
                if self._waiting_size == 0:
                    self.connection.resume()
                if line.strip():
                    yield line
            if self._is_over:
                return
            self._changed.clear()
            await self._changed.wait()

    def finish(self, *, is_whole: bool) -> None:
        """No more will come; what was begun is the last line, unless it was broken off."""
        if is_whole:
            self._waiting.append(b"".join(self._line))
            self._waiting_size += self._line_size
        self._is_over = True
        self._changed.set()

    def _begin_body(self) -> None:
        if self.status < 300:
            self._largest = sys.maxsize
        super()._begin_body()

    def _split(self, piece: bytes) -> bool:
        first, *others = piece.split(b"\n")
        self._line.append(first)
        self._line_size += len(first)
        if self._line_size > self._longest:
            raise self._too_long()
        if others:
            lines = [b"".join(self._line), *others[:-1]]
            self._line, self._line_size = [others[-1]], len(others[-1])
            self._waiting.extend(lines)
            self._waiting_size += sum(map(len, lines))
            self._changed.set()
            if self._waiting_size > MAX_WAITING:
                self.connection.pause()
        return False
