"""Connections to a server: each answer belongs to the question it was asked with, whatever the server does."""

from __future__ import annotations

import asyncio
import gzip
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from ssl import SSLContext
from threading import Event, Thread
from typing import Any

import pytest
import uvloop

from proctor.domain.errors import ModelUnavailableError, ProviderFaultError
from proctor.models.client import HttpClient
from proctor.models.connections import HAS_ARRIVAL_TIMES, HttpConnection
from proctor.models.destinations import place_of
from proctor.models.dialing import Route
from proctor.models.faults import Target
from proctor.models.http1 import AnswerParser
from proctor.models.transport import Transport

Run = Callable[[Coroutine[Any, Any, Any]], Any]
Handler = Callable[["Server", bytes, asyncio.StreamWriter], Awaitable[None]]


CERTIFICATE: ContextVar[SSLContext | None] = ContextVar("certificate", default=None)
"""What servers are started with; none: over plain HTTP."""


@pytest.fixture(
    params=[(asyncio.run, False), (asyncio.run, True), (uvloop.run, False), (uvloop.run, True)],
    ids=["asyncio", "asyncio over TLS", "uvloop", "uvloop over TLS"],
)
def run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    start, is_secure = request.param
    if is_secure:
        monkeypatch.setenv("SSL_CERT_FILE", str(request.getfixturevalue("authority").file))
    token = CERTIFICATE.set(request.getfixturevalue("certificate") if is_secure else None)
    yield start
    CERTIFICATE.reset(token)


def answer(body: bytes, more: bytes = b"") -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n%b\r\n%b" % (len(body), more, body)


@dataclass
class Server:
    """Counts connections and hands each request's body to a handler, with the writer to answer by."""

    handler: Handler
    connections: int = 0
    ended: int = 0
    requests: list[bytes] = field(default_factory=list)
    port: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"{'https' if CERTIFICATE.get() else 'http'}://127.0.0.1:{self.port}/ask"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length: "))
                body = await reader.readexactly(int(length.partition(b" ")[2]))
                self.requests.append(head + body)
                await self.handler(self, body, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.ended += 1
            self.changed.set()
            writer.close()


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[tuple[Server, Transport]]:
    server = Server(handler)
    running = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=CERTIFICATE.get())
    server.port = running.sockets[0].getsockname()[1]
    transport = Transport(Target("http/m"))
    try:
        yield server, transport
    finally:
        await transport.close()
        while server.ended < server.connections:
            server.changed.clear()
            await server.changed.wait()
        running.close()


