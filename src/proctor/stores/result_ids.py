"""The ids of the results that are wanted, some at a time: from what is packed where it is, else from the results."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct
from sqlalchemy import Select, null, select

from proctor.stores.database import ROWS_AT_A_TIME, Database
from proctor.stores.keys import is_body_of, is_of_evaluation
from proctor.stores.packed.packing import PackingGoneError
from proctor.stores.packed.selection import PackedSelection, select_packed
from proctor.stores.result_filters import ResultFilters
from proctor.stores.tables.results import bodies, responses, samples

MAX_AT_ONCE = 10_000
"""Results that one query is asked for."""


class EvaluationPart(Struct, frozen=True):
    """An evaluation, as far as its results show it."""

    id: int
    run_id: str
    model: str
    benchmark: str
    scorers: str
    side: str | None = None
    """What it is called beside the others, where the run varies how its samples are put."""


def find_ids(
    database: Database, part: EvaluationPart, wanted: ResultFilters, *, after: int = 0, size: int = ROWS_AT_A_TIME
) -> Iterator[list[int]]:
    """In ascending order, about `size` at first and then more: whoever wants a page takes one or two."""
    selection = select_packed(database, part.id, wanted)
    if selection is not None:
        try:
            for ids in _packed_ids(database, part, wanted, selection, after, size):
                yield ids
                after = ids[-1] if ids else after
        except PackingGoneError:  # what is left is found as if it had never been packed
            yield from _stored_ids(database, part, wanted, after, size)
        return
    yield from _stored_ids(database, part, wanted, after, size)


def find_places(
    database: Database, parts: Sequence[EvaluationPart], wanted: ResultFilters, every: int
) -> tuple[int, list[int]]:
    """How many results are wanted of all parts, and the ids after which a page of so many is full."""
    found = [
        array("q", chain.from_iterable(find_ids(database, part, wanted, size=MAX_AT_ONCE))) for part in parts
    ]  # fmt: skip
    ids: Sequence[int] = found[0] if len(found) == 1 else sorted(chain.from_iterable(found))
    return len(ids), list(ids[every - 1 : len(ids) - 1 : every])


def _packed_ids(
    database: Database,
    part: EvaluationPart,
    wanted: ResultFilters,
    selection: PackedSelection,
    after: int,
    size: int,
) -> Iterator[list[int]]:
    left = wanted.among(selection.left)
    for ids in selection.ids(after):
        if left.is_open:
            yield ids
            continue
        start = 0
        while start < len(ids):
            some = ids[start : start + size]
            query = _query(database, part, left).where(responses.c.id.in_(some))
            yield _matching(list(database.stream(query)), left)
            start, size = start + size, min(2 * size, MAX_AT_ONCE)


def _stored_ids(
    database: Database, part: EvaluationPart, wanted: ResultFilters, after: int, size: int
) -> Iterator[list[int]]:
    query = _query(database, part, wanted)
    while True:
        rows = list(database.stream(query.where(responses.c.id > after).limit(size)))
        yield _matching(rows, wanted)
        if len(rows) < size:
            return
        after, size = rows[-1].id, min(2 * size, MAX_AT_ONCE)


def _query(database: Database, part: EvaluationPart, wanted: ResultFilters) -> Select[Any]:
    query = select(responses.c.id).where(is_of_evaluation(database, part.id), *wanted.conditions(part.scorers))
    names = wanted.texts.keys()
    if names:  # what is not searched is not read
        query = query.add_columns(
            (samples.c.input if names & {"prompt", "text"} else null()).label("input"),
            (bodies.c.text if names & {"answer", "text"} else null()).label("text"),
        )
    if names & {"prompt", "text"}:
        query = query.join(samples, samples.c.digest == responses.c.sample_digest)
    if names & {"answer", "text"}:
        query = query.outerjoin(bodies, is_body_of())
    return query.order_by(responses.c.id)


def _matching(rows: Sequence[Any], wanted: ResultFilters) -> list[int]:
    return [row.id for row in rows if not wanted.texts or wanted.matches(row.input, row.text)]
