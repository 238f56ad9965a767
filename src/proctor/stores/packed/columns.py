"""What filters ask of a result, packed: a column for each, a segment of results at a time."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial
from itertools import groupby
from math import nan
from typing import Any
from zlib import crc32

import orjson
from sqlalchemy import select

from proctor.domain.trial import Outcome
from proctor.stores.codec import PICO
from proctor.stores.connection import Connection
from proctor.stores.database import Database
from proctor.stores.keys import is_of_evaluation, is_score_of
from proctor.stores.packed.marks import MARKS, pack_marks
from proctor.stores.packed.masks import SEGMENT, Mask, little_endian, numbers
from proctor.stores.packed.packing import (
    PackedEvaluation,
    Packing,
    PackingClaim,
    PackingKind,
    PackingStore,
    read_column,
)
from proctor.stores.result_filters import HALF, is_current, is_in_force
from proctor.stores.tables.results import responses, scores

OUTCOMES = (Outcome.FAILED, Outcome.INVALID, Outcome.SCORED)
_NO_OUTCOME = 3
"""Of what is not recorded, such as trials that were stopped."""
_BELOW, _DISPUTED, _WRONG = 4, 8, 16
_NO_CATEGORY, _OTHER = 255, 254
"""Places of what has no category, and of categories beyond the first 254."""
_KINDS = {
    "ids": "q", "flags": "B", "category": "B", "epoch": "q", "sample": "I", "score": "d", "latency": "d", "cost": "q",
    "tokens": "q",
}  # fmt: skip
COLUMNS = ("name", "segment", "data")


def pack_columns(database: Database, store: PackingStore, evaluation: PackedEvaluation, segment: int = SEGMENT) -> bool:
    """Pack an evaluation's current results; False where another process does, or the run changed meanwhile."""
    claim = store.claim(evaluation, PackingKind.COLUMNS)
    return claim is not None and _pack(database, store, claim, evaluation, segment)


def _pack(
    database: Database, store: PackingStore, claim: PackingClaim, evaluation: PackedEvaluation, segment: int
) -> bool:
    categories: dict[str, int] = {}
    last_ids: list[int] = []
    total = 0
    while True:
        columns = _segment(database, evaluation, last_ids[-1] if last_ids else 0, segment, categories)
        ids = columns["ids"]
        if ids:
            rows = [(name, len(last_ids), little_endian(values)) for name, values in columns.items()]
            if not store.write(claim, COLUMNS, rows):
                return False
            last_ids.append(ids[-1])
            total += len(ids)
        if len(ids) < segment:
            break
    marks = pack_marks(database, store, claim, evaluation, segment)
    if marks is None:
        return False
    detail = {
        "segment": segment,
        MARKS: marks,
        "last_ids": last_ids,
        "categories": list(categories),
    }
    return store.complete(claim, total, detail)


def _segment(
    database: Database,
    evaluation: PackedEvaluation,
    after: int,
    segment: int,
    categories: dict[str, int],
) -> dict[str, array[Any]]:
    columns: dict[str, array[Any]] = {name: array(kind) for name, kind in _KINDS.items()}
    first = next(iter(orjson.loads(evaluation.scorers)), None)
    marks = _marks(database, evaluation, after)
    mark = next(marks, None)
    for row in database.stream(_results(database, evaluation, after).limit(segment)):
        while mark is not None and mark[0] < row.id:
            mark = next(marks, None)
        found: Sequence[Any] = mark[1] if mark is not None and mark[0] == row.id else ()
        own = next((one for one in found if one.scorer == first), None)
        flags = _flags(row.error, found, own)
        columns["ids"].append(row.id)
        columns["flags"].append(flags)
        columns["category"].append(_place(row.category, categories))
        columns["epoch"].append(row.epoch)
        columns["sample"].append(crc32(row.sample_id.encode()))
        columns["score"].append(nan if own is None or own.value is None else own.value)
        columns["latency"].append(nan if row.latency_seconds is None else row.latency_seconds)
        columns["cost"].append(-1 if row.cost_pico_usd is None else row.cost_pico_usd)
        columns["tokens"].append(-1 if row.output_tokens is None else row.output_tokens)
    marks.close()
    return columns


def _results(database: Database, evaluation: PackedEvaluation, after: int) -> Any:
    names = (
        "id", "sample_id", "epoch", "category", "error", "latency_seconds", "cost_pico_usd", "output_tokens",
    )  # fmt: skip
    return (
        select(*(responses.c[name] for name in names))
        .where(is_of_evaluation(database, evaluation.id), is_current(), responses.c.id > after)
        .order_by(responses.c.id)
    )