async def echo(server: Server, body: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(answer(body))


async def ask(transport: Transport, server: Server, body: bytes, timeout_seconds: float = 20) -> bytes:
    return bytes((await transport.post(server.url, {}, body, timeout_seconds)).body)


def test_one_connection_carries_one_question_after_another(run: Run) -> None:
    async def go() -> None:
        async with serving(echo) as (server, transport):
            for number in range(20):
                assert await ask(transport, server, b"%d" % number) == b"%d" % number
            assert server.connections == 1

    run(go())


def test_many_at_once_each_get_their_own_answer(run: Run) -> None:
    async def shuffled(server: Server, body: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(hash(body) % 7 / 1000)
        await echo(server, body, writer)

    async def go() -> None:
        async with serving(shuffled) as (server, transport):

            async def several(first: int) -> None:
                for number in range(first, 600, 30):
                    assert await ask(transport, server, b"%d" % number) == b"%d" % number

            async with asyncio.TaskGroup() as group:
                for first in range(30):
                    group.create_task(several(first))
            assert len(server.requests) == 600
            assert server.connections <= 30

    run(go())


class BlockingServer(Thread):
    """Answers one request when it is told to, in a thread, so that it goes on while the loop stands still."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.has_request, self.may_answer, self.has_answered = Event(), Event(), Event()
        self.answered_at = 0.0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._certificate = CERTIFICATE.get()
        self.port = self._listening.getsockname()[1]

    def run(self) -> None:
        with self._listening, self._listening.accept()[0] as plain:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # sent when it is written, also over TLS
            secured = None if self._certificate is None else self._certificate.wrap_socket(plain, server_side=True)
            with secured or plain as connection:
                while not connection.recv(65536).endswith(b"question"):
                    pass
                self.has_request.set()
                self.may_answer.wait()
                connection.sendall(answer(b"whole"))
                self.answered_at = time.perf_counter()
                self.has_answered.set()
                connection.recv(1)


@pytest.mark.skipif(not HAS_ARRIVAL_TIMES, reason="the kernel does not say when data came in")
def test_an_answer_has_come_when_it_came_not_when_a_busy_loop_reads_it(run: Run) -> None:
    async def held_up() -> None:
        server = BlockingServer()
        server.start()
        transport = Transport(Target("http/m"))
        url = f"{'https' if CERTIFICATE.get() else 'http'}://127.0.0.1:{server.port}/ask"
        asked_after = time.perf_counter()
        asking = asyncio.create_task(transport.post(url, {}, b"question", 60))
        while not server.has_request.is_set():
            await asyncio.sleep(0.005)
        server.may_answer.set()
        server.has_answered.wait()
        time.sleep(0.5)  # the loop is busy
        reply = await asking
        await transport.close()
        server.join()
        # The kernel counts in steps of up to 10 ms.
        assert reply.seconds <= server.answered_at - asked_after + 0.02

    run(held_up())


def test_a_question_of_many_megabytes_arrives_whole_and_so_does_its_answer(run: Run) -> None:
    async def go() -> None:
        async with serving(echo) as (server, transport):
            question = bytes(range(256)) * 2**15
            assert await ask(transport, server, question, 60) == question

    run(go())


@pytest.mark.parametrize("is_cancelled", [True, False], ids=["cancelled", "timed out"])
def test_a_late_answer_is_never_taken_for_the_next_ones(run: Run, is_cancelled: bool) -> None:
    async def late(server: Server, body: bytes, writer: asyncio.StreamWriter) -> None:
        if body == b"slow":
            await asyncio.sleep(0.1)
        await echo(server, body, writer)

    async def go() -> None:
        async with serving(late) as (server, transport):
            assert await ask(transport, server, b"first") == b"first"
            if is_cancelled:
                task = asyncio.create_task(ask(transport, server, b"slow"))
                while len(server.requests) < 2:
                    await asyncio.sleep(0.001)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            else:
                with pytest.raises(ProviderFaultError, match=r"no complete answer .* within 0.03 s"):
                    await ask(transport, server, b"slow", 0.03)
            for number in range(5):
                assert await ask(transport, server, b"%d" % number) == b"%d" % number
            assert server.connections == 2

    run(go())


@pytest.mark.parametrize(
    "said", [answer(b"one") + answer(b"forged"), answer(b"one", b"connection: close\r\n"), b"HTTP/1.1 200 x\r\n\r\none"]
)
def test_what_follows_an_answer_answers_nothing(run: Run, said: bytes) -> None:
    async def generous(server: Server, body: bytes, writer: asyncio.StreamWriter) -> None:
        if len(server.requests) > 1:
            await echo(server, body, writer)
            return
        writer.write(said)
        if b"content-length" not in said:
            writer.close()

    async def go() -> None:
        async with serving(generous) as (server, transport):
            assert await ask(transport, server, b"x") == b"one"
            assert await ask(transport, server, b"two") == b"two"
            assert server.connections == 2

    run(go())


def test_a_connection_that_speaks_unasked_is_given_up(run: Run) -> None:
    async def chatty(server: Server, body: bytes, writer: asyncio.StreamWriter) -> None:
        await echo(server, body, writer)
        if len(server.requests) == 1:
            await asyncio.sleep(0.01)
            writer.write(answer(b"forged"))

    async def go() -> None:
        async with serving(chatty) as (server, transport):
            assert await ask(transport, server, b"one") == b"one"
            while server.ended == 0:
                await asyncio.sleep(0.001)
            assert await ask(transport, server, b"two") == b"two"
            assert server.connections == 2

    run(go())


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (b"", "closed before the answer was complete"),
        (b"HTTP/1.1 200 OK\r\ncontent-le", "closed before the answer was complete"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", "closed before the answer was complete"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n", "closed before the answer was complete"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "something other than HTTP"),
    ],
)
def test_an_answer_that_is_not_whole_is_a_fault(run: Run, said: bytes, expected: str) -> None:
    async def breaking(server: Server, body: bytes, writer: asyncio.StreamWriter) -> None:
        if len(server.requests) > 1:
            await echo(server, body, writer)
            return
        writer.write(said)
        writer.close()

    async def go() -> None:
        async with serving(breaking) as (server, transport):
            with pytest.raises(ProviderFaultError, match=rf"connection to https?://127.0.0.1:\d+ broke \(.*{expected}"):
                await ask(transport, server, b"x")
            assert await ask(transport, server, b"two") == b"two"

    run(go())


def test_a_reset_connection_is_a_fault_in_the_systems_words(run: Run) -> None:
    async def resetting(server: Server, body: bytes, writer: asyncio.StreamWriter) -> None:
        import socket
        import struct

        raw = writer.transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async def go() -> None:
        async with serving(resetting) as (server, transport):
            with pytest.raises(ProviderFaultError, match=r"broke \(Connection reset by peer\)"):
                await ask(transport, server, b"x")

    run(go())


def test_a_drip_does_not_outlast_the_time_limit(run: Run) -> None:
    async def dripping(server: Server, body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.005)

    async def go() -> None:
        async with serving(dripping) as (server, transport):
            with pytest.raises(ProviderFaultError, match="no complete answer"):
                await ask(transport, server, b"x", 0.1)

    run(go())


def test_a_connection_unused_for_too_long_is_not_trusted(run: Run) -> None:
    async def go() -> None:
        async with serving(echo) as (server, _):
            route = Route(place_of(server.url))
            client = HttpClient("test", 5, idle_seconds=0)
            for _ in range(3):
                await client.exchange("POST", route, {}, b"x", AnswerParser(100), 20)
            await client.close()
            assert server.connections == 3

    run(go())


def test_connections_end_with_the_loop_even_when_nobody_closes_them(run: Run) -> None:
    async def go() -> Transport:
        server = Server(echo)
        running = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=CERTIFICATE.get())
        server.port = running.sockets[0].getsockname()[1]
        transport = Transport(Target("http/m"))
        assert await ask(transport, server, b"x") == b"x"
        running.close()
        return transport

    # Warnings are errors here: a socket left open would be one.
    run(run(go()).close())


def test_a_request_says_who_asks_and_what_was_given_and_no_more(run: Run) -> None:
    async def go() -> None:
        async with serving(echo) as (server, transport):
            await transport.post(server.url, {"Authorization": "Bearer k", "content-length": "9"}, b"abc", 20)
            head, _, body = server.requests[0].partition(b"\r\n\r\n")
            first, *lines = head.decode().split("\r\n")
            assert first == "POST /ask HTTP/1.1"
            assert body == b"abc"
            fields = dict(line.split(": ", 1) for line in lines)
            assert fields.pop("user-agent").startswith("proctor/")
            assert fields == {
                "host": f"127.0.0.1:{server.port}",
                "accept": "*/*",
                "accept-encoding": "gzip",
                "authorization": "Bearer k",
                "content-length": "3",
            }

    run(go())


def test_a_whole_answer_may_be_compressed_and_a_stream_is_not_asked_to_be(run: Run) -> None:
    async def packed(server: Server, body: bytes, writer: asyncio.StreamWriter) -> None:
        content = gzip.compress(body * 100)
        head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n"
        writer.write(head % len(content) + content)

    async def go() -> None:
        async with serving(packed) as (server, transport):
            assert await ask(transport, server, b"abc") == b"abc" * 100
            taken: list[bytes] = []
            await transport.stream(server.url, {}, b"abc", 20, lambda data: bool(taken.append(data)))
            assert b"".join(taken) == b"abc" * 100
            asked = [b"accept-encoding: gzip" in request for request in server.requests]
            assert asked == [True, False]
            assert server.connections == 1

    run(go())


@pytest.mark.parametrize("headers", [{"x": "a\r\nb: c"}, {"x": "a\nb"}, {"x y": "a"}, {"x:": "a"}, {"x": "\u20ac"}])
def test_a_header_that_would_forge_another_is_refused_and_not_shown(run: Run, headers: dict[str, str]) -> None:
    async def go() -> None:
        async with serving(echo) as (server, transport):
            with pytest.raises(ModelUnavailableError, match="no request can be made") as caught:
                await transport.post(server.url, headers, b"x", 20)
            assert "a" not in str(caught.value).split("(")[0].replace("no request can be made", "").split()
            assert server.connections == 0

    run(go())


def test_each_server_is_asked_on_connections_of_its_own(run: Run) -> None:
    def saying(name: bytes) -> Handler:
        async def handler(server: Server, body: bytes, writer: asyncio.StreamWriter) -> None:
            writer.write(answer(name))

        return handler

    async def go() -> None:
        async with serving(saying(b"one")) as (one, transport), serving(saying(b"two")) as (two, _):
            for _ in range(3):
                assert await ask(transport, one, b"x") == b"one"
                assert await ask(transport, two, b"x") == b"two"
            await transport.close()
            assert (one.connections, two.connections) == (1, 1)

    run(go())


def test_a_connection_that_was_paused_reads_on_once_its_answer_is_whole() -> None:
    class Line(asyncio.Transport):
        def __init__(self) -> None:
            super().__init__()
            self.told: list[str] = []

        def write(self, data: object) -> None:
            self.told.append("write")

        def pause_reading(self) -> None:
            self.told.append("pause")

        def resume_reading(self) -> None:
            self.told.append("resume")

    async def go() -> list[str]:
        buffer, line = bytearray(100), Line()
        connection = HttpConnection(memoryview(buffer))
        connection.connection_made(line)
        whole = asyncio.get_running_loop().create_future()
        connection.ask(b"?", AnswerParser(100), whole)
        connection.pause()
        said = answer(b"yes")
        buffer[: len(said)] = said
        connection.buffer_updated(len(said))
        await whole
        return line.told

    assert asyncio.run(go()) == ["write", "pause", "resume"]


def test_closing_tells_whoever_still_waits_for_an_answer(run: Run) -> None:
    async def go() -> None:
        heard = asyncio.Event()

        async def silent(server: Server, body: bytes, writer: asyncio.StreamWriter) -> None:
            heard.set()

        async with serving(silent) as (server, transport):
            waiting = asyncio.create_task(ask(transport, server, b"x", 3600))
            await heard.wait()
            await transport.close()
            with pytest.raises(ProviderFaultError, match=r"broke \(it was given up\)"):
                await asyncio.wait_for(waiting, 60)

    run(go())


def test_what_is_closed_while_it_connects_asks_nothing(run: Run) -> None:
    async def go() -> None:
        async with serving(echo) as (server, transport):
            asking = asyncio.create_task(ask(transport, server, b"x"))
            while transport._client is None:
                await asyncio.sleep(0)
            await transport.close()
            with pytest.raises(ProviderFaultError, match="closed before anything was asked"):
                await asking
            assert server.requests == []

    run(go())


def test_a_connection_whose_end_has_begun_is_not_used_again() -> None:
    class Line(asyncio.Transport):
        pass

    async def go() -> bool:
        connection = HttpConnection(memoryview(bytearray(10)))
        connection.connection_made(Line())
        assert connection.is_open
        connection.eof_received()
        return connection.is_open

    assert asyncio.run(go()) is False
