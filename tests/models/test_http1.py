"""HTTP/1.1 answers are read the same however they are cut, and nothing else is taken for one."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.models.http1 import MAX_HEAD_BYTES, AnswerParser, BodyTooLargeError, MalformedAnswerError

MAX_BYTES = 10_000
OK = b"HTTP/1.1 200 OK\r\n"


@dataclass(frozen=True)
class Written:
    raw: bytes
    status: int
    headers: dict[str, str]
    body: bytes
    is_open_ended: bool


TOKENS = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=12).map(lambda name: f"x-{name}")
VALUES = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="\x7f"), max_size=30)


@st.composite
def answers(draw: st.DrawFn) -> Written:
    status = draw(st.sampled_from([200, 201, 302, 400, 429, 503]))
    headers = {name: value.strip(" \t") for name, value in draw(st.dictionaries(TOKENS, VALUES, max_size=5)).items()}
    body = draw(st.binary(max_size=400))
    framing = draw(st.sampled_from(["length", "chunked", "open"]))
    interim = draw(st.sampled_from([b"", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 x\r\nlink: </a>\r\n\r\n"]))
    if framing == "length":
        headers["content-length"], wrapped = str(len(body)), body
    elif framing == "chunked":
        headers["transfer-encoding"], wrapped = "chunked", _chunked(draw, body)
    else:
        wrapped = body
    lines = [f"HTTP/1.1 {status} Reason", *(f"{name.title()}:  {value} " for name, value in headers.items())]
    raw = interim + "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + wrapped
    return Written(raw, status, headers, body, framing == "open")


def _chunked(draw: st.DrawFn, body: bytes) -> bytes:
    wrapped, rest = b"", body
    while rest:
        size = draw(st.integers(1, len(rest)))
        wrapped += f"{size:x}{draw(st.sampled_from(['', ';name=value']))}\r\n".encode() + rest[:size] + b"\r\n"
        rest = rest[size:]
    return wrapped + b"0\r\n" + draw(st.sampled_from([b"", b"x-sum: 1\r\n"])) + b"\r\n"


def pieces(raw: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted({cut % (len(raw) + 1) for cut in cuts}), len(raw)]
    return [raw[a:b] for a, b in pairwise(places)]


@given(answers(), st.lists(st.integers(0, 10_000), max_size=30))
def test_an_answer_is_the_same_however_it_is_cut(written: Written, cuts: list[int]) -> None:
    parser = AnswerParser(MAX_BYTES)
    *first, last = pieces(written.raw, cuts)
    whole = [parser.feed(part) for part in first if part] + [parser.feed(last) if last else False]
    if written.is_open_ended:
        assert not any(whole)
        parser.end()
    else:
        assert whole.count(True) == 1
        assert parser.is_reusable
    assert (parser.status, parser.body) == (written.status, written.body)
    assert parser.headers == written.headers
    assert parser.is_reusable is not written.is_open_ended


@given(answers(), st.data())
def test_an_answer_that_is_cut_short_is_none(written: Written, data: st.DataObject) -> None:
    if written.is_open_ended:
        return
    end = data.draw(st.integers(0, len(written.raw) - 1))
    parser = AnswerParser(MAX_BYTES)
    # One whose body is empty is whole with its head.
    if not parser.feed(written.raw[:end]):
        with pytest.raises(MalformedAnswerError, match="before the answer was complete"):
            parser.end()
    else:
        pytest.fail("it was taken for a whole answer")


@given(st.lists(st.binary(max_size=60) | st.sampled_from([OK, b"\r\n", b"\r\n\r\n", b"content-length: 3", b"0"])))
def test_nonsense_is_refused_in_no_other_way(parts: list[bytes]) -> None:
    parser = AnswerParser(MAX_BYTES)
    try:
        if not any(parser.feed(part) for part in parts):
            parser.end()
    except (MalformedAnswerError, BodyTooLargeError):
        return
    assert 200 <= parser.status < 600


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/2.0 200 OK\r\n\r\n",
        b"HTTP/0.9 200 OK\r\n\r\n",
        b"HTTP/1.1 000 OK\r\n\r\n",
        b"HTTP/1.1 600 OK\r\n\r\n",
        b"HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        OK + b"no colon\r\n\r\n",
        OK + b"space : before\r\n\r\n",
        OK + b"a: b\r\n folded: c\r\n\r\n",
        OK + b"a: b\ncontent-length: 0\r\n\r\n",
        OK + b"content-length: -1\r\n\r\n",
        OK + b"content-length: 1e3\r\n\r\n",
        OK + "content-length: ²\r\n\r\n".encode("latin-1"),
        OK + b"content-length: " + b"9" * 5000 + b"\r\n\r\n",
        OK + b"content-length: 1\r\ncontent-length: 2\r\n\r\n",
        OK + b"transfer-encoding: gzip, chunked\r\n\r\n",
        OK + b"transfer-encoding: identity\r\n\r\n",
        OK + b"transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n",
        OK + b"content-length: 2\r\ncontent-length: 2\r\n\r\nab",
        OK + b"content-length: 2, 2\r\n\r\nab",
        OK + b"content-length: +2\r\n\r\nab",
        OK + b"content-length: \r\n\r\n",
        OK + b"content-length: 9\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        OK + b"transfer-encoding: chunked\r\ncontent-length: 9\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        OK + b"a: b\x00c\r\n\r\n",
        OK + b": no name\r\n\r\n",
        OK + b"content-encoding: gzip, gzip\r\ncontent-length: 2\r\n\r\n",
        OK + b"content-encoding: zstd\r\ncontent-length: 2\r\n\r\n",
        OK + b"content-encoding: identity, Br\r\ncontent-length: 2\r\n\r\n",
        OK + b"transfer-encoding: chunked\r\n\r\nzz\r\n",
        OK + b"transfer-encoding: chunked\r\n\r\n\r\n",
        OK + b"transfer-encoding: chunked\r\n\r\n-2\r\n",
        OK + b"transfer-encoding: chunked\r\n\r\n2\r\nabc\r\n",
        OK + b"transfer-encoding: chunked\r\n\r\n2 \r\nab\r\n0\r\n\r\n",
        OK + b"transfer-encoding: chunked\r\n\r\n0x2\r\nab\r\n0\r\n\r\n",
        OK + b"transfer-encoding: chunked\r\n\r\n2\nab\n0\n\n",
        OK + b"transfer-encoding: chunked\r\n\r\n2\r\nab0\r\n\r\n",
        OK + b"transfer-encoding: chunked\r\n\r\n" + b"1" * 5000,
        OK + b"transfer-encoding: chunked\r\n\r\n2;" + b"a" * MAX_HEAD_BYTES,
        b"HTTP/1.1 103 x\r\n\r\n" * MAX_HEAD_BYTES,
        OK + b"transfer-encoding: chunked\r\n\r\n0\r\n" + b"a: b\r\n" * MAX_HEAD_BYTES,
        OK + b"a: " + b"b" * MAX_HEAD_BYTES + b"\r\n\r\n",
        b"x" * (MAX_HEAD_BYTES + 1),
    ],
)
def test_what_breaks_the_rules_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedAnswerError):
        AnswerParser(MAX_BYTES).feed(raw)


@pytest.mark.parametrize(
    "raw",
    [
        OK + b"content-length: 10001\r\n\r\n",
        OK + b"\r\n" + b"x" * 10_001,
        OK + b"transfer-encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 10_001,
        OK + b"transfer-encoding: chunked\r\n\r\nfffffffffffffff\r\n" + b"x" * 10_001,
    ],
)
def test_a_body_that_is_too_large_is_refused_as_soon_as_that_is_known(raw: bytes) -> None:
    with pytest.raises(BodyTooLargeError):
        AnswerParser(MAX_BYTES).feed(raw)


@pytest.mark.parametrize("status", [204, 304])
def test_some_answers_have_no_body_whatever_they_say(status: int) -> None:
    parser = AnswerParser(MAX_BYTES)
    assert parser.feed(f"HTTP/1.1 {status} x\r\ncontent-length: 20\r\n\r\n".encode())
    assert parser.body == b""


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nab",
        OK + b"content-length: 2\r\nConnection: Close\r\n\r\nab",
        OK + b"content-length: 2\r\nconnection: keep-alive, close\r\n\r\nab",
        OK + b"content-length: 2\r\n\r\nabHTTP/1.1 200 OK\r\n\r\n",
        OK + b"content-length: 2\r\n\r\nabH",
        OK + b"transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\nx",
        OK + b"content-length: 2\r\n\r\nab" + OK + b"x: y\r\ncontent-length: 1\r\n\r\nc",
    ],
)
def test_a_connection_in_doubt_is_not_used_again(raw: bytes) -> None:
    parser = AnswerParser(MAX_BYTES)
    assert parser.feed(raw)
    assert (parser.status, parser.body) == (200, b"ab")
    assert "x" not in parser.headers
    assert not parser.is_reusable


def test_a_name_given_twice_is_joined() -> None:
    parser = AnswerParser(MAX_BYTES)
    assert parser.feed(OK + b"A: 1\r\na: 2\r\ncontent-length: 2\r\n\r\nab")
    assert parser.headers["a"] == "1, 2"
    assert parser.is_reusable


def test_a_trailer_changes_no_header() -> None:
    parser = AnswerParser(MAX_BYTES)
    trailer = b"a: 2\r\nretry-after: 9\r\nconnection: close\r\n"
    assert parser.feed(OK + b"a: 1\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n" + trailer + b"\r\n")
    assert parser.headers == {"a": "1", "transfer-encoding": "chunked"}


@pytest.mark.parametrize(
    ("begun", "endless"),
    [
        (OK + b"a: ", b"b" * 20),
        (OK + b"transfer-encoding: chunked\r\n\r\n2;", b"a" * 20),
        (OK + b"transfer-encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n"),
        (b"HTTP/1.1 100 x\r\n\r\n", b"HTTP/1.1 100 x\r\n\r\n"),
    ],
    ids=["header", "chunk extension", "trailer", "interim answers"],
)
def test_what_goes_on_without_content_is_given_up_however_slowly_it_comes(begun: bytes, endless: bytes) -> None:
    parser = AnswerParser(MAX_BYTES)
    parser.feed(begun)
    with pytest.raises(MalformedAnswerError):
        feed_all(parser, [endless] * (MAX_HEAD_BYTES // len(endless) + 2))


def feed_all(parser: AnswerParser, parts: list[bytes]) -> None:
    for part in parts:
        assert not parser.feed(part)


GZIPPED = OK + b"content-encoding: GZip\r\n"


def with_length(body: bytes) -> bytes:
    return GZIPPED + b"content-length: %d\r\n\r\n%b" % (len(body), body)


@given(st.binary(max_size=400), st.lists(st.integers(0, 10_000), max_size=30), st.sampled_from(["length", "open"]))
def test_a_compressed_answer_is_the_same_however_it_is_cut(body: bytes, cuts: list[int], framing: str) -> None:
    packed = gzip.compress(body)
    raw = with_length(packed) if framing == "length" else GZIPPED + b"\r\n" + packed
    parser = AnswerParser(MAX_BYTES)
    whole = [parser.feed(part) for part in pieces(raw, cuts) if part]
    if framing == "open":
        parser.end()
    assert whole[-1] is (framing == "length")
    assert parser.body == body


@pytest.mark.parametrize("content", [b"x" * (MAX_BYTES + 1), bytes(5_000_000)], ids=["a little", "a bomb"])
def test_what_is_too_large_once_decompressed_is_refused_before_it_is_there(content: bytes) -> None:
    packed = gzip.compress(content)
    assert len(packed) < MAX_BYTES
    tracemalloc.start()
    try:
        with pytest.raises(BodyTooLargeError):
            AnswerParser(MAX_BYTES).feed(with_length(packed))
        assert tracemalloc.get_traced_memory()[1] < 10 * MAX_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(b"answer")[:-1],
        gzip.compress(b"answer")[:-8] + bytes(8),
        gzip.compress(b"answer") + b"more",
        gzip.compress(b"answer") + gzip.compress(b"another"),
        zlib.compress(b"answer"),
        b"answer",
        b"",
    ],
    ids=["cut", "wrong sum", "more", "another", "zlib", "plain", "nothing"],
)
def test_damaged_compression_is_no_answer(packed: bytes) -> None:
    with pytest.raises(MalformedAnswerError, match="compressed"):
        AnswerParser(MAX_BYTES).feed(with_length(packed))
    with pytest.raises(MalformedAnswerError, match="compressed"):
        read_to_the_end(GZIPPED + b"\r\n" + packed)


def read_to_the_end(raw: bytes) -> None:
    parser = AnswerParser(MAX_BYTES)
    parser.feed(raw)
    parser.end()


def test_an_answer_without_a_body_may_be_called_compressed() -> None:
    parser = AnswerParser(MAX_BYTES)
    assert parser.feed(b"HTTP/1.1 204 x\r\ncontent-encoding: gzip\r\n\r\n")
    assert parser.is_reusable


@pytest.mark.parametrize("said", ["identity", "utf-8", ""])
def test_a_body_that_is_not_compressed_is_taken_whatever_it_is_called(said: str) -> None:
    parser = AnswerParser(MAX_BYTES)
    assert parser.feed(OK + f"content-encoding: {said}\r\ncontent-length: 2\r\n\r\nab".encode())
    assert parser.body == b"ab"


@pytest.mark.parametrize("framing", [b"content-length: 0\r\n\r\n", b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n"])
def test_an_empty_answer_that_is_said_to_be_compressed_keeps_its_status(framing: bytes) -> None:
    parser = AnswerParser(1_000)
    assert parser.feed(b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-encoding: gzip\r\n" + framing)
    assert (parser.status, parser.headers["retry-after"], parser.body) == (429, "7", b"")
