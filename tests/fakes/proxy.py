"""A proxy on loopback: CONNECT or SOCKS 5, with a password or not, that may refuse; it keeps what it was told."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode

from fakes.loopback import Exchange, Loopback


class Proxy(Loopback):
    """Whatever name it is asked for, it connects to that port of this machine."""

    def __init__(
        self,
        *,
        is_socks: bool = False,
        status: int = 200,
        login: tuple[str, str] | None = None,
        context: ssl.SSLContext | None = None,
        greeting: bytes = b"",
    ) -> None:
        super().__init__(_nothing, context=context)
        self.heard: list[bytes] = []
        """Everything said to the proxy itself."""
        self.passed = 0
        """How many bytes went through it."""
        self._is_socks = is_socks
        self._status = status
        self._login = login
        self._greeting = greeting

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        port = await (self._socks(reader, writer) if self._is_socks else self._connect(reader, writer))
        if port is None:
            return
        there, back = await asyncio.open_connection("127.0.0.1", port)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass(reader, back))
                group.create_task(self._pass(there, writer))
        except* ConnectionError:
            pass
        finally:
            back.transport.abort()
            writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(2**16):
            self.passed += len(data)
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int | None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heard.append(head)
        method, place, _ = head.split(b" ", 2)
        assert method == b"CONNECT"
        is_welcome = self._login is None or self._basic() in head
        status = self._status if is_welcome else 407
        # Like many proxies, it says HTTP/1.0 and means a tunnel that stays.
        writer.write(b"HTTP/1.0 %d Whatever\r\nx: y\r\n\r\n%b" % (status, self._greeting))
        await writer.drain()
        return int(place.rpartition(b":")[2]) if status == 200 else None

    def _basic(self) -> bytes:
        assert self._login is not None
        return b"Basic " + b64encode(":".join(self._login).encode())

    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int | None:
        methods = await reader.readexactly((await reader.readexactly(2))[1])
        wanted = 0 if self._login is None else 2
        writer.write(bytes((5, wanted if wanted in methods else 255)))
        if wanted not in methods:
            return None
        if self._login is not None:
            user = await reader.readexactly((await reader.readexactly(2))[1])
            word = await reader.readexactly((await reader.readexactly(1))[0])
            is_welcome = (user.decode(), word.decode()) == self._login
            writer.write(bytes((1, 0 if is_welcome else 1)))
            if not is_welcome:
                return None
        kind = (await reader.readexactly(4))[3]
        size = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
        name, port = await reader.readexactly(size), await reader.readexactly(2)
        self.heard.append(name)
        code = 0 if self._status == 200 else self._status
        # In two pieces, and with a name as the address: both are allowed.
        writer.write(bytes((5, code, 0, 3)))
        await writer.drain()
        await asyncio.sleep(0.01)
        writer.write(b"\x04here\x00\x00" + self._greeting)
        await writer.drain()
        return int.from_bytes(port) if code == 0 else None


async def _nothing(exchange: Exchange) -> None:
    """Never called: a proxy answers nothing itself."""
