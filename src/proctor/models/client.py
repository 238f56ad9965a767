"""HTTP/1.1 on the running event loop: a pool of kept connections, and nothing else."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping

from proctor.models.connections import (
    READ_AT_ONCE,
    BrokenConnectionError,
    HttpConnection,
    NoConnectionError,
)
from proctor.models.destinations import UnsendableError
from proctor.models.dialing import Route, dial
from proctor.models.http1 import AnswerParser, MalformedAnswerError

IDLE_SECONDS = 30.0
"""A connection unused for longer is not trusted to be there still."""
OURS = frozenset({"content-length", "transfer-encoding"})

_SENDABLE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class HttpClient:
    """Keeps as many connections as there were requests at once, for as long as the event loop they were made in."""

    def __init__(self, user_agent: str, connect_seconds: float, idle_seconds: float = IDLE_SECONDS) -> None:
        self._user_agent = user_agent
        self._fixed = {"user-agent": user_agent, "accept": "*/*", "accept-encoding": "gzip"}
        self._connect_seconds = connect_seconds
        self._idle_seconds = idle_seconds
        self._buffer = memoryview(bytearray(READ_AT_ONCE))
        self._idle: dict[tuple[object, ...], list[HttpConnection]] = {}
        self._connections: set[HttpConnection] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: asyncio.Task[None] | None = None
        self._last_asked: tuple[object, ...] = ()
        self._last_head = b""
        """The head of the request that was written last: most are followed by more of the same."""
        self._last_idle: tuple[Route | None, list[HttpConnection]] = (None, [])

    async def exchange(
        self,
        method: str,
        route: Route,
        headers: Mapping[str, str],
        body: bytes | None,
        parser: AnswerParser,
        timeout_seconds: float,
    ) -> None:
        """Ask; the parser is given what comes, when it comes, until it has the whole answer.

        Raises TimeoutError, BodyTooLargeError, BrokenConnectionError, or what `dial` raises.
        """
        request = self._written(method, route, headers, body)
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._begin(loop)
        idle = self._idle_on(route)
        connection = self._kept(idle, loop.time())
        if connection is None:
            connection, timeout_seconds = await self._connected(loop, route, timeout_seconds)
        parser.begin(connection)
        answer = loop.create_future()
        is_whole = False
        try:
            connection.ask(request, parser, answer)
            connection.expire_after(timeout_seconds)
            await answer
            is_whole = True
            parser.seconds = connection.received_at - connection.asked_at
        except MalformedAnswerError as error:
            raise BrokenConnectionError(str(error)) from None
        finally:
            if is_whole and parser.is_reusable and connection.is_open:
                connection.idle_since = loop.time()
                idle.append(connection)
            else:
                connection.abort()

    async def _connected(
        self, loop: asyncio.AbstractEventLoop, route: Route, timeout_seconds: float
    ) -> tuple[HttpConnection, float]:
        """A new connection, and how much of the time is left."""
        started, longest = time.monotonic(), min(timeout_seconds, self._connect_seconds)
        try:
            async with asyncio.timeout(longest):
                connection = await dial(route, self._buffer, self._user_agent)
        except TimeoutError:
            if longest == timeout_seconds:
                raise
            raise NoConnectionError(f"none within {longest:g} s") from None
        if loop is not self._loop:
            connection.abort()
            raise BrokenConnectionError("it was closed before anything was asked")
        connections = self._connections
        connections.add(connection)
        connection.lost.add_done_callback(lambda _: connections.discard(connection))
        return connection, timeout_seconds - (time.monotonic() - started)

    async def close(self) -> None:
        """End every connection and wait until they are gone."""
        ending, self._ending, self._loop = self._ending, None, None
        if ending is not None and not ending.done() and ending.get_loop() is asyncio.get_running_loop():
            ending.cancel()
            await asyncio.wait([ending])

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start anew in this loop; the connections of an earlier one have ended with it."""
        self._idle, self._last_idle, self._connections, self._loop = {}, (None, []), set(), loop
        self._ending = loop.create_task(self._end_when_cancelled())

    async def _end_when_cancelled(self) -> None:
        """Wait to be cancelled, by `close` or by the end of the loop: only then can connections be ended in peace."""
        connections = self._connections
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            for connection in connections:
                connection.abort()
            if connections:
                await asyncio.wait([connection.lost for connection in connections])

    def _idle_on(self, route: Route) -> list[HttpConnection]:
        """The connections from earlier that a request on this way may take."""
        if self._last_idle[0] is not route:
            way = (route.destination.host, route.destination.port, route.destination.is_secure, route.proxy)
            self._last_idle = (route, self._idle.setdefault(way, []))
        return self._last_idle[1]

    def _kept(self, idle: list[HttpConnection], now: float) -> HttpConnection | None:
        """The one used last: the others may be left to die."""
        while idle:
            connection = idle.pop()
            if connection.is_open:
                if now - connection.idle_since < self._idle_seconds:
                    return connection
                connection.abort()
        return None

    def _written(self, method: str, route: Route, headers: Mapping[str, str], body: bytes | None) -> bytes:
        if self._last_asked != (method, route, headers):
            self._last_head = self._head(method, route, headers)
            self._last_asked = (method, route, dict(headers))
        if body is None:
            return self._last_head + b"\r\n"
        return b"%bcontent-length: %d\r\n\r\n%b" % (self._last_head, len(body), body)

    def _head(self, method: str, route: Route, headers: Mapping[str, str]) -> bytes:
        fields = {"host": route.destination.netloc, **self._fixed}
        fields |= {name.lower(): value for name, value in headers.items() if name.lower() not in OURS}
        address = route.destination.path
        if route.is_relayed and route.proxy is not None:
            address = f"{route}{address}"
            fields |= route.proxy.authorization
        for name, value in fields.items():
            if _NAME.fullmatch(name) is None or _SENDABLE.fullmatch(value) is None:
                raise UnsendableError("a header holds a character that HTTP does not allow")
        lines = [f"{method} {address} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
        return ("\r\n".join(lines) + "\r\n").encode("latin-1")
