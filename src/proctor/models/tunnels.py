"""Through a proxy to a place: CONNECT for those that speak HTTP, SOCKS 5 for the others.

A proxy is told where to connect and what lets us in there; nothing of the request, and no key, is said to it.
"""

from __future__ import annotations

import asyncio
import struct
import sys
from collections.abc import Callable
from ipaddress import ip_address

from proctor.models.connections import HttpConnection, Parser
from proctor.models.destinations import Destination
from proctor.models.http1 import MAX_HEAD_BYTES, AnswerParser, MalformedAnswerError
from proctor.models.proxies import Proxy

NEEDS_KEY = "it asks for a user name and a password; write them as scheme://user:password@host:port"
SOCKS_WORDS = {
    1: "it failed",
    2: "its rules do not allow it",
    3: "the network cannot be reached",
    4: "the host cannot be reached",
    5: "the connection was refused",
    6: "the connection took too long",
    7: "it cannot do that",
    8: "it knows no such address",
}
SizeOf = Callable[[bytes], int]


class ProxyRefusedError(Exception):
    """The proxy did not let us through; says why, and whether it may be asked again."""

    def __init__(self, why: str, *, is_lasting: bool) -> None:
        super().__init__(why)
        self.is_lasting = is_lasting


async def open_tunnel(connection: HttpConnection, proxy: Proxy, destination: Destination, user_agent: str) -> None:
    """Make what follows on a connection to a proxy go to the place; raises ProxyRefusedError, MalformedAnswerError."""
    if proxy.is_relay:
        await _connect(connection, proxy, destination, user_agent)
    else:
        await _greet(connection, proxy)
        await _through_socks(connection, destination)


def refusal(status: int) -> ProxyRefusedError:
    """What a proxy's status means to us."""
    if status == 407:
        return ProxyRefusedError(f"HTTP 407: {NEEDS_KEY}", is_lasting=True)
    return ProxyRefusedError(f"HTTP {status}", is_lasting=status < 500 and status != 429)


async def _connect(connection: HttpConnection, proxy: Proxy, destination: Destination, user_agent: str) -> None:
    host = f"[{destination.host}]" if ":" in destination.host else destination.host
    fields = {"host": f"{host}:{destination.port}", "user-agent": user_agent, **proxy.authorization}
    lines = [f"CONNECT {host}:{destination.port} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    answer = _TunnelAnswer()
    await _exchange(connection, ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"), answer)
    if not 200 <= answer.status < 300:
        raise refusal(answer.status)
    if answer.has_more:
        raise MalformedAnswerError("it spoke before the server did")


class _TunnelAnswer(AnswerParser):
    """The head of an answer to CONNECT: a body does not matter, or is none."""

    __slots__ = ("_begun", "has_more")

    def __init__(self) -> None:
        super().__init__(sys.maxsize)
        self._begun = b""
        self.has_more = False

    def feed(self, data: bytes) -> bool:
        self._begun += data
        while not self._has_head and (end := self._begun.find(b"\r\n\r\n")) >= 0:
            super().feed(self._begun[: end + 4])
            self._begun = self._begun[end + 4 :]
        if not self._has_head and len(self._begun) > MAX_HEAD_BYTES:
            raise MalformedAnswerError(f"its head is longer than {MAX_HEAD_BYTES // 1024} KiB")
        self.has_more = self._has_head and bool(self._begun)
        return self._has_head


async def _greet(connection: HttpConnection, proxy: Proxy) -> None:
    methods = b"\x00\x02" if proxy.user else b"\x00"
    chosen = (await _said(connection, b"\x05%c%b" % (len(methods), methods), lambda _: 2))[1]
    if chosen == 2 and proxy.user:
        asked = b"\x01" + _measured(proxy.user) + _measured(proxy.password)
        if (await _said(connection, asked, lambda _: 2, version=1))[1] != 0:
            raise ProxyRefusedError("it does not accept the user name and password", is_lasting=True)
    elif chosen != 0:
        raise ProxyRefusedError(NEEDS_KEY, is_lasting=True)


async def _through_socks(connection: HttpConnection, destination: Destination) -> None:
    said = await _said(
        connection, b"\x05\x01\x00" + _address(destination.host) + struct.pack("!H", destination.port), _reply_size
    )
    if said[1] != 0:
        raise ProxyRefusedError(SOCKS_WORDS.get(said[1], "it failed"), is_lasting=said[1] in (2, 7, 8))


def _address(host: str) -> bytes:
    """Names are left to the proxy: it may know some that we do not."""
    try:
        found = ip_address(host)
    except ValueError:
        return b"\x03" + _measured(host)
    return (b"\x01" if found.version == 4 else b"\x04") + found.packed


def _measured(text: str) -> bytes:
    data = text.encode()
    if len(data) > 255:
        raise ProxyRefusedError("SOCKS 5 has no room for names and passwords of more than 255 bytes", is_lasting=True)
    return b"%c%b" % (len(data), data)


def _reply_size(begun: bytes) -> int:
    if len(begun) < 5:
        return 5
    sizes = {1: 10, 3: 7 + begun[4], 4: 22}
    if begun[3] not in sizes:
        raise MalformedAnswerError("it does not speak SOCKS 5")
    return sizes[begun[3]]


class _Said:
    """As many bytes as they themselves announce, and none more."""

    def __init__(self, size: SizeOf, version: int) -> None:
        self.data = b""
        self._size = size
        self._version = version

    def feed(self, data: bytes) -> bool:
        self.data += data
        if self.data[0] != self._version:
            raise MalformedAnswerError("it does not speak SOCKS 5")
        size = self._size(self.data)
        if len(self.data) > size:
            raise MalformedAnswerError("it spoke before the server did")
        return len(self.data) == size

    def end(self, *, is_announced: bool) -> None:  # noqa: ARG002 - it is too early either way
        raise MalformedAnswerError("it closed the connection")


async def _said(connection: HttpConnection, request: bytes, size: SizeOf, version: int = 5) -> bytes:
    said = _Said(size, version)
    await _exchange(connection, request, said)
    return said.data


async def _exchange(connection: HttpConnection, request: bytes, parser: Parser) -> None:
    answer = asyncio.get_running_loop().create_future()
    connection.ask(request, parser, answer)
    await answer
