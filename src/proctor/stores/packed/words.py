"""The words of prompts and answers, and in which results of a segment each occurs."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from sqlalchemy import Select, select

from proctor.domain.text_query import TextQuery, fold, words_of
from proctor.stores.connection import Connection
from proctor.stores.database import Database
from proctor.stores.keys import is_body_of, is_of_evaluation
from proctor.stores.packed.masks import SEGMENT, Mask, both, either, pack_places, unpack_places
from proctor.stores.packed.packing import (
    PackedEvaluation,
    Packing,
    PackingClaim,
    PackingGoneError,
    PackingKind,
    PackingStore,
    read_places,
)
from proctor.stores.result_filters import is_current
from proctor.stores.tables.results import bodies, responses, samples

FIELDS = {"prompt": (0,), "answer": (1,), "text": (0, 1)}
"""What a filter looks at: the sample's input, the response, or either."""
MAX_INDEXED = 1_000_000
"""Characters of a text; one that is longer is looked at by every search."""
MAX_WORDS = 50_000
"""Different words of a text, likewise."""
_EVERY = ""
"""Stands for the words of texts that are too long to be packed; every segment has it."""
HAS_LONG = "has_long"
_HELD_WORDS = 300_000
"""Different words in memory at most, before they are written."""
_ROWS_AT_ONCE = 5_000
_COLUMNS = ("segment", "field", "word", "part", "places")
_Key = tuple[int, str]


def pack_words(database: Database, store: PackingStore, evaluation: PackedEvaluation, segment: int = SEGMENT) -> bool:
    """Pack the words of an evaluation's current results; False where another process does, or the run changed."""
    claim = store.claim(evaluation, PackingKind.WORDS)
    if claim is None:
        return False
    total, after, has_long = 0, 0, False
    while True:
        packed = _pack_segment(database, store, claim, evaluation, segment, total // segment, after)
        if packed is None:
            return False
        total, after, has_long = total + packed.count, packed.last_id, has_long or packed.has_long
        if packed.count < segment:
            return store.complete(claim, total, {"segment": segment, HAS_LONG: has_long})


class _Packed(Struct, frozen=True):
    count: int
    last_id: int
    has_long: bool


def _pack_segment(
    database: Database,
    store: PackingStore,
    claim: PackingClaim,
    evaluation: PackedEvaluation,
    size: int,
    segment: int,
    after: int,
) -> _Packed | None:
    """None where the claim was lost."""
    found: dict[_Key, array[int]] = {}
    long: dict[int, array[int]] = {0: array("H"), 1: array("H")}
    count = part = 0

    def write() -> bool:
        return all(
            store.write(claim, _COLUMNS, rows) for rows in _in_parts(_rows(found, segment, part, size))
        )  # fmt: skip

    for row in database.stream(_texts(database, evaluation, after).limit(size)):
        for field, text in enumerate((row.input, row.text)):
            words = _words(text)
            if words is None:
                long[field].append(count)
                continue
            for word in words:
                places = found.get((field, word))
                if places is None:
                    places = found[field, word] = array("H")
                places.append(count)
        count, after = count + 1, row.id
        if len(found) >= _HELD_WORDS:
            if not write():
                return None
            found.clear()
            part += 1
    found.update({(field, _EVERY): places for field, places in long.items()})
    return _Packed(count, after, any(map(len, long.values()))) if not count or write() else None


def _texts(database: Database, evaluation: PackedEvaluation, after: int) -> Select[Any]:
    return (
        select(responses.c.id, samples.c.input, bodies.c.text)
        .join(samples, samples.c.digest == responses.c.sample_digest)
        .outerjoin(bodies, is_body_of())
        .where(is_of_evaluation(database, evaluation.id), is_current(), responses.c.id > after)
        .order_by(responses.c.id)
    )


def _words(text: str | None) -> set[str] | None:
    """None for a text that is too long."""
    if text is None:
        return set()
    if len(text) > MAX_INDEXED:
        return None
    words = words_of(fold(text))
    return words if len(words) <= MAX_WORDS else None


def _rows(found: dict[_Key, array[int]], segment: int, part: int, count: int) -> Iterator[tuple[Any, ...]]:
    for (field, word), places in found.items():
        yield segment, field, word, part, pack_places(places, count)


def _in_parts(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    page: list[tuple[Any, ...]] = []
    for row in rows:
        page.append(row)
        if len(page) == _ROWS_AT_ONCE:
            yield page
            page = []
    if page:
        yield page


def find_words(connection: Connection, packing: Packing, segment: int, name: str, query: TextQuery) -> Mask:
    """Which results of a segment may match: every one that does is among them."""
    masks = (_found_in(connection, packing, segment, field, query) for field in FIELDS[name])
    return either(masks, packing.segment)


def _found_in(connection: Connection, packing: Packing, segment: int, field: int, query: TextQuery) -> Mask:
    found = [
        read_places(connection, packing, segment, field, term.word, is_prefix=term.is_prefix) for term in query.terms
    ]
    # Read last: where it is still there, so was everything of the segment before.
    long = read_places(connection, packing, segment, field, _EVERY)
    if not long:
        raise PackingGoneError
    masks = (unpack_places(places, packing.segment) for places in found)
    return either([both(masks, packing.segment), unpack_places(long, packing.segment)], packing.segment)
