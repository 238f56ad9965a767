"""Plain HTTP/1.1 straight to a server: a pool of kept connections on the running event loop, and nothing else.

For servers of one's own (vLLM, Ollama, llama.cpp, a gateway on the same network), which answer quickly enough for the
client's own cost to count. TLS and proxies are not its business.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

from proctor.models.http1 import AnswerParser, MalformedAnswerError, TooLargeError

IDLE_SECONDS = 30.0
"""A connection unused for longer is not trusted to be there still."""
LINGER_SECONDS = 0.25
"""A server that has said all there is to say, and does not end its stream, is waited for no longer."""
PROXY_VARIABLES = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")

_PLAIN_URL = re.compile(r"http://[A-Za-z0-9.:\[\]_-]+(?:[/?][!$%&'()*+,./0-9:;=?@A-Z_a-z~-]*)?")
_SENDABLE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
OURS = frozenset({"content-length", "transfer-encoding"})


class NoConnectionError(Exception):
    """The server could not be reached; says why."""


class BrokenConnectionError(Exception):
    """There was a connection, and it did not last until the answer was whole; says why."""


class UnsendableError(Exception):
    """The request cannot be written as HTTP."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a plain address leads."""

    host: str
    port: int
    netloc: str
    path: str


def place_of(url: str) -> Place | None:
    """The parts of an address that can be sent exactly as it is written; None for any other."""
    if _PLAIN_URL.fullmatch(url) is None or "/." in url:
        return None
    parts = urlsplit(url)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return None if not host else Place(host, port or 80, parts.netloc, path)


def has_proxy() -> bool:
    """Whether requests may have to go through a proxy; where the system itself can name one, that must be assumed."""
    return sys.platform != "linux" or any(os.environ.get(name) for name in PROXY_VARIABLES)


class StreamParser(AnswerParser):
    """A parser that may have enough before the server has ended."""

    when_enough: Callable[[], object]


class Connection(asyncio.Protocol):
    """One connection: a request at a time."""

    __slots__ = ("_answer", "_parser", "_transport", "idle_since", "is_open", "lost")

    def __init__(self, lost: asyncio.Future[None]) -> None:
        self.lost = lost
        self.is_open = False
        self.idle_since = 0.0
        self._transport: asyncio.Transport | None = None
        self._parser: AnswerParser | None = None
        self._answer: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = True

    def ask(self, request: bytes, parser: AnswerParser, answer: asyncio.Future[None]) -> None:
        """Send; the future is done once the parser has the whole answer."""
        self._parser, self._answer = parser, answer
        cast("asyncio.Transport", self._transport).write(request)

    def data_received(self, data: bytes) -> None:
        if self._parser is None:
            self.abort()  # It speaks without being asked.
            return
        try:
            if self._parser.feed(data):
                self._finish(None)
        except (MalformedAnswerError, TooLargeError) as error:
            self._finish(error)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        if self._parser is not None:
            fault: Exception | None = None
            try:
                self._parser.end()
            except MalformedAnswerError as cut:
                fault = BrokenConnectionError(_words(error) if isinstance(error, OSError) else str(cut))
            self._finish(fault)
        if not self.lost.done():
            self.lost.set_result(None)

    def expire(self) -> None:
        self._finish(TimeoutError())

    def leave(self, parser: StreamParser) -> None:
        """Take the answer as it is, unless it has ended by now; the connection cannot be used again."""
        if self._parser is parser:
            parser.is_reusable = False
            self._finish(None)

    def abort(self) -> None:
        self.is_open = False
        self._parser = self._answer = None
        if self._transport is not None:
            self._transport.abort()

    def _finish(self, error: Exception | None) -> None:
        answer, self._answer, self._parser = self._answer, None, None
        if answer is None or answer.done():
            return
        if error is None:
            answer.set_result(None)
        else:
            answer.set_exception(error)


