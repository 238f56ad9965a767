"""A connection that carries one request after another, over TLS or not: pieces are read where they are received."""

from __future__ import annotations

import asyncio
import math
import os
import socket
import ssl
import struct
import sys
import time
from typing import Protocol, cast

from proctor.models.http1 import AnswerParser, BodyTooLargeError, MalformedAnswerError

READ_AT_ONCE = 256 * 1024
HAS_ARRIVAL_TIMES = sys.platform == "linux"
LINGER_SECONDS = 0.25
"""A server that has said all there is to say, and does not end its stream, is waited for no longer."""
KERNEL_STEP_SECONDS = 0.004
"""The kernel counts arrivals in steps of 1 to 4 ms."""
_LAST_ARRIVAL = struct.Struct("=52xI")
"""Of Linux's `struct tcp_info`: tcpi_last_data_recv, the milliseconds since data last came in."""


class NoConnectionError(Exception):
    """The server could not be reached; says why."""


class BrokenConnectionError(Exception):
    """There was a connection, and it did not last until the answer was whole; says why."""


class Parser(Protocol):
    """Takes what a connection receives."""

    def feed(self, data: bytes) -> bool:
        """Take some more; True once there is all of it."""
        ...

    def end(self, *, is_announced: bool) -> None:
        """The other side has ended, in due form or not; raises MalformedAnswerError when that is too early."""
        ...


class HttpConnection(asyncio.BufferedProtocol):
    """One connection: a request at a time.

    Connections of one client share a buffer: what is received is read at once, before anything else can be. A buffer
    of our own is what makes TLS cheap, too: without one Python reserves 256 KiB for each of its records.
    """

    __slots__ = (
        "_answer", "_buffer", "_expires_at", "_is_announced", "_is_paused", "_loop", "_parser", "_timer", "asked_at",
        "idle_since", "is_open", "lost", "received_at", "socket", "transport",
    )  # fmt: skip

    def __init__(self, buffer: memoryview) -> None:
        self._loop = asyncio.get_running_loop()
        self.lost: asyncio.Future[None] = self._loop.create_future()
        self.is_open = False
        self.idle_since = 0.0
        self.asked_at = 0.0
        """When the request had been written, by `time.perf_counter`."""
        self.received_at = 0.0
        """When the last piece came in at this machine, which is earlier than it is read where there is much to do."""
        self.transport: asyncio.Transport | None = None
        self.socket: socket.socket | None = None
        """The transport's own, which knows when data came in; None where that is not asked for."""
        self._buffer = buffer
        self._parser: Parser | None = None
        self._answer: asyncio.Future[None] | None = None
        self._expires_at = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._is_paused = False
        self._is_announced = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.is_open = True

    async def secure(self, context: ssl.SSLContext, host: str) -> None:
        """Speak TLS from now on, with whoever proves to be the host."""
        transport = cast("asyncio.Transport", self.transport)
        self.transport = await self._loop.start_tls(transport, self, context, server_hostname=host)

    def ask(self, request: bytes, parser: Parser, answer: asyncio.Future[None]) -> None:
        """Send; the future is done once the parser has the whole answer."""
        self._parser, self._answer = parser, answer
        cast("asyncio.Transport", self.transport).write(request)
        self.asked_at = self.received_at = time.perf_counter()

    def expire_after(self, seconds: float) -> None:
        """Break what is being asked off when it takes longer.

        Most answers come in time: one timer looks after many of them, and is set anew only when it has run out.
        """
        self._expires_at = self._loop.time() + seconds
        if self._timer is None or self._timer.when() > self._expires_at:
            self._stop_timer()
            self._timer = self._loop.call_later(seconds, self._look_at_time)

    def _look_at_time(self) -> None:
        self._timer = None
        left = self._expires_at - self._loop.time()
        if self._answer is None:
            return
        if left > 0:
            self._timer = self._loop.call_later(left, self._look_at_time)
        else:
            self._finish(TimeoutError())

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - it is as large as it is
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self._parser is None:
            self.abort()  # It speaks without being asked.
            return
        try:
            if self._parser.feed(bytes(self._buffer[:nbytes])):
                self._note_arrival()
                self._finish(None)
        except (MalformedAnswerError, BodyTooLargeError) as error:
            self._finish(error)

    def _note_arrival(self) -> None:
        """Only the last piece's arrival is wanted, and asking the kernel costs as much as reading a short answer."""
        now = time.perf_counter()
        arrived = now - self._seconds_unread()
        # A step of the kernel can lead to before the question: then the answer came within that step.
        self.received_at = arrived if arrived > self.asked_at else min(now, self.asked_at + KERNEL_STEP_SECONDS / 2)

    def _seconds_unread(self) -> float:
        """How long ago the last data came in, by the kernel's count; 0 where it keeps none."""
        if self.socket is None:
            return 0.0
        info = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_ARRIVAL.size)
        return float(_LAST_ARRIVAL.unpack(info)[0]) / 1000

    def eof_received(self) -> None:
        """Over TLS an end must have been said by the server: a line that was cut ends, too."""
        self.is_open = False
        self._note_arrival()
        secure = cast("asyncio.Transport", self.transport).get_extra_info("ssl_object")
        try:
            self._is_announced = secure is None or not secure.read(1)
        except ssl.SSLError:
            self._is_announced = False

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self._stop_timer()
        if self._parser is not None:
            fault: Exception | None = None
            try:
                self._parser.end(is_announced=self._is_announced)
            except MalformedAnswerError as cut:
                fault = BrokenConnectionError(system_words(exc) if isinstance(exc, OSError) else str(cut))
            self._finish(fault)
        if not self.lost.done():
            self.lost.set_result(None)

    def leave_soon(self, parser: AnswerParser) -> None:
        """All that is wanted has come, now: the server has a moment to end, and may also just go away."""
        self._note_arrival()
        self._loop.call_later(LINGER_SECONDS, self.leave, parser)

    def leave(self, parser: AnswerParser) -> None:
        """Take the answer as it is, unless it has ended by now; the connection cannot be used again."""
        if self._parser is parser:
            parser.is_reusable = False
            self._note_arrival()
            self._finish(None)

    def pause(self) -> None:
        """Let the server wait: what it has sent cannot be taken in yet."""
        if self.is_open and not self._is_paused and self._parser is not None:
            self._is_paused = True
            cast("asyncio.Transport", self.transport).pause_reading()

    def resume(self) -> None:
        if self._is_paused:
            self._is_paused = False
            if self.is_open:
                cast("asyncio.Transport", self.transport).resume_reading()

    def abort(self) -> None:
        """End it at once; whoever still waits for an answer is told."""
        self.is_open = False
        self._stop_timer()
        self._finish(BrokenConnectionError("it was given up"))
        if self.transport is not None:
            self.transport.abort()

    def _finish(self, error: Exception | None) -> None:
        answer, self._answer, self._parser = self._answer, None, None
        if self._is_paused:
            self.resume()
        if answer is None or answer.done():
            return
        if error is None:
            answer.set_result(None)
        else:
            answer.set_exception(error)


def system_words(error: OSError) -> str:
    """What the system says, without the addresses that Python adds."""
    if isinstance(error, ssl.SSLError):
        return (error.reason or type(error).__name__).replace("_", " ").lower()
    # A name that is not found has a number of its own kind, and in some systems a positive one.
    if error.errno is not None and error.errno > 0 and not isinstance(error, socket.gaierror):
        return os.strerror(error.errno)
    return error.strerror or str(error) or "it hung up"
