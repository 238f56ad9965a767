"""Server-sent events survive being cut anywhere."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from proctor.models.sse import Event, EventParser

LINE_TEXT = st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=("Cs",)), max_size=12)
EVENTS = st.lists(
    st.tuples(st.sampled_from(["", "delta", "ping"]), st.lists(LINE_TEXT, min_size=1, max_size=3)), max_size=6
)
COMMENTS = st.lists(LINE_TEXT, max_size=2)


def encode(events: list[tuple[str, list[str]]], comments: list[str], line_end: str) -> bytes:
    lines = []
    for name, data in events:
        lines += [f": {comment}" for comment in comments]
        lines += [f"event: {name}"] if name else []
        lines += [f"data: {line}" for line in data]
        lines += ["id: 7", "retry: 10", ""]
    return "".join(line + line_end for line in lines).encode()


def parse(pieces: list[bytes]) -> list[Event]:
    parser = EventParser()
    events = [event for piece in pieces for event in parser.feed(piece)]
    return events + parser.finish()


def cut(data: bytes, places: list[int]) -> list[bytes]:
    places = sorted({min(place, len(data)) for place in places} | {0, len(data)})
    return [data[start:end] for start, end in itertools.pairwise(places)]


@given(EVENTS, COMMENTS, st.sampled_from(["\n", "\r\n", "\r"]), st.lists(st.integers(0, 600), max_size=40))
def test_events_cut_anywhere_come_together_exactly(
    events: list[tuple[str, list[str]]], comments: list[str], line_end: str, places: list[int]
) -> None:
    expected = [Event("\n".join(data).encode(), name) for name, data in events]
    assert parse(cut(encode(events, comments, line_end), places)) == expected


@given(EVENTS, st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=1, max_size=8))
def test_line_ends_may_be_mixed_and_every_byte_may_come_alone(
    events: list[tuple[str, list[str]]], ends: list[str]
) -> None:
    lines = encode(events, [], "\n").decode().split("\n")[:-1]
    text = "".join(line + ends[n % len(ends)] for n, line in enumerate(lines))
    data = text.encode()
    whole = parse([data])
    assert parse([data[n : n + 1] for n in range(len(data))]) == whole


@given(st.lists(st.binary(max_size=30), max_size=10))
def test_garbage_never_breaks_the_parser(pieces: list[bytes]) -> None:
    assert parse(pieces) == parse([b"".join(pieces)])


def test_a_byte_order_mark_is_not_part_of_the_first_line() -> None:
    assert parse([b"\xef\xbb\xbfdata: x\n\n"]) == [Event(b"x")]


def test_a_space_after_the_colon_is_dropped_once() -> None:
    assert parse([b"data:  x\ndata:y\ndata\n\n"]) == [Event(b" x\ny\n")]


def test_an_event_whose_last_blank_line_is_missing_is_given_at_the_end() -> None:
    parser = EventParser()
    assert parser.feed(b"data: [DONE]") == []
    assert parser.finish() == [Event(b"[DONE]")]


def test_a_line_feed_after_a_cut_carriage_return_ends_no_second_line() -> None:
    parser = EventParser()
    assert parser.feed(b"data: a\r") == []
    assert parser.feed(b"\n") == []
    assert parser.feed(b"data: b\r\n\r") == [Event(b"a\nb")]
    assert parser.feed(b"\n") == []
    assert parser.feed(b"\n") == []
