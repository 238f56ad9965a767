"""A port of this machine that leads into a workspace through its agent, for runners whose network nobody can join."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
import struct

from proctor.domain.errors import SandboxError
from proctor.domain.workspace import Reach
from proctor.sandboxes.workspaces.connection import AgentConnection, WorkspaceLostError

_READ = 1 << 16
_RESET = struct.pack("ii", 1, 0)


class Tunnel:
    """Listens on loopback, one port for every port asked for; every connection becomes one inside."""

    def __init__(self, line: AgentConnection) -> None:
        self._line = line
        self._numbers = itertools.count(1)
        self._servers: dict[int, asyncio.Server] = {}
        self._connections: set[asyncio.Task[None]] = set()
        self._lock = asyncio.Lock()

    async def reach(self, port: int) -> Reach:
        async with self._lock:
            if port not in self._servers:
                self._servers[port] = await asyncio.start_server(
                    lambda reader, writer: self._accept(port, reader, writer), "127.0.0.1", 0, limit=_READ
                )
        return Reach((), "127.0.0.1", self._servers[port].sockets[0].getsockname()[1])

    def _accept(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._carry(port, reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _carry(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = next(self._numbers)
        incoming = self._line.flow(number)
        is_broken = True
        try:
            answer, _ = await self._line.ask({"op": "connect", "flow": number, "port": port})
            if answer["is_open"]:
                is_broken = await self._both_ways(number, incoming, reader, writer)
        except (WorkspaceLostError, OSError):
            pass  # seen by the client as a connection that breaks, which it is
        finally:
            self._line.forget_flow(number)
            self._line.say({"op": "taken", "flow": number, "count": 0})
            if is_broken:
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _both_ways(
        self,
        number: int,
        incoming: asyncio.Queue[bytes | None],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        """Until the service has said everything; whether the connection broke."""
        outgoing = asyncio.create_task(self._outgoing(number, reader))
        try:
            while True:
                data = await incoming.get()
                if not data:
                    return data is None
                writer.write(data)
                await writer.drain()
                self._line.say({"op": "taken", "flow": number, "count": len(data)})
        finally:
            outgoing.cancel()
            await asyncio.wait({outgoing})

    async def _outgoing(self, number: int, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError, SandboxError):
            data = b"-"
            while data:
                data = await reader.read(_READ)
                await self._line.ask({"op": "pour", "flow": number}, data, timeout_seconds=None)

    async def close(self) -> None:
        for server in self._servers.values():
            server.close()
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)
