"""What is read to let people mark answers: each current answer's marks by the scorers in force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from sqlalchemy import select

from proctor.stores.database import Database
from proctor.stores.keys import is_of_evaluation, is_score_of, month_of_evaluation
from proctor.stores.result_filters import is_current
from proctor.stores.tables.results import responses, scores


class ScorableAnswer(Struct, frozen=True):
    """An answer that came, and each scorer's value of it; None where that scorer could measure nothing."""

    response_id: int
    sample_id: str
    epoch: int
    values: Mapping[str, float | None]


class ReviewStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def answers(self, evaluation_id: int, scorers: Mapping[str, str]) -> Iterator[ScorableAnswer]:
        """The evaluation's current answers, without faults, in the order they were recorded."""
        marks = self._marks(evaluation_id, scorers)
        query = (
            select(responses.c.id, responses.c.sample_id, responses.c.epoch)
            .where(is_of_evaluation(self._database, evaluation_id), is_current(), responses.c.error.is_(None))
            .order_by(responses.c.id)
        )
        for response_id, sample_id, epoch in self._database.stream(query):
            yield ScorableAnswer(response_id, sample_id, epoch, marks.get(response_id, {}))

    def _marks(self, evaluation_id: int, scorers: Mapping[str, str]) -> dict[int, dict[str, float | None]]:
        found: dict[int, dict[str, float | None]] = {}
        query = (
            select(scores.c.response_id, scores.c.scorer, scores.c.version, scores.c.value)
            .join(responses, is_score_of(scores))
            .where(
                responses.c.evaluation_id == evaluation_id,
                responses.c.month == month_of_evaluation(self._database, evaluation_id),
            )
        )
        for response_id, scorer, version, value in self._database.stream(query):
            if scorers.get(scorer) == version:
                found.setdefault(response_id, {})[scorer] = value
        return found
