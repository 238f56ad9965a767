"""Reading results: rows in pages. The current attempt at a trial is its latest."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from heapq import merge
from typing import Any

import orjson
from msgspec import Struct
from sqlalchemy import ColumnElement, and_, select

from proctor.domain.trial import Outcome
from proctor.stores.codec import from_pico
from proctor.stores.database import ROWS_AT_A_TIME, Database
from proctor.stores.keys import is_of_evaluation, month_of_evaluation
from proctor.stores.result_filters import ResultFilters
from proctor.stores.result_ids import MAX_AT_ONCE, EvaluationPart, find_ids, find_places
from proctor.stores.scoping import in_scope
from proctor.stores.tables.results import bodies, responses, samples, scores
from proctor.stores.tables.runs import evaluations


class ScoreRow(Struct, frozen=True):
    scorer: str
    value: float | None
    answer: str | None
    reason: str
    is_invalid: bool
    details: str | None
    version: str


class ResultRow(Struct, frozen=True):
    """One attempt at one trial with everything a person may want to see of it."""

    id: int
    run_id: str
    model: str
    benchmark: str
    sample_id: str
    epoch: int
    attempt: int
    category: str | None
    input: str
    target: str | None
    prompt: str
    response: str | None
    outcome: Outcome
    is_cached: bool
    error: str | None
    latency_seconds: float | None
    first_token_seconds: float | None
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cached_tokens: int | None
    cost_usd: Decimal | None
    cost_basis: str | None
    finish_reason: str | None
    scores: tuple[ScoreRow, ...]
    more: str | None = None
    """What came beside the text, as JSON: calls of tools, reasoning, files, earlier turns, log-probabilities."""
    sample_body: str = "{}"
    """What of the sample has no field here, as JSON: choices, metadata, tags, messages of its own."""


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
    ) -> Iterator[ResultRow]:
        """The run's results in the order they were recorded, read a page at a time; `after` is the last id seen.

        `where` has a model, a benchmark, or what `result_filters.condition` knows. With `is_wrong`, only those that
        were scored and got less than the full mark of the first scorer.
        """
        given = dict(where or {})
        parts = self._parts(run_id, given)
        size = page_size or max(50, ROWS_AT_A_TIME // max(1, len(parts)))
        wanted = ResultFilters.of(given, outcome, all_attempts=all_attempts, is_wrong=is_wrong)
        # Each evaluation's rows lie in the order of their ids already; sorting the run for each page is slow.
        return merge(*(self._results_of(part, wanted, after, size) for part in parts), key=lambda row: row.id)

    def _results_of(self, part: EvaluationPart, wanted: ResultFilters, after: int, size: int) -> Iterator[ResultRow]:
        if not wanted.is_open:
            for ids in find_ids(self.database, part, wanted, after=after, size=size):
                for start in range(0, len(ids), size):
                    yield from self._page(part, responses.c.id.in_(ids[start : start + size]))
            return
        conditions = wanted.conditions(part.scorers)
        while page := list(self._page(part, *conditions, responses.c.id > after, limit=size)):
            yield from page
            after = page[-1].id

    def _page(
        self, part: EvaluationPart, *conditions: ColumnElement[bool], limit: int | None = None
    ) -> Iterator[ResultRow]:
        chosen = select(responses).where(is_of_evaluation(self.database, part.id), *conditions)
        # Before anything is joined: else PostgreSQL reads all earlier bodies of the month to join them in order.
        page = chosen.order_by(responses.c.id).limit(limit).subquery("page")
        month = month_of_evaluation(self.database, part.id)
        query = (
            select(
                page,
                samples.c.input,
                samples.c.target,
                samples.c.prompt,
                samples.c.body,
                bodies.c.text,
                bodies.c.more,
            )
            .join_from(page, samples, samples.c.digest == page.c.sample_digest)
            .outerjoin(bodies, and_(bodies.c.response_id == page.c.id, bodies.c.month == month))
            .order_by(page.c.id)
        )
        rows = list(self.database.stream(query))
        marks = self._scores_of(part, [row.id for row in rows])
        for row in rows:
            yield _result_row(part, row, tuple(marks.get(row.id, ())))

    def positions(
        self, run_id: str, *, every: int, outcome: Outcome | None = None, where: dict[str, str] | None = None
    ) -> tuple[int, list[int]]:
        """How many results there are, and the ids of those after which a page of so many is full."""
        given = dict(where or {})
        parts = self._parts(run_id, given)
        return find_places(self.database, parts, ResultFilters.of(given, outcome), every)

    def count_wrong(self, run_id: str) -> int:
        """How many trials were scored and got less than the full mark of the first scorer."""
        wanted = ResultFilters(is_wrong=True)
        found = (find_ids(self.database, part, wanted, size=MAX_AT_ONCE) for part in self._parts(run_id, {}))
        return sum(len(ids) for batches in found for ids in batches)

    def _scores_of(self, part: EvaluationPart, response_ids: list[int]) -> dict[int, list[ScoreRow]]:
        """The scores in force, in the order of the benchmark's scorers: the first is the one that counts."""
        versions = orjson.loads(part.scorers)
        places = {scorer: place for place, scorer in enumerate(versions)}
        found: dict[int, list[ScoreRow]] = {}
        query = select(scores).where(
            scores.c.response_id.in_(response_ids), scores.c.month == month_of_evaluation(self.database, part.id)
        )
        for row in self.database.stream(query):
            if versions.get(row.scorer) == row.version:
                score = ScoreRow(
                    row.scorer, row.value, row.answer, row.reason, bool(row.is_invalid), row.details, row.version
                )
                found.setdefault(row.response_id, []).append(score)
        if len(places) > 1:
            for marks in found.values():
                marks.sort(key=lambda mark: places[mark.scorer])
        return found

    def _parts(self, run_id: str, where: dict[str, str]) -> list[EvaluationPart]:
        """The run's evaluations of that model or benchmark, which are taken from `where`."""
        query = select(evaluations).where(evaluations.c.run_id == run_id, *in_scope(self.database, evaluations))
        for name in ("model", "benchmark"):
            if name in where:
                query = query.where(evaluations.c[name] == where.pop(name))
        rows = self.database.stream(query.order_by(evaluations.c.position))
        return [EvaluationPart(row.id, run_id, row.model, row.benchmark, row.scorers) for row in rows]


def _outcome_of(error: str | None, marks: tuple[ScoreRow, ...]) -> Outcome:
    """What `outcome_sql` says in SQL, for a row whose scores are at hand."""
    if error is not None or all(mark.value is None for mark in marks):
        return Outcome.FAILED
    return Outcome.INVALID if any(mark.is_invalid for mark in marks) else Outcome.SCORED


def _result_row(part: EvaluationPart, row: Any, marks: tuple[ScoreRow, ...]) -> ResultRow:
    return ResultRow(
        id=row.id,
        run_id=part.run_id,
        model=part.model,
        benchmark=part.benchmark,
        sample_id=row.sample_id,
        epoch=row.epoch,
        attempt=row.attempt,
        category=row.category,
        input=row.input,
        target=row.target,
        prompt=row.prompt,
        response=row.text,
        outcome=_outcome_of(row.error, marks),
        is_cached=bool(row.is_cached),
        error=row.error,
        latency_seconds=row.latency_seconds,
        first_token_seconds=row.first_token_seconds,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        reasoning_tokens=row.reasoning_tokens,
        cached_tokens=row.cached_tokens,
        cost_usd=from_pico(row.cost_pico_usd),
        cost_basis=row.cost_basis,
        finish_reason=row.finish_reason,
        more=row.more,
        scores=marks,
        sample_body=row.body,
    )
