"""A small HTTP/1.1 server on a free loopback port, in a thread of its own."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import orjson

HERE = "127.0.0.1"
REASONS = {200: "OK", 302: "Found", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"}


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass
class Exchange:
    """One request and the means to answer it, well or badly."""

    request: Request
    writer: asyncio.StreamWriter
    is_closed: bool = False
    headers: dict[str, str] = field(default_factory=dict)

    def _head(self, status: int, headers: dict[str, str]) -> bytes:
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
        lines += [f"{name}: {value}" for name, value in {**self.headers, **headers}.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    async def reply(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        head = {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})}
        self.writer.write(self._head(status, head) + body)
        await self.writer.drain()

    async def reply_json(self, status: int, document: Any, headers: dict[str, str] | None = None) -> None:
        await self.reply(status, orjson.dumps(document), headers)

    async def start_stream(self, content_type: str = "text/event-stream", status: int = 200) -> None:
        self.writer.write(self._head(status, {"content-type": content_type, "transfer-encoding": "chunked"}))
        await self.writer.drain()

    async def send_chunk(self, data: bytes) -> None:
        if data:
            self.writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            await self.writer.drain()

    async def end_stream(self) -> None:
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def promise_more_and_close(self, body: bytes) -> None:
        """A body cut short: fewer bytes than the head promised."""
        self.writer.write(self._head(200, {"content-type": "application/json", "content-length": str(len(body) * 2)}))
        self.writer.write(body)
        await self.writer.drain()
        self.drop()

    def drop(self) -> None:
        self.is_closed = True
        self.writer.transport.abort()


Handler = Callable[[Exchange], Awaitable[None]]


class Loopback:
    """Serves until it is closed; `url` is where."""

    def __init__(
        self, handler: Handler, port: int = 0, context: ssl.SSLContext | None = None, name: str = HERE
    ) -> None:
        self._handler = handler
        self._context = context
        self._name = name
        self._wanted_port = port
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.port = 0

    @property
    def url(self) -> str:
        return f"{'http' if self._context is None else 'https'}://{self._name}:{self.port}"

    def start(self) -> Self:
        self._thread.start()
        if not self._ready.wait(60):
            raise RuntimeError("the loopback server did not start")
        return self

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(20)

    def wait(self) -> None:
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(
            self._accept, HERE, self._wanted_port, limit=2**16, backlog=1024, ssl=self._context
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        # Accept nothing more, but let the connections that were accepted begin before the server is closed: a closed
        # server refuses them without closing their sockets, and the warning would be another test's.
        for listening in server.sockets:
            self._loop.remove_reader(listening.fileno())
        await asyncio.sleep(0)
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._converse(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (request := await read_request(reader)) is not None:
            exchange = Exchange(request, writer)
            await self._handler(exchange)
            if exchange.is_closed:
                return


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    url = urlsplit(target)
    query = {name: values[-1] for name, values in parse_qs(url.query).items()}
    return Request(method, url.path, query, headers, body)
