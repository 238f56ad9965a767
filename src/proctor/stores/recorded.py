"""A run's answers, found by the prompt they answered."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select

from proctor.domain.message import Prompt
from proctor.domain.response import Response
from proctor.stores import codec
from proctor.stores.database import Database
from proctor.stores.keys import is_body_of, is_in_evaluation
from proctor.stores.scoping import in_scope
from proctor.stores.tables.results import bodies, responses, samples
from proctor.stores.tables.runs import evaluations


class RecordedAnswers:
    """Keeps one number per prompt in memory; the answers stay in the database until asked for."""

    def __init__(self, database: Database, run_id: str, key_of: Callable[[Prompt], str]) -> None:
        self._database = database
        query = (
            select(responses.c.id, samples.c.prompt)
            .join(evaluations, is_in_evaluation())
            .join(samples, samples.c.digest == responses.c.sample_digest)
            .where(evaluations.c.run_id == run_id, responses.c.error.is_(None), *in_scope(database, evaluations))
            .order_by(responses.c.id)
        )
        self._ids = {key_of(codec.read_prompt(row.prompt)): row.id for row in database.stream(query)}

    def find(self, key: str) -> Response | None:
        row_id = self._ids.get(key)
        if row_id is None:
            return None
        query = (
            select(responses, bodies.c.text, bodies.c.more).join(bodies, is_body_of()).where(responses.c.id == row_id)
        )
        with self._database.reading() as connection:
            row = connection.execute(query).mappings().one()
        return codec.read_response(row)