class DirectClient:
    """Keeps as many connections as there were requests at once, for as long as the event loop they were made in."""

    def __init__(self, user_agent: str, connect_seconds: float, idle_seconds: float = IDLE_SECONDS) -> None:
        self._fixed = {"user-agent": user_agent, "accept": "*/*", "accept-encoding": "identity"}
        self._connect_seconds = connect_seconds
        self._idle_seconds = idle_seconds
        self._idle: dict[tuple[str, int], list[Connection]] = {}
        self._connections: set[Connection] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._last_head: tuple[object, bytes] = (None, b"")

    async def send(
        self,
        method: str,
        place: Place,
        headers: Mapping[str, str],
        body: bytes | None,
        *,
        timeout_seconds: float,
        largest: int,
    ) -> AnswerParser:
        """The whole answer; raises TimeoutError, TooLargeError, or one of this module's errors."""
        request = self._written(method, place, headers, body)
        parser = AnswerParser(largest, is_bodiless=method == "HEAD")
        connection, timeout_seconds = await self._connected(place, timeout_seconds)
        await self._exchange(connection, place, request, parser, timeout_seconds)
        return parser

    async def stream(
        self, place: Place, headers: Mapping[str, str], body: bytes, parser: StreamParser, *, timeout_seconds: float
    ) -> None:
        """POST; the parser is given what comes, when it comes. Raises what `send` raises."""
        request = self._written("POST", place, headers, body)
        connection, timeout_seconds = await self._connected(place, timeout_seconds)
        loop = asyncio.get_running_loop()
        parser.when_enough = lambda: loop.call_later(LINGER_SECONDS, connection.leave, parser)
        await self._exchange(connection, place, request, parser, timeout_seconds)

    async def _connected(self, place: Place, timeout_seconds: float) -> tuple[Connection, float]:
        """A connection, and how much of the time is left."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._begin(loop)
        connection = self._kept(place, loop.time())
        if connection is not None:
            return connection, timeout_seconds
        started = time.monotonic()
        connection = await self._connect(place, timeout_seconds)
        return connection, timeout_seconds - (time.monotonic() - started)

    async def _exchange(
        self, connection: Connection, place: Place, request: bytes, parser: AnswerParser, timeout_seconds: float
    ) -> None:
        loop = asyncio.get_running_loop()
        answer = loop.create_future()
        timer = loop.call_later(timeout_seconds, connection.expire)
        is_whole = False
        try:
            connection.ask(request, parser, answer)
            await answer
            is_whole = True
        except MalformedAnswerError as error:
            raise BrokenConnectionError(str(error)) from None
        finally:
            timer.cancel()
            if is_whole and parser.is_reusable and connection.is_open:
                connection.idle_since = loop.time()
                self._idle.setdefault((place.host, place.port), []).append(connection)
            else:
                connection.abort()

    async def close(self) -> None:
        """End every connection and wait until they are gone."""
        keeper, self._keeper, self._loop = self._keeper, None, None
        if keeper is not None and not keeper.done() and keeper.get_loop() is asyncio.get_running_loop():
            keeper.cancel()
            await asyncio.wait([keeper])

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start anew in this loop; the connections of an earlier one have ended with it."""
        self._idle, self._connections, self._loop = {}, set(), loop
        self._keeper = loop.create_task(self._keep())

    async def _keep(self) -> None:
        """Wait to be cancelled, by `close` or by the end of the loop: only then can connections be ended in peace."""
        connections = self._connections
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            for connection in connections:
                connection.abort()
            if connections:
                await asyncio.wait([connection.lost for connection in connections])

    def _kept(self, place: Place, now: float) -> Connection | None:
        """A connection from earlier, the one used last first: the others may be left to die."""
        idle = self._idle.get((place.host, place.port))
        while idle:
            connection = idle.pop()
            if connection.is_open:
                if now - connection.idle_since < self._idle_seconds:
                    return connection
                connection.abort()
        return None

    async def _connect(self, place: Place, timeout_seconds: float) -> Connection:
        loop = asyncio.get_running_loop()
        connection = Connection(loop.create_future())
        try:
            async with asyncio.timeout(min(timeout_seconds, self._connect_seconds)):
                await loop.create_connection(lambda: connection, place.host, place.port)
        except TimeoutError:
            raise
        except OSError as error:
            raise NoConnectionError(_words(error)) from None
        connections = self._connections
        connections.add(connection)
        connection.lost.add_done_callback(lambda _: connections.discard(connection))
        return connection

    def _written(self, method: str, place: Place, headers: Mapping[str, str], body: bytes | None) -> bytes:
        key = (method, place, *headers.items())
        if self._last_head[0] != key:
            self._last_head = (key, self._head(method, place, headers))
        if body is None:
            return self._last_head[1] + b"\r\n"
        return b"%bcontent-length: %d\r\n\r\n%b" % (self._last_head[1], len(body), body)

    def _head(self, method: str, place: Place, headers: Mapping[str, str]) -> bytes:
        fields = {"host": place.netloc, **self._fixed}
        fields |= {name.lower(): value for name, value in headers.items() if name.lower() not in OURS}
        for name, value in fields.items():
            if _NAME.fullmatch(name) is None or _SENDABLE.fullmatch(value) is None:
                raise UnsendableError("a header holds a character that HTTP does not allow")
        lines = [f"{method} {place.path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
        return ("\r\n".join(lines) + "\r\n").encode("latin-1")


def _words(error: OSError) -> str:
    """What the system says, without the addresses that Python adds."""
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return error.strerror or str(error) or type(error).__name__
