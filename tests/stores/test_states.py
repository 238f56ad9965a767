"""What is in a certain state is in one that there is: the database itself refuses any other."""

from __future__ import annotations

from typing import get_args

import pytest
import sqlalchemy
from sqlalchemy import Text

from proctor.domain.chunk import ChunkState
from proctor.domain.documents.playground import AnswerState
from proctor.domain.documents.rescoring import RescoringStatus
from proctor.domain.run import RunStatus
from proctor.stores.database import Database
from proctor.stores.schema import metadata

STATES = [
    (table.name, column.name)
    for table in metadata.sorted_tables
    for column in table.columns
    if column.name in ("state", "status") and isinstance(column.type, Text)
]
KNOWN = {
    "runs": tuple(RunStatus),
    "chunks": tuple(ChunkState),
    "rescorings": get_args(RescoringStatus),
    "playground_answers": get_args(AnswerState),
}


@pytest.mark.parametrize(("table", "column"), STATES)
def test_every_state_is_held_to_those_that_there_are(database: Database, table: str, column: str) -> None:
    with database.reading() as connection:
        found = sqlalchemy.inspect(connection).get_check_constraints(table)
    said = {check["name"]: check["sqltext"] for check in found}
    assert f"ck_{table}_{column}" in said
    for state in KNOWN.get(table, ()):
        assert f"'{state}'" in said[f"ck_{table}_{column}"]


def test_there_are_states() -> None:
    assert {table for table, _ in STATES} >= {*KNOWN, "deliveries", "submission_queue"}
