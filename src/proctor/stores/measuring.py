"""What an evaluation's numbers are computed from: tallies, scores per sample, latencies of its current attempts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from enum import StrEnum
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Executable, Select, and_, case, func, select

from proctor.domain.errors import NotFoundError
from proctor.domain.estimate import SampleScore
from proctor.domain.trial import Outcome
from proctor.stores.codec import from_pico
from proctor.stores.database import Database
from proctor.stores.keys import is_of_evaluation, is_score_of
from proctor.stores.result_filters import is_current, is_of, outcome_sql
from proctor.stores.scoping import in_scope
from proctor.stores.tables.results import responses, scores
from proctor.stores.tables.runs import evaluations

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


class MeasuringStore:
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

    def _of(self, evaluation_id: int, column: ColumnElement[Any]) -> Select[Any]:
        return select(column).where(evaluations.c.id == evaluation_id, *in_scope(self.database, evaluations))

    def _one(self, query: Executable) -> Any:
        """The one row of a query."""
        with self.database.reading() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            raise NotFoundError("The run was deleted meanwhile.")
        return row
