"""How rows belong together, with the month in it: PostgreSQL then reads the one partition that matters."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, FromClause, ScalarSelect, and_, select

from proctor.stores.database import Database
from proctor.stores.scoping import in_scope
from proctor.stores.tables.results import bodies, responses
from proctor.stores.tables.runs import evaluations


def month_of_evaluation(database: Database, evaluation_id: int) -> ScalarSelect[Any]:
    """Null where the evaluation is another project's: then nothing has that month."""
    is_it = [evaluations.c.id == evaluation_id, *in_scope(database, evaluations)]
    return select(evaluations.c.month).where(*is_it).scalar_subquery()


def is_of_evaluation(database: Database, evaluation_id: int) -> ColumnElement[bool]:
    """The response is one of this evaluation's, which may be seen."""
    return and_(
        responses.c.evaluation_id == evaluation_id, responses.c.month == month_of_evaluation(database, evaluation_id)
    )  # fmt: skip


def is_score_of(table: FromClause) -> ColumnElement[bool]:
    """The score, of `scores` or an alias of it, is of the response."""
    return and_(table.c.response_id == responses.c.id, table.c.month == responses.c.month)


def is_body_of() -> ColumnElement[bool]:
    return and_(bodies.c.response_id == responses.c.id, bodies.c.month == responses.c.month)


def is_in_evaluation() -> ColumnElement[bool]:
    """The response belongs to the evaluation that the query joins."""
    return and_(evaluations.c.id == responses.c.evaluation_id, evaluations.c.month == responses.c.month)
