"""Figures are computed ahead for every run, whatever is wrong with another one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import proctor
from proctor.worker.housekeeping import refresh_summaries
from stores.parts import new_database

pytestmark = pytest.mark.sqlite


def test_a_run_that_cannot_be_read_keeps_no_other_one_waiting(home: Path) -> None:
    whole, broken = (proctor.evaluate("puzzles", models="demo/weak", limit=2).id for _ in range(2))
    database = new_database(home)
    with database.connection() as connection, connection.transaction():
        connection.execute("UPDATE evaluations SET summary = NULL")
        connection.execute("UPDATE runs SET finished_at = 'never' WHERE id = ?", [broken])
    assert asyncio.run(refresh_summaries(database)) == 1
    with database.connection() as connection:
        query = "SELECT run_id FROM evaluations WHERE summary IS NOT NULL"
        assert [row[0] for row in connection.execute(query).fetchall()] == [whole]
    database.dispose()
