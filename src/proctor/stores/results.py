"""Reading results: rows in pages. The current attempt at a trial is its latest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from heapq import merge

from proctor.domain.trial import Outcome
from proctor.stores.database import ROWS_AT_A_TIME, Database
from proctor.stores.result_filters import ResultFilters
from proctor.stores.result_ids import MAX_AT_ONCE, EvaluationPart, find_ids, find_places
from proctor.stores.result_rows import ResultRow, parts_of_run, rows_after, rows_of_ids

FIRST_ROWS, BYTES_AT_A_TIME = 20, 4 * 2**20


class PageSize:
    """How many rows are read at once: fewer of long ones, so that a page of any run takes about as much memory."""

    def __init__(self, most: int, *, is_fixed: bool) -> None:
        self.most, self._is_fixed = most, is_fixed
        self.rows = most if is_fixed else min(most, FIRST_ROWS)

    def note(self, page: list[ResultRow]) -> list[ResultRow]:
        """Learn from a page what the next one may have."""
        if not self._is_fixed and page:
            length = sum(map(_length, page)) // len(page) + 1
            self.rows = max(1, min(self.most, BYTES_AT_A_TIME // length, 4 * self.rows))
        return page


def _length(row: ResultRow) -> int:
    """Roughly, of its texts."""
    details = sum(len(score.reason) + len(score.details or "") for score in row.scores)
    texts = (row.input, row.prompt, row.response, row.more, row.sample_body, row.error)
    return details + sum(len(text) for text in texts if text)


class ResultStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    def results(
        self,
        run_id: str,
        *,
        outcome: Outcome | None = None,
        all_attempts: bool = False,
        after: int = 0,
        where: dict[str, str] | None = None,
        is_wrong: bool = False,
        page_size: int | None = None,
        parts: Sequence[EvaluationPart] | None = None,
        characters: int | None = None,
    ) -> Iterator[ResultRow]:
        """The run's results in the order they were recorded, read a page at a time; `after` is the last id seen.

        `where` has a model, a benchmark, or what `result_filters.condition` knows. With `is_wrong`, only those that
        were scored and got less than the full mark of the first scorer. `parts` are the run's, where they are known.
        Of a response there are at most so many `characters`.
        """
        given = dict(where or {})
        parts = _chosen(parts_of_run(self.database, run_id) if parts is None else parts, given)
        size = PageSize(page_size or max(50, ROWS_AT_A_TIME // max(1, len(parts))), is_fixed=page_size is not None)
        wanted = ResultFilters.of(given, outcome, all_attempts=all_attempts, is_wrong=is_wrong)
        # Each evaluation's rows lie in the order of their ids already; sorting the run for each page is slow.
        pages = (self._results_of(part, wanted, after, copy(size), characters) for part in parts)
        return merge(*pages, key=lambda row: row.id)

    def _results_of(
        self, part: EvaluationPart, wanted: ResultFilters, after: int, size: PageSize, characters: int | None
    ) -> Iterator[ResultRow]:
        if not wanted.is_open:
            for ids in find_ids(self.database, part, wanted, after=after, size=size.most):
                start = 0
                while found := ids[start : start + size.rows]:
                    start += size.rows
                    yield from size.note(rows_of_ids(self.database, part, found, characters=characters))
            return
        while page := rows_after(
            self.database, part, after, size.rows, all_attempts=wanted.all_attempts, characters=characters
        ):
            after = page[-1].id
            yield from size.note(page)

    def positions(
        self, run_id: str, *, every: int, outcome: Outcome | None = None, where: dict[str, str] | None = None
    ) -> tuple[int, list[int]]:
        """How many results there are, and the ids of those after which a page of so many is full."""
        given = dict(where or {})
        parts = _chosen(parts_of_run(self.database, run_id), given)
        return find_places(self.database, parts, ResultFilters.of(given, outcome), every)

    def count_wrong(self, run_id: str) -> int:
        """How many trials were scored and got less than the full mark of the first scorer."""
        wanted = ResultFilters(is_wrong=True)
        found = (
            find_ids(self.database, part, wanted, size=MAX_AT_ONCE)
            for part in parts_of_run(self.database, run_id) or ()
        )
        return sum(len(ids) for batches in found for ids in batches)


def _chosen(parts: Sequence[EvaluationPart] | None, where: dict[str, str]) -> list[EvaluationPart]:
    """The evaluations of that model, side or benchmark, which are taken from `where`."""
    model, benchmark = where.pop("model", None), where.pop("benchmark", None)
    return [one for one in parts or () if model in (None, one.model, one.side) and benchmark in (None, one.benchmark)]
