"""From a place to an open connection: look its name up, connect, go through a proxy, agree on TLS."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import suppress
from ipaddress import ip_address
from itertools import chain, zip_longest
from typing import Any

from msgspec import Struct

from proctor.models.connections import (
    HAS_ARRIVAL_TIMES,
    BrokenConnectionError,
    HttpConnection,
    NoConnectionError,
    system_words,
)
from proctor.models.destinations import Destination
from proctor.models.http1 import MalformedAnswerError
from proctor.models.proxies import Proxy
from proctor.models.trust import UntrustedError, distrust, tls_words, trusted
from proctor.models.tunnels import open_tunnel

HEAD_START_SECONDS = 0.25
"""How long an address is waited for before the next of the same name is tried beside it: RFC 8305."""

Address = tuple[socket.AddressFamily, Any]
"""A family, and an address as the system writes it."""


class Route(Struct, frozen=True):
    """A place, and the proxy on the way to it."""

    destination: Destination
    proxy: Proxy | None = None

    @property
    def is_relayed(self) -> bool:
        """Whether a proxy reads the request itself: it is named the whole address then."""
        return self.proxy is not None and self.proxy.is_relay and not self.destination.is_secure

    def __str__(self) -> str:
        return f"{'https' if self.destination.is_secure else 'http'}://{self.destination.netloc}"


async def dial(route: Route, buffer: memoryview, user_agent: str) -> HttpConnection:
    """An open connection; raises NoConnectionError, UntrustedError or ProxyRefusedError, each of which says why."""
    destination, proxy = route.destination, route.proxy
    first = destination if proxy is None else Destination(proxy.host, proxy.port, "", "", proxy.kind == "https")
    connection = HttpConnection(buffer)
    who = str(route) if proxy is None else f"the proxy {proxy}"
    is_open = False
    try:
        await _open(connection, first)
        if proxy is not None and not route.is_relayed:
            await open_tunnel(connection, proxy, destination, user_agent)
            who = str(route)
            if destination.is_secure:
                await connection.secure(trusted(), destination.host)
        is_open = True
    except TimeoutError:
        raise
    except (OSError, ValueError, UntrustedError, MalformedAnswerError, BrokenConnectionError) as error:
        raise _in_words(error, who) from None
    finally:
        if not is_open:
            connection.abort()
    return connection


def _in_words(error: Exception, who: str) -> Exception:
    prefix = f"{who}: " if who.startswith("the proxy") else ""
    if isinstance(error, ssl.SSLCertVerificationError):
        error = distrust(error)
    if isinstance(error, UntrustedError):
        return UntrustedError(f"{who} cannot be trusted {error}")
    if isinstance(error, ssl.SSLError):
        return NoConnectionError(prefix + tls_words(error))
    if isinstance(error, OSError):
        return NoConnectionError(prefix + system_words(error))
    if isinstance(error, ValueError):
        return NoConnectionError(f"{prefix}its host is no name that can be looked up")
    return NoConnectionError(prefix + str(error))


async def _open(connection: HttpConnection, destination: Destination) -> None:
    loop = asyncio.get_running_loop()
    context = trusted() if destination.is_secure else None
    connected = await _race(await _addresses(destination))
    name = destination.host if context else None
    if HAS_ARRIVAL_TIMES:
        connection.socket = connected
    # From here on the socket is the loop's: it closes it whatever happens.
    await loop.create_connection(lambda: connection, sock=connected, ssl=context, server_hostname=name)


async def _addresses(destination: Destination) -> list[Address]:
    """All there are, the two families in turn: one of them may lead nowhere."""
    with suppress(ValueError):
        version = ip_address(destination.host).version
        return [(socket.AF_INET if version == 4 else socket.AF_INET6, (destination.host, destination.port))]
    found = await asyncio.get_running_loop().getaddrinfo(destination.host, destination.port, type=socket.SOCK_STREAM)
    by_family: dict[int, list[Address]] = {}
    for family, _, _, _, address in found:
        by_family.setdefault(family, []).append((family, address))
    return [item for item in chain.from_iterable(zip_longest(*by_family.values())) if item is not None]


async def _race(addresses: list[Address]) -> socket.socket:
    """The first that connects; each begins when the one before it failed or has had its head start."""
    if len(addresses) == 1:
        return await _connect(addresses[0])
    waiting, running = addresses[::-1], set[asyncio.Task[socket.socket]]()
    failure: BaseException = OSError("the name has no address")
    try:
        while waiting or running:
            if waiting:
                running.add(asyncio.create_task(_connect(waiting.pop())))
            pause = HEAD_START_SECONDS if waiting else None
            done, running = await asyncio.wait(running, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            if won := [task for task in done if task.exception() is None]:
                running.update(won[1:])
                return won[0].result()
            failure = next((error for task in done if (error := task.exception())), failure)
        raise failure
    finally:
        for task in running:
            task.add_done_callback(_discard)
            task.cancel()


async def _connect(address: Address) -> socket.socket:
    family, where = address
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setblocking(False)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(opened, where)
    except BaseException:
        opened.close()
        raise
    return opened


def _discard(task: asyncio.Task[socket.socket]) -> None:
    """One that lost the race, or came in second."""
    if not task.cancelled() and task.exception() is None:
        task.result().close()
