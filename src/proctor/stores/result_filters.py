"""Which results are wanted, as SQL: by what was asked, what came back, its time and cost, and how it was marked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal

import orjson
from msgspec import Struct
from sqlalchemy import ColumnElement, Float, Integer, and_, case, exists, literal_column, or_, select

from proctor.domain.text_query import TextQuery, fold
from proctor.domain.trial import Outcome
from proctor.stores.codec import PICO
from proctor.stores.database import Database
from proctor.stores.keys import is_of_evaluation, is_score_of
from proctor.stores.measuring import COUNTED_VALUES, MARK_WEIGHT, Unmeasured
from proctor.stores.tables.results import responses, scores

HALF = 0.5


class ResultFilters(Struct, frozen=True):
    """Which results of an evaluation are wanted."""

    outcome: Outcome | None = None
    all_attempts: bool = False
    where: Mapping[str, str] = {}
    """What `condition` knows."""
    texts: Mapping[str, TextQuery] = {}
    """What is searched for, by a name of TEXTS."""
    is_wrong: bool = False

    @classmethod
    def of(
        cls, where: Mapping[str, str], outcome: Outcome | None, *, all_attempts: bool = False, is_wrong: bool = False
    ) -> ResultFilters:
        """Of filters by their names, as they were given."""
        texts = {name: TextQuery(value) for name, value in where.items() if name in TEXTS}
        others = {name: value for name, value in where.items() if name not in TEXTS}
        return cls(outcome, all_attempts, others, texts, is_wrong)

    @property
    def is_open(self) -> bool:
        """Whether every current result fits."""
        return not (self.outcome or self.where or self.texts or self.is_wrong)

    def among(self, names: Collection[str]) -> ResultFilters:
        """Only these of what was asked for: the others are known to fit."""
        where = {name: value for name, value in self.where.items() if name in names}
        texts = {name: query for name, query in self.texts.items() if name in names}
        return ResultFilters(where=where, texts=texts, all_attempts=True)

    def conditions(self, scorers: str) -> list[ColumnElement[bool]]:
        """What SQL can say of it: all but the texts; `scorers` are the evaluation's versions as it has them."""
        found = [] if self.all_attempts else [is_current()]
        found += [] if self.outcome is None else [outcome_sql(scorers) == self.outcome.value]
        found += [is_wrong(scorers)] if self.is_wrong else []
        return found + [condition(name, value, scorers) for name, value in self.where.items()]

    def matches(self, asked: str | None, answered: str | None) -> bool:
        """Whether what is searched for is found in the input and the response of a result."""
        return all(
            any(query.matches(fold(text)) for text in TEXTS[name](asked, answered) if text is not None)
            for name, query in self.texts.items()
        )


def is_current() -> ColumnElement[bool]:
    """The response is the latest attempt at its trial."""
    later = responses.alias("later")
    return ~exists().where(
        later.c.evaluation_id == responses.c.evaluation_id,
        later.c.trial_id == responses.c.trial_id,
        later.c.month == responses.c.month,
        later.c.attempt > responses.c.attempt,
        later.c.attempt > 0,  # always true here; it lets the small index of repeated trials be used
    )


def is_of(scorer: str, version: str) -> ColumnElement[bool]:
    """The score is this scorer's of the response; what responses without one are joined by too."""
    return and_(is_score_of(scores), scores.c.scorer == scorer, scores.c.version == version)


def is_measured(database: Database, evaluation_id: int, scorer: str, version: str) -> ColumnElement[bool]:
    """The score is this scorer's, of a current response, and says something."""
    return and_(
        is_of_evaluation(database, evaluation_id),
        scores.c.scorer == scorer,
        scores.c.version == version,
        scores.c.value.is_not(None),
        is_current(),
    )


def counted_value(unmeasured: Unmeasured) -> ColumnElement[float]:
    """The mark, or what stands for it; null for what is left out."""
    return literal_column(COUNTED_VALUES[unmeasured], Float)


def mark_weight() -> ColumnElement[int]:
    """How many things the mark is the share of; null where there is no mark."""
    return literal_column(MARK_WEIGHT, Integer)


def outcome_sql(scorers: str) -> ColumnElement[str]:
    """By the scorer versions that the evaluation names, as it has them; scores of older ones are kept but not shown."""
    mine = select(scores.c.response_id).where(is_score_of(scores), is_in_force(scorers)).correlate(responses)
    return case(
        (responses.c.error.is_not(None), Outcome.FAILED.value),
        (~mine.where(scores.c.value.is_not(None)).exists(), Outcome.FAILED.value),
        (mine.where(scores.c.is_invalid).exists(), Outcome.INVALID.value),
        else_=Outcome.SCORED.value,
    )


def is_in_force(scorers: str) -> ColumnElement[bool]:
    """The score is one of the versions that the evaluation names, as it has them."""
    versions: dict[str, str] = orjson.loads(scorers)
    return or_(*(and_(scores.c.scorer == name, scores.c.version == version) for name, version in versions.items()))


def _scored(scorers: str, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    """A score in force is like that."""
    return exists().where(is_score_of(scores), is_in_force(scorers), *conditions)


def _first_scored(scorers: str, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    """The score that counts is like that."""
    scorer, version = next(iter(orjson.loads(scorers).items()))
    return exists().where(is_of(scorer, version), *conditions)


def is_wrong(scorers: str) -> ColumnElement[bool]:
    """Answered, read, and marked below 1 by the scorer that counts."""
    return and_(responses.c.error.is_(None), _first_scored(scorers, scores.c.value < 1, ~scores.c.is_invalid))


_SIMPLE: Mapping[str, Callable[[str], ColumnElement[bool]]] = {
    "sample": lambda value: responses.c.sample_id == value,
    "category": lambda value: responses.c.category == value,
    "epoch": lambda value: responses.c.epoch == int(value),
    "error": lambda value: responses.c.error.icontains(value, autoescape=True),
    "latency_from": lambda value: responses.c.latency_seconds >= float(value),
    "cost_from": lambda value: responses.c.cost_pico_usd >= int(Decimal(value) * PICO),
    "tokens_from": lambda value: responses.c.output_tokens >= int(value),
}
_SCORED: Mapping[str, Callable[[str, str], ColumnElement[bool]]] = {
    "reason": lambda value, scorers: _scored(scorers, scores.c.reason.icontains(value, autoescape=True)),
    "score_from": lambda value, scorers: _first_scored(scorers, scores.c.value >= float(value)),
    "score_to": lambda value, scorers: _first_scored(scorers, scores.c.value <= float(value)),
    "below_full": lambda _, scorers: _scored(scorers, scores.c.value < 1),
    "disputed": lambda _, scorers: and_(
        _scored(scorers, scores.c.value >= HALF), _scored(scorers, scores.c.value < HALF)
    ),
}
TEXTS: Mapping[str, Callable[[str | None, str | None], Sequence[str | None]]] = {
    "text": lambda asked, answered: (asked, answered),
    "prompt": lambda asked, _: (asked,),
    "answer": lambda _, answered: (answered,),
}
"""What is searched for a text: the sample's input, the response, or either."""
FILTERS = frozenset({*_SIMPLE, *_SCORED, *TEXTS})
"""What can be asked of the results of an evaluation."""


def condition(name: str, value: str, scorers: str) -> ColumnElement[bool]:
    """One of FILTERS that is no text; `scorers` are the evaluation's versions as it has them."""
    return _SIMPLE[name](value) if name in _SIMPLE else _SCORED[name](value, scorers)
