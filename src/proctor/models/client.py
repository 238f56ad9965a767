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
    StreamParser,
)
from proctor.models.destinations import UnsendableError
from proctor.models.dialing import Route, dial
from proctor.models.http1 import AnswerParser, MalformedAnswerError

IDLE_SECONDS = 30.0
"""A connection unused for longer is not trusted to be there still."""
LINGER_SECONDS = 0.25
"""A server that has said all there is to say, and does not end its stream, is waited for no longer."""
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
        self._last_head: tuple[object, bytes] = (None, b"")

    async def send(
        self,
        method: str,
        route: Route,
        headers: Mapping[str, str],
        body: bytes | None,
        *,
        timeout_seconds: float,
        largest: int,
    ) -> AnswerParser:
        """The whole answer; raises TimeoutError, TooLargeError, BrokenConnectionError, or what `dial` raises."""
        request = self._written(method, route, headers, body)
        parser = AnswerParser(largest)
        connection, timeout_seconds = await self._connected(route, timeout_seconds)
        await self._exchange(connection, route, request, parser, timeout_seconds)
        return parser

    async def stream(
        self,
        method: str,
        route: Route,
        headers: Mapping[str, str],
        body: bytes | None,
        parser: StreamParser,
        *,
        timeout_seconds: float,
    ) -> None:
        """Ask; the parser is given what comes, when it comes. Raises what `send` raises."""
        # Compressed by someone on the way, pieces would come when it has enough of them.
        request = self._written(method, route, {"accept-encoding": "identity", **headers}, body)
        connection, timeout_seconds = await self._connected(route, timeout_seconds)
        parser.connection = connection
        parser.when_enough = lambda: connection.leave_soon(parser, LINGER_SECONDS)
        await self._exchange(connection, route, request, parser, timeout_seconds)

    async def _connected(self, route: Route, timeout_seconds: float) -> tuple[HttpConnection, float]:
        """A connection, and how much of the time is left."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._begin(loop)
        connection = self._kept(route, loop.time())
        if connection is not None:
            return connection, timeout_seconds
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

    async def _exchange(
        self, connection: HttpConnection, route: Route, request: bytes, parser: AnswerParser, timeout_seconds: float
    ) -> None:
        loop = asyncio.get_running_loop()
        answer = loop.create_future()
        timer = loop.call_later(timeout_seconds, connection.expire)
        is_whole = False
        try:
            connection.ask(request, parser, answer)
            await answer
            is_whole = True
            parser.seconds = connection.received_at - connection.asked_at
        except MalformedAnswerError as error:
            raise BrokenConnectionError(str(error)) from None
        finally:
            timer.cancel()
            if is_whole and parser.is_reusable and connection.is_open:
                connection.idle_since = loop.time()
                self._idle.setdefault(_way(route), []).append(connection)
            else:
                connection.abort()

    async def close(self) -> None:
        """End every connection and wait until they are gone."""
        ending, self._ending, self._loop = self._ending, None, None
        if ending is not None and not ending.done() and ending.get_loop() is asyncio.get_running_loop():
            ending.cancel()
            await asyncio.wait([ending])

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start anew in this loop; the connections of an earlier one have ended with it."""
        self._idle, self._connections, self._loop = {}, set(), loop
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

    def _kept(self, route: Route, now: float) -> HttpConnection | None:
        """A connection from earlier, the one used last first: the others may be left to die."""
        idle = self._idle.get(_way(route))
        while idle:
            connection = idle.pop()
            if connection.is_open:
                if now - connection.idle_since < self._idle_seconds:
                    return connection
                connection.abort()
        return None

    def _written(self, method: str, route: Route, headers: Mapping[str, str], body: bytes | None) -> bytes:
        key = (method, route, *headers.items())
        if self._last_head[0] != key:
            self._last_head = (key, self._head(method, route, headers))
        if body is None:
            return self._last_head[1] + b"\r\n"
        return b"%bcontent-length: %d\r\n\r\n%b" % (self._last_head[1], len(body), body)

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


def _way(route: Route) -> tuple[object, ...]:
    """What two requests must have in common to share a connection."""
    return route.destination.host, route.destination.port, route.destination.is_secure, route.proxy
