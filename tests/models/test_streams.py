"""Streams: reassembled in the callback that receives them, with every fault as one of ours."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.loopback import Exchange, Loopback
from proctor.domain.errors import ModelError, ProviderFaultError, RequestRejectedError
from proctor.models.faults import Target
from proctor.models.http1 import BodyTooLargeError, MalformedAnswerError
from proctor.models.streams import MAX_WAITING, StreamedAnswer, StreamedLines
from proctor.models.transport import Transport

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
Handler = Callable[[Exchange], object]


def wrapped(pieces: list[bytes]) -> bytes:
    return HEAD + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces if piece) + b"0\r\n\r\n"


@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(0, 400), max_size=12))
def test_pieces_cut_anywhere_are_handed_over_exactly_and_in_order(pieces: list[bytes], cuts: list[int]) -> None:
    taken: list[bytes] = []

    def take(piece: bytes) -> bool:
        taken.append(piece)
        return False

    answer, raw = StreamedAnswer(10_000, take), wrapped(pieces)
    places = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    ends = [answer.feed(raw[start:end]) for start, end in pairwise(places)]
    assert b"".join(taken) == b"".join(pieces)
    assert ends[-1] is True
    assert not any(ends[:-1])
    assert answer.is_reusable


class Line:
    """A connection that only notes that it may be left."""

    def __init__(self) -> None:
        self.left = 0

    def leave_soon(self, _: object) -> None:
        self.left += 1


def test_nothing_is_handed_over_once_there_is_enough() -> None:
    taken, line = [], Line()

    def take(piece: bytes) -> bool:
        taken.append(piece)
        return piece == b"end"

    answer = StreamedAnswer(100, take)
    answer.begin(line)
    assert answer.feed(wrapped([b"a", b"end", b"more"])) is True
    assert (taken, line.left) == ([b"a", b"end"], 1)


def test_a_stream_cut_short_is_a_fault_unless_there_was_enough() -> None:
    for is_enough in (False, True):
        answer = StreamedAnswer(100, lambda _, is_enough=is_enough: is_enough)
        answer.begin(Line())
        answer.feed(wrapped([b"abc"])[:-5])
        if is_enough:
            answer.end()
        else:
            with pytest.raises(MalformedAnswerError):
                answer.end()


def test_a_stream_larger_than_anything_accepted_is_given_up() -> None:
    with pytest.raises(BodyTooLargeError):
        StreamedAnswer(5, lambda _: False).feed(wrapped([b"abc", b"def"]))


def ask(server: Loopback, times: int, take: Callable[[bytes], bool]) -> list[object]:
    """The headers' content type of each answer, or the error it ended with."""

    async def go() -> list[object]:
        transport = Transport(Target("m", None, ()))
        found: list[object] = []
        try:
            for _ in range(times):
                try:
                    answer = await transport.stream(f"{server.url}/x", {"a": "b"}, b"{}", 20, take)
                    found.append(answer.headers["content-type"])
                except ModelError as error:
                    found.append(error)
        finally:
            await transport.close()
        return found

    return asyncio.run(go())


def serving(*pieces: bytes, is_ended: bool = True, peers: list[object] | None = None) -> Loopback:
    async def handler(exchange: Exchange) -> None:
        if peers is not None:
            peers.append(exchange.writer.get_extra_info("peername"))
        await exchange.start_stream()
        for piece in pieces:
            await exchange.send_chunk(piece)
        if is_ended:
            await exchange.end_stream()
        else:
            await asyncio.sleep(3600)

    return Loopback(handler)


def test_a_connection_is_used_again_after_a_stream_has_ended() -> None:
    peers: list[object] = []
    with serving(b"one", b"two", peers=peers) as server:
        assert ask(server, 3, lambda piece: piece == b"two") == ["text/event-stream"] * 3
    assert len(peers) == 3
    assert len(set(peers)) == 1


def test_a_server_that_does_not_end_its_stream_is_left_and_not_asked_on_the_same_connection() -> None:
    peers: list[object] = []
    with serving(b"one", b"two", is_ended=False, peers=peers) as server:
        assert ask(server, 2, lambda piece: piece == b"two") == ["text/event-stream"] * 2
    assert len(set(peers)) == 2


def test_what_reading_a_piece_raises_reaches_whoever_asked() -> None:
    def take(piece: bytes) -> bool:
        raise RequestRejectedError("the stream says no")

    with serving(b"one", is_ended=False) as server:
        [error] = ask(server, 1, take)
    assert isinstance(error, RequestRejectedError)
    assert str(error) == "the stream says no"


def test_a_refusal_and_a_lost_connection_are_told_apart() -> None:
    async def refusing(exchange: Exchange) -> None:
        await exchange.reply_json(400, {"error": {"message": "too long"}})

    async def dropping(exchange: Exchange) -> None:
        await exchange.start_stream()
        await exchange.send_chunk(b"one")
        exchange.drop()

    with Loopback(refusing) as server:
        [error] = ask(server, 1, lambda _: False)
        assert isinstance(error, RequestRejectedError)
        assert "too long" in str(error)
    with Loopback(dropping) as server:
        [error] = ask(server, 1, lambda _: False)
        assert isinstance(error, ProviderFaultError)
        assert "broke" in str(error)