def _marks(database: Database, evaluation: PackedEvaluation, after: int) -> Any:
    """Each result's scores in force, by id."""
    query = (
        select(scores.c.response_id, scores.c.scorer, scores.c.value, scores.c.is_invalid)
        .join(responses, is_score_of(scores))
        .where(
            is_of_evaluation(database, evaluation.id),
            is_in_force(evaluation.scorers),
            responses.c.id > after,
        )
        .order_by(responses.c.id)
    )
    for response_id, group in groupby(database.stream(query), key=lambda row: row.response_id):
        yield response_id, list(group)


def _flags(error: str | None, marks: Sequence[Any], first: Any) -> int:
    """The outcome, as `outcome_sql` says it, and what else of the marks is asked for."""
    values = [mark.value for mark in marks if mark.value is not None]
    if error is not None or not values:
        flags = OUTCOMES.index(Outcome.FAILED)
    else:
        flags = OUTCOMES.index(Outcome.INVALID if any(mark.is_invalid for mark in marks) else Outcome.SCORED)
    if any(value < 1 for value in values):
        flags |= _BELOW
    if any(value >= HALF for value in values) and any(value < HALF for value in values):
        flags |= _DISPUTED
    is_measured = error is None and first is not None and first.value is not None
    return flags | _WRONG if is_measured and first.value < 1 and not first.is_invalid else flags


def _place(category: str | None, categories: dict[str, int]) -> int:
    if category is None:
        return _NO_CATEGORY
    if category not in categories and len(categories) < _OTHER:
        categories[category] = len(categories)
    return categories.get(category, _OTHER)


def _has_flag(flag: int) -> bytes:
    return bytes(bool(byte & flag) for byte in range(256))


class PackedFilter:
    """One filter that columns can answer: exactly, or leaving in what has to be looked at."""

    def __init__(self, column: str, mask: Callable[[bytes], Mask], *, is_exact: bool = True) -> None:
        self.column, self.mask, self.is_exact = column, mask, is_exact


def _translated(column: str, table: bytes, *, is_exact: bool = True) -> PackedFilter:
    return PackedFilter(column, lambda data: data.translate(table), is_exact=is_exact)


def _numeric(column: str, fits: Callable[[Any], bool], *, is_exact: bool = True) -> PackedFilter:
    kind = _KINDS[column]
    return PackedFilter(column, lambda data: bytes(map(fits, numbers(kind, data))), is_exact=is_exact)


def _has_hash(wanted: int, data: bytes) -> Mask:
    hashes, place = numbers("I", data), -1
    mask = bytearray(len(hashes))
    with suppress(ValueError):  # there is no further one
        while True:
            place = hashes.index(wanted, place + 1)
            mask[place] = 1
    return bytes(mask)


def _category(value: str, packing: Packing) -> PackedFilter:
    known: list[str] = packing.detail["categories"]
    place = known.index(value) if value in known else _OTHER
    return _translated("category", bytes(byte == place for byte in range(256)), is_exact=place < _OTHER)


_FILTERS: Mapping[str, Callable[[str, Packing], PackedFilter]] = {
    "category": _category,
    "sample": lambda value, _: PackedFilter("sample", partial(_has_hash, crc32(value.encode())), is_exact=False),
    "epoch": lambda value, _: _numeric("epoch", int(value).__eq__),
    "latency_from": lambda value, _: _numeric("latency", float(value).__le__),
    "cost_from": lambda value, _: _numeric("cost", int(Decimal(value) * PICO).__le__),
    "tokens_from": lambda value, _: _numeric("tokens", int(value).__le__),
    "score_from": lambda value, _: _numeric("score", float(value).__le__),
    "score_to": lambda value, _: _numeric("score", float(value).__ge__),
    "below_full": lambda *_: _translated("flags", _has_flag(_BELOW)),
    "disputed": lambda *_: _translated("flags", _has_flag(_DISPUTED)),
}


def packed_filter(name: str, value: str, packing: Packing) -> PackedFilter | None:
    """None for what columns say nothing of."""
    make = _FILTERS.get(name)
    return None if make is None else make(value, packing)


def outcome_filter(outcome: Outcome) -> PackedFilter:
    wanted = OUTCOMES.index(outcome) if outcome in OUTCOMES else _NO_OUTCOME
    return _translated("flags", bytes(byte & 3 == wanted for byte in range(256)))


def samples_filter(sample_ids: Collection[str]) -> PackedFilter:
    """Of any of these samples, and of others that look like them."""
    hashes = {crc32(sample_id.encode()) for sample_id in sample_ids}
    return _numeric("sample", hashes.__contains__, is_exact=False)


def wrong_filter() -> PackedFilter:
    """As `is_wrong` says it."""
    return _translated("flags", _has_flag(_WRONG))


def segment_ids(connection: Connection, packing: Packing, segment: int) -> array[int]:
    return numbers("q", read_column(connection, packing, "ids", segment))
