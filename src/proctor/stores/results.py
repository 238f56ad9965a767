"""Reading results: rows in pages. The current attempt at a trial is its latest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge

from proctor.domain.trial import Outcome
from proctor.stores.database import ROWS_AT_A_TIME, Database
from proctor.stores.result_filters import ResultFilters
from proctor.stores.result_ids import MAX_AT_ONCE, EvaluationPart, find_ids, find_places
from proctor.stores.result_rows import ResultRow, parts_of_run, rows_after, rows_of_ids


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
    ) -> Iterator[ResultRow]:
        """The run's results in the order they were recorded, read a page at a time; `after` is the last id seen.

        `where` has a model, a benchmark, or what `result_filters.condition` knows. With `is_wrong`, only those that
        were scored and got less than the full mark of the first scorer. `parts` are the run's, where they are known.
        """
        given = dict(where or {})
        parts = _chosen(parts_of_run(self.database, run_id) if parts is None else parts, given)
        size = page_size or max(50, ROWS_AT_A_TIME // max(1, len(parts)))
        wanted = ResultFilters.of(given, outcome, all_attempts=all_attempts, is_wrong=is_wrong)
        # Each evaluation's rows lie in the order of their ids already; sorting the run for each page is slow.
        return merge(*(self._results_of(part, wanted, after, size) for part in parts), key=lambda row: row.id)

    def _results_of(self, part: EvaluationPart, wanted: ResultFilters, after: int, size: int) -> Iterator[ResultRow]:
        if not wanted.is_open:
            for ids in find_ids(self.database, part, wanted, after=after, size=size):
                for start in range(0, len(ids), size):
                    yield from rows_of_ids(self.database, part, ids[start : start + size])
            return
        while page := rows_after(self.database, part, after, size, all_attempts=wanted.all_attempts):
            yield from page
            after = page[-1].id

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