def served(raw: list[bytes], status: int = 200, *, is_ended: bool = True) -> Loopback:
    async def handler(exchange: Exchange) -> None:
        await exchange.start_stream("application/jsonl", status)
        for piece in raw:
            await exchange.send_chunk(piece)
        if is_ended:
            await exchange.end_stream()
        exchange.is_closed = True  # once everything is sent: aborting would throw away what is still to be

    return Loopback(handler)


async def read(transport: Transport, url: str, most: int = 10**9) -> list[bytes]:
    found: list[bytes] = []
    async with aclosing(transport.lines(f"{url}/file", {}, 20)) as lines:
        async for line in lines:
            found.append(line)
            if len(found) == most:
                break
    return found


def read_all(server: Loopback, most: int = 10**9, largest: int = 2**20) -> list[bytes]:
    async def go() -> list[bytes]:
        transport = Transport(Target("m"), largest_answer=largest)
        try:
            return await read(transport, server.url, most)
        finally:
            await transport.close()

    return asyncio.run(go())


@settings(max_examples=30)
@given(st.binary(max_size=60).map(lambda raw: raw.replace(b"\r", b"\n")), st.integers(1, 20))
def test_lines_cut_anywhere_are_whole(raw: bytes, size: int) -> None:
    answer = StreamedLines(100, lambda: ProviderFaultError("too long"))
    for start in range(0, len(raw), size):
        answer._keep(raw[start : start + size])
    answer.finish(is_whole=True)

    async def go() -> list[bytes]:
        answer.connection = Paused()  # type: ignore[assignment]
        return [line async for line in answer.lines()]

    assert asyncio.run(go()) == [line for line in raw.split(b"\n") if line.strip()]


def test_lines_that_come_compressed_are_refused() -> None:
    """However many there are, the server can be made to wait; not so with what a few bytes become."""
    answer = StreamedLines(100, lambda: ProviderFaultError("too long"))
    with pytest.raises(MalformedAnswerError, match="compressed"):
        answer.feed(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 20\r\n\r\n")


class Paused:
    """Counts what a connection is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def pause(self) -> None:
        self.told.append("pause")

    def resume(self) -> None:
        self.told.append("resume")


def test_a_server_waits_while_nobody_takes_its_lines() -> None:
    async def go() -> list[str]:
        answer = StreamedLines(2 * MAX_WAITING, lambda: ProviderFaultError("too long"))
        connection = Paused()
        answer.connection = connection  # type: ignore[assignment]
        line = b"x" * 1000 + b"\n"
        answer._keep(line)
        assert connection.told == []
        answer._keep(line * (MAX_WAITING // 1000))
        assert connection.told == ["pause"]
        answer.finish(is_whole=True)
        assert len([line async for line in answer.lines()]) == 1 + MAX_WAITING // 1000
        return connection.told

    assert asyncio.run(go()) == ["pause", "resume", "resume"]


def test_a_file_larger_than_any_answer_comes_line_by_line() -> None:
    line = b'{"n": "' + b"x" * 2000 + b'"}\n'
    with served([line * 100] * 40 + [b'{"last": 1}']) as server:
        found = read_all(server, largest=10_000)
    assert len(found) == 4001
    assert found[-1] == b'{"last": 1}'


def test_a_reader_that_leaves_early_leaves_nothing_behind() -> None:
    with served([b"one\ntwo\nthree\n"] * 1000, is_ended=False) as server:
        assert read_all(server, most=2) == [b"one", b"two"]


def test_the_lines_before_a_break_are_given_and_the_one_that_was_cut_is_not() -> None:
    async def go(server: Loopback) -> list[object]:
        transport, found = Transport(Target("m")), list[object]()
        try:
            async for line in transport.lines(f"{server.url}/file", {}, 20):
                found.append(line)
        except ProviderFaultError as error:
            found.append("broke" in str(error))
        finally:
            await transport.close()
        return found

    with served([b"one\n", b"tw"], is_ended=False) as server:
        assert asyncio.run(go(server)) == [b"one", True]


def test_a_line_without_end_and_a_refusal_without_end_are_given_up() -> None:
    with served([b"x" * 500] * 100) as server, pytest.raises(ProviderFaultError, match="given up"):
        read_all(server, largest=10_000)
    with served([b"x\n" * 500] * 100, status=500) as server, pytest.raises(ProviderFaultError, match="given up"):
        read_all(server, largest=10_000)


def test_an_answer_has_the_time_of_its_last_byte_whatever_is_done_with_it() -> None:
    def take(_: bytes) -> bool:
        time.sleep(1)
        return True

    async def go(server: Loopback) -> tuple[float, float]:
        transport = Transport(Target("m", None, ()))
        started = time.perf_counter()
        try:
            answer = await transport.stream(f"{server.url}/x", {}, b"{}", 20, take)
        finally:
            await transport.close()
        return answer.seconds, time.perf_counter() - started

    with serving(b"abc", is_ended=False) as server:
        seconds, whole = asyncio.run(go(server))
    assert 0 < seconds <= whole - 1
