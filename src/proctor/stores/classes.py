"""Answers as classes: what was expected of each sample, and what its epochs answered, in the same terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import orjson
from msgspec import Struct
from sqlalchemy import ColumnElement, Select, and_, case, func, null, or_, select

from proctor.domain.estimate import SampleScore
from proctor.metrics.answers import bare_answer
from proctor.stores.database import Database
from proctor.stores.json_columns import json_text
from proctor.stores.keys import is_body_of, is_of_evaluation, is_score_of
from proctor.stores.measuring import Unmeasured
from proctor.stores.result_filters import counted_value, is_current, is_measured, is_of
from proctor.stores.tables.results import bodies, responses, samples, scores

MAX_NAME_LENGTH = 200
"""Characters; a longer text names no class."""


def class_scores(
    database: Database,
    evaluation_id: int,
    scorer: str,
    version: str,
    unmeasured: Unmeasured = Unmeasured.LEFT_OUT,
) -> Iterator[SampleScore]:
    """Each sample's class and what its epochs answered; samples without a target are left out.

    An epoch that could not be measured is left out, or counted as an answer of no class. A right answer is the target's
    class, however it was written. A wrong one is the class it names; None where it names none that any sample expects.
    """
    mine = _mine(database, evaluation_id, scorer, version)
    choices = _choices() if _are_the_same_for_all(database.stream(_all_choices(mine))) else null()
    names = _Names.learn(database.stream(_pairs(mine, choices)))
    found = database.stream(_query(database, evaluation_id, scorer, version, choices, unmeasured))
    for _, group in groupby(found, key=lambda row: row.sample_id):
        rows = list(group)
        target = _class(rows[0].expected, rows[0].choices)
        answers = tuple(names.answered(row, target) for row in rows)
        value = sum(row.value for row in rows) / len(rows)
        yield SampleScore(rows[0].sample_id, value, rows[0].category, rows[0].cluster, target=target, answers=answers)


class _Names(Struct, frozen=True):
    """The classes, and what else they were called where that was right."""

    classes: frozenset[str]
    aliases: dict[str, str]

    @classmethod
    def learn(cls, pairs: Iterable[Any]) -> _Names:
        """From every target with the answers that were right for it; what was right for two is a name for neither.

        A name that was never right is missing, which moves no figure: a class without a hit has none above 0.
        """
        meanings: dict[str, set[str]] = {}
        classes = set()
        for expected, answer, choices in pairs:
            name = _class(expected, choices)
            classes.add(name)
            if answer is not None:
                meanings.setdefault(_class(answer, choices), set()).add(name)
        aliases = {said: next(iter(names)) for said, names in meanings.items() if len(names) == 1}
        return cls(frozenset(classes), aliases)

    def answered(self, row: Any, target: str) -> str | None:
        if row.value >= 1:
            return target
        if row.is_invalid or len(row.said) > MAX_NAME_LENGTH:
            return None
        name = _class(row.said, row.choices)
        name = self.aliases.get(name, name)
        # What names the target and was marked wrong all the same is no hit, and no other class either.
        return name if name in self.classes and name != target else None


def _class(said: str, choices: str | None) -> str:
    """What a text names; a letter, the text of the option it stands for."""
    options = orjson.loads(choices) if choices else ()
    place = ord(said) - ord("A") if len(said) == 1 else -1
    return bare_answer(options[place] if 0 <= place < len(options) else said)


def _are_the_same_for_all(rows: Iterable[Any]) -> bool:
    """Whether all samples have the same options, in whatever order: then these are the classes, else their letters."""
    first: set[str] | None = None
    for (text,) in rows:
        options = set(orjson.loads(text)) if text else set()
        if not options or (first is not None and options != first):
            return False
        first = options
    return first is not None


def _choices() -> ColumnElement[str]:
    return json_text(samples.c.body, "choices")


def _expected() -> ColumnElement[str]:
    """The target; the first of several."""
    return func.coalesce(json_text(samples.c.body, "targets", 0), samples.c.target)


def _mine(database: Database, evaluation_id: int, scorer: str, version: str) -> ColumnElement[bool]:
    return and_(is_measured(database, evaluation_id, scorer, version), samples.c.target.is_not(None))


def _joined(query: Select[Any]) -> Select[Any]:
    return query.join(scores, is_score_of(scores)).join(samples, samples.c.digest == responses.c.sample_digest)


def _all_choices(mine: ColumnElement[bool]) -> Select[Any]:
    return _joined(select(_choices().label("choices"))).where(mine).distinct()


def _pairs(mine: ColumnElement[bool], choices: ColumnElement[Any]) -> Select[Any]:
    is_name = and_(scores.c.value >= 1, func.length(scores.c.answer) <= MAX_NAME_LENGTH)
    answer = case((is_name, scores.c.answer), else_=None)
    return _joined(select(_expected().label("expected"), answer, choices)).where(mine).distinct()


def _query(
    database: Database,
    evaluation_id: int,
    scorer: str,
    version: str,
    choices: ColumnElement[Any],
    unmeasured: Unmeasured,
) -> Select[Any]:
    value = counted_value(unmeasured)
    text = select(bodies.c.text).where(is_body_of()).correlate(responses).scalar_subquery()
    return (
        select(
            responses.c.sample_id,
            responses.c.category,
            responses.c.cluster,
            value.label("value"),
            # What has no mark names no class.
            or_(scores.c.value.is_(None), scores.c.is_invalid).label("is_invalid"),
            # Some scorers read an answer only where it is right.
            func.coalesce(scores.c.answer, text).label("said"),
            _expected().label("expected"),
            choices.label("choices"),
        )
        .outerjoin(scores, is_of(scorer, version))
        .join(samples, samples.c.digest == responses.c.sample_digest)
        .where(
            is_of_evaluation(database, evaluation_id), is_current(), value.is_not(None), samples.c.target.is_not(None)
        )
        .order_by(responses.c.sample_id, responses.c.epoch)
    )
