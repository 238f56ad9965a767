"""What an evaluation's numbers are computed from: tallies, scores per sample, latencies of its current attempts.

In plain SQL: every run ends with these queries, and importing SQLAlchemy for them took as long as 1,500 trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from enum import StrEnum
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.errors import NotFoundError
from proctor.domain.estimate import SampleScore
from proctor.domain.trial import Outcome
from proctor.stores.codec import from_pico
from proctor.stores.connection import Row
from proctor.stores.database import Database
from proctor.stores.scoping import of_evaluation, scope_filter
from proctor.stores.scores import CURRENT, HAS_SCORE

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
    UNREADABLE_WRONG = "unreadable marks wrong"
    """A mark that could not be read (a judge's verdict, log-probabilities) counts as 0; faults stay left out."""
    WRONG = "wrong"


class ScorerTally(Struct, frozen=True):
    """Counts of one scorer's marks for an evaluation's current attempts."""

    unmeasured: int
    """Trials that were asked and have no mark of this scorer."""
    unreadable: int
    """Those among them that could not be read, which the answer may have brought about."""
    right: int
    """Full marks."""
    is_forgeable: bool
    """A mark among them rests on evidence that the answer itself could have influenced."""
    has_parts: bool
    """A mark among them lies between 0 and 1: the scorer gives more than right and wrong."""


COUNTED_VALUES = {
    Unmeasured.LEFT_OUT: "value",
    Unmeasured.UNREADABLE_WRONG: "CASE WHEN value IS NULL AND is_unreadable THEN 0.0 ELSE value END",
    Unmeasured.WRONG: "coalesce(value, 0.0)",
}
"""The mark, or what stands for it; null for what is left out."""
MARK_WEIGHT = "CASE WHEN value IS NOT NULL THEN coalesce(weight, 1) END"
"""How many things the mark is the share of; null where there is no mark."""
_MARKS = f"scores ON {HAS_SCORE} AND scores.scorer = ? AND scores.version = ?"
_NOW = f"{CURRENT} AND latency_seconds IS NOT NULL AND NOT is_cached"


class MeasuringStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    def tally(self, evaluation_id: int) -> Tally:
        columns = {name: name for name in (*TOKENS, "cost_pico_usd")}
        # Taking an answer from the cache costs nothing, but does not make an unknown price a known one.
        columns["spent"] = "CASE WHEN is_cached THEN cost_pico_usd * 0 ELSE cost_pico_usd END"
        sums = "".join(f", sum({sql}) AS sum_{name}, count({sql}) AS known_{name}" for name, sql in columns.items())
        outcome, versions = _outcome(self._column("scorers", evaluation_id))
        rows = self._rows(
            f"""
            SELECT {outcome} AS outcome, cost_basis, count(*) AS trials,
                   count(*) FILTER (WHERE error IS NULL) AS answered, count(*) FILTER (WHERE is_cached) AS cached{sums}
            FROM responses WHERE {{mine}} AND {CURRENT} GROUP BY outcome, cost_basis
            """,  # noqa: S608 - only our own text is put in
            evaluation_id,
            before=versions,
        )
        return _tally_of(list(rows))

    def sample_scores(
        self, evaluation_id: int, scorer: str, version: str, unmeasured: Unmeasured = Unmeasured.LEFT_OUT
    ) -> Iterator[SampleScore]:
        """Each sample's score, averaged over its epochs; what could not be measured is left out, or counted as wrong.

        A sample without any mark does not say what it weighs: it is given the mean of the others.
        """
        value = COUNTED_VALUES[unmeasured]
        found = f"FROM responses LEFT JOIN {_MARKS} WHERE {{mine}} AND {CURRENT} AND {value} IS NOT NULL"
        usual: float = 1
        if unmeasured is not Unmeasured.LEFT_OUT:
            ((usual,),) = self._rows(f"SELECT avg({MARK_WEIGHT}) {found}", evaluation_id, before=(scorer, version))
        columns, grouped = f"{value}, category, cluster, {MARK_WEIGHT}", ""
        # One epoch has nothing to average, and grouping costs as much as reading.
        if self._column("epochs", evaluation_id) > 1:
            columns = f"avg({value}), min(category), min(cluster), min({MARK_WEIGHT})"
            grouped = "GROUP BY responses.sample_id"
        query = f"SELECT responses.sample_id, {columns} {found} {grouped}"
        for sample_id, mark, category, cluster, weighs in self._rows(query, evaluation_id, before=(scorer, version)):
            weight = max(1, round(usual or 1)) if weighs is None else weighs
            yield SampleScore(sample_id, mark, category, cluster, weight)

    def tally_scorer(self, evaluation_id: int, scorer: str, version: str) -> ScorerTally:
        """What this scorer's marks are, and how many are missing."""
        query = f"""
            SELECT count(*) FILTER (WHERE value IS NULL), count(*) FILTER (WHERE value IS NULL AND is_unreadable),
                   count(*) FILTER (WHERE value >= 1), count(*) FILTER (WHERE is_forgeable),
                   count(*) FILTER (WHERE value > 0 AND value < 1)
            FROM responses LEFT JOIN {_MARKS} WHERE {{mine}} AND {CURRENT}
        """  # noqa: S608 - only our own text is put in
        ((unmeasured, unreadable, right, forged, parts),) = self._rows(query, evaluation_id, before=(scorer, version))
        return ScorerTally(unmeasured, unreadable, right, forged > 0, parts > 0)

    def covered(self, evaluation_id: int, scorer: str, version: str) -> Iterator[tuple[str | None, float]]:
        """Category of each mark that says how much of the weights it covers, and how much that is."""
        query = f"""
            SELECT category, covers FROM responses JOIN {_MARKS}
            WHERE {{mine}} AND {CURRENT} AND value IS NOT NULL AND covers IS NOT NULL
        """  # noqa: S608 - only our own text is put in
        return ((category, share) for category, share in self._rows(query, evaluation_id, before=(scorer, version)))

    def latencies(self, evaluation_id: int) -> Iterator[float]:
        """Seconds of every answer that was asked for now, not taken from the cache."""
        query = f"SELECT latency_seconds FROM responses WHERE {{mine}} AND {_NOW}"  # noqa: S608 - our own text
        return (seconds for (seconds,) in self._rows(query, evaluation_id))

    def streamed(self, evaluation_id: int) -> Iterator[tuple[float, float, int | None]]:
        """Of every answer that was streamed now: seconds to its first token, seconds in all, tokens of output."""
        query = f"""
            SELECT first_token_seconds, latency_seconds, output_tokens FROM responses
            WHERE {{mine}} AND {_NOW} AND first_token_seconds IS NOT NULL
        """  # noqa: S608 - only our own text is put in
        return ((first, whole, tokens) for first, whole, tokens in self._rows(query, evaluation_id))

    def _rows(self, query: str, evaluation_id: int, *, before: tuple[str, ...] = ()) -> Iterator[Row]:
        """The rows of a query that says `{mine}` where the evaluation belongs; `before` are the values before it."""
        mine = of_evaluation(self.database, evaluation_id)
        return self.database.rows(query.format(mine=mine.sql), [*before, *mine.values])

    def _column(self, name: str, evaluation_id: int) -> Any:
        scope = scope_filter(self.database, "evaluations")
        query = f"SELECT {name} FROM evaluations WHERE id = ?{scope.sql}"  # noqa: S608 - only our own text is put in
        found = list(self.database.rows(query, [evaluation_id, *scope.values]))
        if not found:
            raise NotFoundError("The run was deleted meanwhile.")
        return found[0][0]


def _outcome(scorers: str) -> tuple[str, tuple[str, ...]]:
    """As `result_filters.outcome_sql`: by the versions that count, with the values of its placeholders."""
    versions = tuple(text for pair in orjson.loads(scorers).items() for text in pair)
    in_force = " OR ".join(["(scorer = ? AND version = ?)"] * (len(versions) // 2))
    mine = f"EXISTS (SELECT 1 FROM scores WHERE {HAS_SCORE} AND ({in_force})"  # noqa: S608 - only our own text is put in
    outcome = (
        f"CASE WHEN error IS NOT NULL OR NOT {mine} AND value IS NOT NULL) THEN '{Outcome.FAILED}' "
        f"WHEN {mine} AND is_invalid) THEN '{Outcome.INVALID}' ELSE '{Outcome.SCORED}' END"
    )
    return outcome, (*versions, *versions)


def _tally_of(rows: list[Row]) -> Tally:
    """The sum of rows that each count one outcome at one basis of costs."""
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
