"""Of several addresses the one that works is used, and soon."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from proctor.models.client import HttpClient
from proctor.models.connections import NoConnectionError, system_words
from proctor.models.destinations import Destination
from proctor.models.dialing import Route, _race, dial
from proctor.models.http1 import AnswerParser


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture
def stalled() -> Iterator[tuple[str, int]]:
    """An address that neither accepts nor refuses: its queue is full."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()


def refusing() -> tuple[str, int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()  # type: ignore[no-any-return]


async def raced(*addresses: tuple[str, int]) -> tuple[str, int]:
    with await _race([(socket.AF_INET, address) for address in addresses]) as won:
        return won.getpeername()  # type: ignore[no-any-return]


def test_an_address_that_leads_nowhere_is_not_waited_for(stalled: tuple[str, int], listening: socket.socket) -> None:
    assert asyncio.run(raced(stalled, listening.getsockname())) == listening.getsockname()


def test_an_address_that_refuses_makes_way_for_the_next(listening: socket.socket) -> None:
    assert asyncio.run(raced(refusing(), refusing(), listening.getsockname())) == listening.getsockname()


def test_when_none_works_the_system_says_why() -> None:
    with pytest.raises(ConnectionRefusedError):
        asyncio.run(raced(refusing(), refusing()))


@pytest.mark.parametrize("host", ["a..b", "x" * 70 + ".test"])
def test_a_host_that_is_no_name_is_said_to_be_none(host: str) -> None:
    async def go() -> None:
        await dial(Route(Destination(host, 80, host, "/")), memoryview(bytearray(10)), "test")

    with pytest.raises(NoConnectionError, match="no name that can be looked up"):
        asyncio.run(go())


def test_a_name_with_two_families_is_reached_by_the_one_that_listens(listening: socket.socket) -> None:
    async def go() -> None:
        port = listening.getsockname()[1]
        connection = await dial(
            Route(Destination("localhost", port, "localhost", "/")), memoryview(bytearray(10)), "test"
        )
        assert connection.is_open
        connection.abort()
        await connection.lost

    asyncio.run(go())


def test_a_connection_that_does_not_come_about_is_told_from_an_answer_that_does_not(stalled: tuple[str, int]) -> None:
    async def go(timeout_seconds: float) -> None:
        client, destination = HttpClient("test", connect_seconds=0.05), Destination(*stalled, "here", "/")
        try:
            await client.exchange("GET", Route(destination), {}, None, AnswerParser(10), timeout_seconds)
        finally:
            await client.close()

    with pytest.raises(NoConnectionError, match=r"^none within 0\.05 s$"):
        asyncio.run(go(20))
    with pytest.raises(TimeoutError):
        asyncio.run(go(0.01))


def test_a_name_that_is_not_found_is_not_taken_for_another_fault() -> None:
    # macOS numbers these from 1: 8 is a file's fault everywhere else.
    assert system_words(socket.gaierror(8, "nodename nor servname provided")) == "nodename nor servname provided"
    assert system_words(ConnectionRefusedError(111, "x")) == "Connection refused"
