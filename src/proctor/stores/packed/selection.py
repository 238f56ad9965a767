"""Finds results of a packed evaluation by filters: their ids, a segment at a time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from proctor.domain.text_query import TextQuery
from proctor.stores.connection import Connection
from proctor.stores.database import Database
from proctor.stores.packed.columns import (
    PackedFilter,
    outcome_filter,
    packed_filter,
    samples_filter,
    segment_ids,
    wrong_filter,
)
from proctor.stores.packed.masks import Mask, both, chosen
from proctor.stores.packed.packing import Packing, PackingGoneError, PackingKind, PackingStore, read_column
from proctor.stores.packed.words import HAS_LONG, find_words
from proctor.stores.result_filters import ResultFilters


class PackedSelection:
    """The results of one evaluation that may be wanted: every one that is, and others where `left` is not empty."""

    def __init__(
        self,
        database: Database,
        columns: Packing,
        words: Packing | None,
        filters: Sequence[PackedFilter],
        texts: Mapping[str, TextQuery],
        left: frozenset[str],
    ) -> None:
        self._database, self._columns, self._words = database, columns, words
        self._filters, self._texts = filters, texts
        self.left = left
        """Filters that have to be asked of each result all the same."""

    def ids(self, after: int = 0) -> Iterator[list[int]]:
        """In ascending order, a segment at a time; raises PackingGoneError where they are packed anew meanwhile."""
        last_ids: list[int] = self._columns.detail["last_ids"]
        for segment in range(bisect_right(last_ids, after), self._columns.segments):
            with self._database.connection() as connection:
                ids = segment_ids(connection, self._columns, segment)
                mask = self._mask(connection, segment, len(ids))
            found = chosen(ids, mask)
            yield found[bisect_right(found, after) :]

    def _mask(self, connection: Connection, segment: int, count: int) -> Mask:
        columns = {
            name: read_column(connection, self._columns, name, segment)
            for name in dict.fromkeys(one.column for one in self._filters)
        }
        masks = [one.mask(columns[one.column]) for one in self._filters]
        if self._words is not None:
            masks += [
                find_words(connection, self._words, segment, name, query)[:count] for name, query in self._texts.items()
            ]
        return both(masks, count)


def select_packed(database: Database, evaluation_id: int, wanted: ResultFilters) -> PackedSelection | None:
    """None where the evaluation is not packed, or is being packed anew."""
    packed = PackingStore(database).find(evaluation_id)
    columns = packed.get(PackingKind.COLUMNS)
    if columns is None or wanted.all_attempts:
        return None
    words = packed.get(PackingKind.WORDS)
    if words is not None and (words.results, words.segment) != (columns.results, columns.segment):
        words = None
    filters = [] if wanted.outcome is None else [outcome_filter(wanted.outcome)]
    filters += [wrong_filter()] if wanted.is_wrong else []
    texts = {} if words is None else {name: query for name, query in wanted.texts.items() if query.terms}
    left = {name for name, query in wanted.texts.items() if name not in texts or not _is_exact(query, words)}
    for name, value in wanted.where.items():
        found = packed_filter(name, value, columns)
        if found is not None:
            filters.append(found)
        if found is None or not found.is_exact:
            left.add(name)
    return PackedSelection(database, columns, words, filters, texts, frozenset(left))


def _is_exact(query: TextQuery, words: Packing | None) -> bool:
    """Whether the words alone say which texts match."""
    return query.is_one_word and words is not None and not words.detail[HAS_LONG]


def find_samples(database: Database, evaluation_id: int, sample_ids: Collection[str]) -> list[int] | None:
    """Ids among which are those of these samples' results; None where the evaluation is not packed."""
    columns = PackingStore(database).find(evaluation_id).get(PackingKind.COLUMNS)
    if columns is None:
        return None
    try:
        ids = PackedSelection(database, columns, None, [samples_filter(sample_ids)], {}, frozenset()).ids()
        return list(chain.from_iterable(ids))
    except PackingGoneError:
        return None
