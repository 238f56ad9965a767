"""Streams over plain HTTP: reassembled in the callback that receives them, with every fault as one of ours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.loopback import Exchange, Loopback
from proctor.domain.errors import ModelError, ProviderFaultError, RequestRejectedError
from proctor.models.faults import Target
from proctor.models.http1 import MalformedAnswerError, TooLargeError
from proctor.models.streams import StreamedAnswer
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


def test_nothing_is_handed_over_once_there_is_enough() -> None:
    taken, calls = [], []

    def take(piece: bytes) -> bool:
        taken.append(piece)
        return piece == b"end"

    answer = StreamedAnswer(100, take)
    answer.when_enough = lambda: calls.append(1)
    assert answer.feed(wrapped([b"a", b"end", b"more"])) is True
    assert (taken, calls) == ([b"a", b"end"], [1])


def test_a_stream_cut_short_is_a_fault_unless_there_was_enough() -> None:
    for is_enough in (False, True):
        answer = StreamedAnswer(100, lambda _, is_enough=is_enough: is_enough)
        answer.feed(wrapped([b"abc"])[:-5])
        if is_enough:
            answer.end()
        else:
            with pytest.raises(MalformedAnswerError):
                answer.end()


def test_a_stream_larger_than_anything_accepted_is_given_up() -> None:
    with pytest.raises(TooLargeError):
        StreamedAnswer(5, lambda _: False).feed(wrapped([b"abc", b"def"]))


def ask(server: Loopback, times: int, take: Callable[[bytes], bool]) -> list[object]:
    """The headers' content type of each answer, or the error it ended with."""

    async def go() -> list[object]:
        transport = Transport(Target("m", None, ()))
        found: list[object] = []
        try:
            for _ in range(times):
                try:
                    headers = await transport.stream(f"{server.url}/x", {"a": "b"}, b"{}", 20, take)
                    found.append(headers["content-type"])
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
