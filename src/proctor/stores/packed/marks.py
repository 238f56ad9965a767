"""Right-or-wrong marks in the order of the samples' ids, a byte each: what pairs of evaluations are compared by."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice
from typing import Any

import orjson
from sqlalchemy import select

from proctor.stores.database import Database
from proctor.stores.keys import is_of_evaluation
from proctor.stores.packed.packing import (
    PackedEvaluation,
    Packing,
    PackingClaim,
    PackingGoneError,
    PackingKind,
    PackingStore,
    read_column,
)
from proctor.stores.result_filters import is_current, is_of
from proctor.stores.tables.results import responses, scores

WRONG, RIGHT, NONE, UNREADABLE = range(4)
"""`UNREADABLE` has none because it could not be read, as a judge's verdict."""
SAMPLE_IDS = "sample ids"
MARKS = "marks"
COLUMNS = ("name", "segment", "data")


def pack_marks(
    database: Database, store: PackingStore, claim: PackingClaim, evaluation: PackedEvaluation, segment: int
) -> dict[str, tuple[str, str]] | None:
    """For each scorer whose marks can be packed, its version and a name of its samples; None where the claim was lost.

    They cannot where a mark is no 0 or 1 or weighs more than one, where samples have groups or are asked several times.
    """
    found: dict[str, tuple[str, str]] = {}
    for scorer, version in orjson.loads(evaluation.scorers).items():
        has_ids = bool(found)
        samples = blake2b(digest_size=16)
        for place, page in enumerate(_pages(_rows(database, evaluation.id, scorer, version), segment)):
            codes = bytes(code for _, code in page if code is not None)
            if len(codes) < len(page):
                break
            ids = [sample_id for sample_id, _ in page]
            for sample_id in ids:
                samples.update(sample_id.encode() + b"\0")
            rows = [(_name(scorer), place, codes)]
            rows += [] if has_ids else [(SAMPLE_IDS, place, zlib.compress(orjson.dumps(ids), 1))]
            if not store.write(claim, COLUMNS, rows):
                return None
        else:
            found[scorer] = version, samples.hexdigest()
    return found


def _name(scorer: str) -> str:
    return f"{MARKS} of {scorer}"


def _rows(database: Database, evaluation_id: int, scorer: str, version: str) -> Iterator[tuple[str, int | None]]:
    """Each sample's id and the code of its mark; None for one that has no code, and for an id that comes twice."""
    columns = (scores.c.value, scores.c.is_unreadable, scores.c.weight, responses.c.cluster, responses.c.epoch)
    query = (
        select(responses.c.sample_id, *columns)
        .outerjoin(scores, is_of(scorer, version))
        .where(is_of_evaluation(database, evaluation_id), is_current())
        .order_by(responses.c.sample_id)
    )
    before = None
    for sample_id, *mark in database.stream(query):
        yield sample_id, None if sample_id == before else _code(*mark)
        before = sample_id


def _code(value: float | None, is_unreadable: Any, weight: int | None, cluster: str | None, epoch: int) -> int | None:
    if cluster is not None or weight not in (None, 1) or epoch:
        return None
    if value is None:
        return UNREADABLE if is_unreadable else NONE
    return {0.0: WRONG, 1.0: RIGHT}.get(value)


def _pages(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while page := list(islice(rows, size)):
        yield page


def read_marks(database: Database, evaluation_id: int, scorer: str, version: str) -> tuple[str, bytes] | None:
    """What names the samples in their order, and the codes of their marks; None where they are not packed."""
    packing = _packing(database, evaluation_id)
    known = None if packing is None else packing.detail[MARKS].get(scorer)
    if packing is None or known is None or known[0] != version:
        return None
    try:
        with database.connection() as connection:
            parts = [read_column(connection, packing, _name(scorer), place) for place in range(packing.segments)]
    except PackingGoneError:
        return None
    return known[1], b"".join(parts)


class SampleIds:
    """The ids of an evaluation's samples in their order, a page of them in memory at a time."""

    def __init__(self, database: Database, evaluation_id: int) -> None:
        self._database, self._evaluation_id = database, evaluation_id
        self._packing = _packing(database, evaluation_id)
        self._pages: dict[int, list[str]] = {}

    def at(self, place: int) -> str:
        try:
            return self._packed(place)
        except PackingGoneError:
            mine = is_of_evaluation(self._database, self._evaluation_id)
            query = select(responses.c.sample_id).where(mine, is_current())
            [(found,)] = self._database.stream(query.order_by(responses.c.sample_id).offset(place).limit(1))
            return str(found)

    def _packed(self, place: int) -> str:
        if self._packing is None:
            raise PackingGoneError
        segment, within = divmod(place, self._packing.segment)
        if segment not in self._pages:
            with self._database.connection() as connection:
                data = read_column(connection, self._packing, SAMPLE_IDS, segment)
            self._pages = {segment: orjson.loads(zlib.decompress(data))}
        return self._pages[segment][within]


def _packing(database: Database, evaluation_id: int) -> Packing | None:
    return PackingStore(database).find(evaluation_id).get(PackingKind.COLUMNS)
