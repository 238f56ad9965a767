"""Reading results: tallies, scores per sample, rows in pages. The current attempt at a trial is its latest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from enum import StrEnum
from heapq import merge
from typing import Any

import orjson
from msgspec import Struct
from sqlalchemy import ColumnElement, Executable, Select, and_, case, func, or_, select, union_all

from proctor.domain.errors import NotFoundError
from proctor.domain.estimate import SampleScore
from proctor.domain.trial import Outcome
from proctor.stores.codec import from_pico
from proctor.stores.database import ROWS_AT_A_TIME, Database
from proctor.stores.keys import is_body_of, is_of_evaluation, is_score_of, month_of_evaluation
from proctor.stores.result_filters import condition, is_current, is_of, is_wrong, outcome_sql
from proctor.stores.schema import bodies, evaluations, responses, samples, scores
from proctor.stores.scoping import in_scope

TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens")


class Tally(Struct, frozen=True):
    """Counts of one evaluation's current attempts; a sum is None where any part of it is unknown."""

    scored: int
    invalid: int
    failed: int
    cached: int
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cached_tokens: int | None
    cost_usd: Decimal | None
    """What was spent: an answer from the cache costs nothing."""
    answers_cost_usd: Decimal | None
    """What the answers cost when they were asked for, those from the cache included."""
    cost_bases: tuple[str | None, ...] = ()
    """What the answers' costs rest on, each basis once; None for what was recorded before that was noted."""

    @property
    def recorded(self) -> int:
        return self.scored + self.invalid + self.failed


class Unmeasured(StrEnum):
    """How trials that a scorer has no mark for are counted."""

    LEFT_OUT = "left out"
    UNREADABLE_WRONG = "unreadable verdicts wrong"
    """A judge's verdict that could not be read counts as 0; faults of other kinds stay left out."""
    WRONG = "wrong"


class ScorerTally(Struct, frozen=True):
    """Counts of one scorer's marks for an evaluation's current attempts."""

    unmeasured: int
    """Trials that were asked and have no mark of this scorer."""
    unreadable: int
    """Those among them whose judge's verdict could not be read."""
    right: int
    """Full marks."""
    is_forgeable: bool
    """A mark among them rests on evidence that the answer itself could have influenced."""
    has_parts: bool
    """A mark among them lies between 0 and 1: the scorer gives more than right and wrong."""


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


class _Part(Struct, frozen=True):
    """An evaluation, as far as its results show it."""

    id: int
    run_id: str
    model: str
    benchmark: str
    scorers: str


class _Filters(Struct, frozen=True):
    outcome: Outcome | None
    all_attempts: bool
    where: dict[str, str]
    page_size: int
    is_wrong: bool = False


def is_measured(database: Database, evaluation_id: int, scorer: str, version: str) -> ColumnElement[bool]:
    """The score is this scorer's, of a current response, and says something."""
    return and_(
        is_of_evaluation(database, evaluation_id),
        scores.c.scorer == scorer,
        scores.c.version == version,
        scores.c.value.is_not(None),
        is_current(),
    )


def counted_value(unmeasured: Unmeasured) -> ColumnElement[Any]:
    """The mark, or what stands for it; null for what is left out."""
    if unmeasured is Unmeasured.WRONG:
        return func.coalesce(scores.c.value, 0.0)
    if unmeasured is Unmeasured.LEFT_OUT:
        return scores.c.value
    return case((and_(scores.c.value.is_(None), scores.c.is_unreadable), 0.0), else_=scores.c.value)


def mark_weight() -> ColumnElement[Any]:
    """How many things the mark is the share of; null where there is no mark."""
    return case((scores.c.value.is_(None), None), else_=func.coalesce(scores.c.weight, 1))


class ResultStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    def tally(self, evaluation_id: int) -> Tally:
        columns: dict[str, ColumnElement[Any]] = {name: responses.c[name] for name in (*TOKENS, "cost_pico_usd")}
        # Taking an answer from the cache costs nothing, but does not make an unknown price a known one.
        columns["spent"] = case((responses.c.is_cached, responses.c.cost_pico_usd * 0), else_=responses.c.cost_pico_usd)
        (scorers,) = self._one(self._of(evaluation_id, evaluations.c.scorers))
        query = (
            select(
                outcome_sql(scorers).label("outcome"),
                responses.c.cost_basis,
                func.count().label("trials"),
                func.count().filter(responses.c.error.is_(None)).label("answered"),
                func.count().filter(responses.c.is_cached).label("cached"),
                *(func.sum(column).label(f"sum_{name}") for name, column in columns.items()),
                *(func.count(column).label(f"known_{name}") for name, column in columns.items()),
            )
            .where(is_of_evaluation(self.database, evaluation_id), is_current())
            .group_by("outcome", responses.c.cost_basis)
        )
        rows = [row._asdict() for row in self.database.stream(query)]
        counts: Counter[str] = Counter()
        for row in rows:
            counts[row["outcome"]] += row["trials"]
        answered = sum(row["answered"] for row in rows)

        def total(name: str) -> int | None:
            is_known = answered > 0 and sum(row[f"known_{name}"] for row in rows) == answered
            # PostgreSQL's sums of whole numbers are decimals.
            return int(sum(row[f"sum_{name}"] or 0 for row in rows)) if is_known else None

        return Tally(
            scored=counts[Outcome.SCORED],
            invalid=counts[Outcome.INVALID],
            failed=counts[Outcome.FAILED],
            cached=sum(row["cached"] for row in rows),
            **{name: total(name) for name in TOKENS},
            cost_usd=from_pico(total("spent")),
            answers_cost_usd=from_pico(total("cost_pico_usd")),
            cost_bases=tuple(dict.fromkeys(row["cost_basis"] for row in rows if row["known_cost_pico_usd"])),
        )

    def sample_scores(
        self, evaluation_id: int, scorer: str, version: str, unmeasured: Unmeasured = Unmeasured.LEFT_OUT
    ) -> Iterator[SampleScore]:
        """Each sample's score, averaged over its epochs; what could not be measured is left out, or counted as wrong.

        A sample without any mark does not say what it weighs: it is given the mean of the others.
        """
        # One epoch has nothing to average, and grouping costs as much as reading.
        is_single = self._one(self._of(evaluation_id, evaluations.c.epochs))[0] == 1
        columns = (counted_value(unmeasured), responses.c.category, responses.c.cluster, mark_weight())
        merged = (func.avg(columns[0]), *(func.min(column) for column in columns[1:]))
        query = select(responses.c.sample_id, *(columns if is_single else merged))
        usual: float = 1
        if unmeasured is Unmeasured.LEFT_OUT:
            query = query.join(scores, is_score_of(scores))
            query = query.where(is_measured(self.database, evaluation_id, scorer, version))
        else:
            query = query.outerjoin(scores, is_of(scorer, version))
            query = query.where(is_of_evaluation(self.database, evaluation_id), is_current(), columns[0].is_not(None))
            (usual,) = self._one(query.with_only_columns(func.avg(mark_weight())))
        rows = self.database.stream(query if is_single else query.group_by(responses.c.sample_id))
        for sample_id, value, category, cluster, weighs in rows:
            weight = max(1, round(usual or 1)) if weighs is None else weighs
            yield SampleScore(sample_id, value, category, cluster, weight)

    def tally_scorer(self, evaluation_id: int, scorer: str, version: str) -> ScorerTally:
        """What this scorer's marks are, and how many are missing."""
        is_missing = scores.c.value.is_(None)
        query = (
            select(
                func.count().filter(is_missing),
                func.count().filter(and_(is_missing, scores.c.is_unreadable)),
                func.count().filter(scores.c.value >= 1),
                func.count().filter(scores.c.is_forgeable),
                func.count().filter(and_(scores.c.value > 0, scores.c.value < 1)),
            )
            .select_from(responses.outerjoin(scores, is_of(scorer, version)))
            .where(is_of_evaluation(self.database, evaluation_id), is_current())
        )
        unmeasured, unreadable, right, forged, parts = self._one(query)
        return ScorerTally(unmeasured, unreadable, right, forged > 0, parts > 0)

    def covered(self, evaluation_id: int, scorer: str, version: str) -> Iterator[tuple[str | None, float]]:
        """Category of each mark that says how much of the weights it covers, and how much that is."""
        query = (
            select(responses.c.category, scores.c.covers)
            .join(scores, is_score_of(scores))
            .where(is_measured(self.database, evaluation_id, scorer, version), scores.c.covers.is_not(None))
        )
        return ((category, found) for category, found in self.database.stream(query))

    def latencies(self, evaluation_id: int) -> Iterator[float]:
        """Seconds of every answer that was asked for now, not taken from the cache."""
        rows = select(responses.c.latency_seconds).where(
            is_of_evaluation(self.database, evaluation_id),
            responses.c.latency_seconds.is_not(None),
            ~responses.c.is_cached,
            is_current(),
        )
        return (seconds for (seconds,) in self.database.stream(rows))

    def streamed(self, evaluation_id: int) -> Iterator[tuple[float, float, int | None]]:
        """Of every answer that was streamed now: seconds to its first token, seconds in all, tokens of output."""
        columns = (responses.c.first_token_seconds, responses.c.latency_seconds, responses.c.output_tokens)
        rows = select(*columns).where(
            is_of_evaluation(self.database, evaluation_id),
            responses.c.first_token_seconds.is_not(None),
            responses.c.latency_seconds.is_not(None),
            ~responses.c.is_cached,
            is_current(),
        )
        return ((first, whole, tokens) for first, whole, tokens in self.database.stream(rows))

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
        query = self._of_run(run_id).order_by(evaluations.c.position)
        for name in ("model", "benchmark"):
            if name in given:
                query = query.where(evaluations.c[name] == given.pop(name))
        parts = [_Part(row.id, run_id, row.model, row.benchmark, row.scorers) for row in self.database.stream(query)]
        size = page_size or max(50, ROWS_AT_A_TIME // max(1, len(parts)))
        filters = _Filters(outcome, all_attempts, given, size, is_wrong)
        # Each evaluation's rows lie in the order of their ids already; sorting the run for each page is slow.
        return merge(*(self._results_of(part, filters, after) for part in parts), key=lambda row: row.id)

    def _results_of(self, part: _Part, filters: _Filters, after: int) -> Iterator[ResultRow]:
        while page := list(self._page(part, filters, after)):
            yield from page
            after = page[-1].id

    def _page(self, part: _Part, filters: _Filters, after: int) -> Iterator[ResultRow]:
        query = (
            select(
                responses,
                samples.c.input,
                samples.c.target,
                samples.c.prompt,
                samples.c.body,
                bodies.c.text,
                bodies.c.more,
            )
            .join(samples, samples.c.digest == responses.c.sample_digest)
            .outerjoin(bodies, is_body_of())
            .where(responses.c.id > after)
            .order_by(responses.c.id)
            .limit(filters.page_size)
        )
        rows = list(self.database.stream(self._conditions(query, part, filters)))
        marks = self._scores_of(part, [row.id for row in rows])
        for row in rows:
            yield _result_row(part, row, tuple(marks.get(row.id, ())))

    def _conditions(self, query: Select[Any], part: _Part, filters: _Filters) -> Select[Any]:
        """The query of responses, narrowed to what of this evaluation is wanted."""
        query = query.where(is_of_evaluation(self.database, part.id))
        if not filters.all_attempts:
            query = query.where(is_current())
        if filters.outcome is not None:
            query = query.where(outcome_sql(part.scorers) == filters.outcome.value)
        if filters.is_wrong:
            query = query.where(is_wrong(part.scorers))
        return query.where(*(condition(name, value, part.scorers) for name, value in filters.where.items()))

    def positions(
        self, run_id: str, *, every: int, outcome: Outcome | None = None, where: dict[str, str] | None = None
    ) -> tuple[int, list[int]]:
        """How many results there are, and the ids of those after which a page of so many is full."""
        given = dict(where or {})
        query = self._of_run(run_id)
        for name in ("model", "benchmark"):
            if name in given:
                query = query.where(evaluations.c[name] == given.pop(name))
        filters = _Filters(outcome, False, given, 0)
        parts = [_Part(row.id, run_id, row.model, row.benchmark, row.scorers) for row in self.database.stream(query)]
        if not parts:
            return 0, []
        found = union_all(*(self._conditions(select(responses.c.id), part, filters) for part in parts)).subquery()
        place = func.row_number().over(order_by=found.c.id).label("place")
        numbered = select(found.c.id, place, func.count().over().label("total")).subquery()
        last = select(numbered).where(
            or_(numbered.c.place % every == 0, numbered.c.place == numbered.c.total)
        )  # fmt: skip
        rows = list(self.database.stream(last.order_by(numbered.c.place)))
        if not rows:
            return 0, []
        total = rows[-1].total
        return total, [row.id for row in rows if row.place % every == 0 and row.place < total]

    def count_wrong(self, run_id: str) -> int:
        """How many trials were scored and got less than the full mark of the first scorer."""
        rows = self.database.stream(self._of_run(run_id))
        parts = [_Part(row.id, run_id, row.model, row.benchmark, row.scorers) for row in rows]
        return sum(
            self._one(select(func.count()).select_from(responses).where(
                is_of_evaluation(self.database, part.id), is_current(), is_wrong(part.scorers)
            ))[0]
            for part in parts
        )  # fmt: skip

    def _scores_of(self, part: _Part, response_ids: list[int]) -> dict[int, list[ScoreRow]]:
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

    def _of(self, evaluation_id: int, column: ColumnElement[Any]) -> Select[Any]:
        return select(column).where(evaluations.c.id == evaluation_id, *in_scope(self.database, evaluations))

    def _of_run(self, run_id: str) -> Select[Any]:
        return select(evaluations).where(evaluations.c.run_id == run_id, *in_scope(self.database, evaluations))

    def _one(self, query: Executable) -> Any:
        """The one row of a query."""
        with self.database.reading() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            raise NotFoundError("The run was deleted meanwhile.")
        return row


def _outcome_of(error: str | None, marks: tuple[ScoreRow, ...]) -> Outcome:
    """What `outcome_sql` says in SQL, for a row whose scores are at hand."""
    if error is not None or all(mark.value is None for mark in marks):
        return Outcome.FAILED
    return Outcome.INVALID if any(mark.is_invalid for mark in marks) else Outcome.SCORED


def _result_row(part: _Part, row: Any, marks: tuple[ScoreRow, ...]) -> ResultRow:
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
