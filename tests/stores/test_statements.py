"""Rows become few statements, and always the same ones."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from proctor.stores.statements import insert_statements


@given(st.integers(0, 700))
def test_every_row_is_inserted_once_and_in_order(count: int) -> None:
    rows = [(number, f"text {number}") for number in range(count)]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE things (number INTEGER, text TEXT)")
        for statement, parameters in insert_statements("things", ("number", "text"), rows, ""):
            connection.execute(statement, parameters)
        assert connection.execute("SELECT number, text FROM things ORDER BY rowid").fetchall() == rows


def test_however_many_rows_there_are_the_statements_are_eight() -> None:
    texts = {
        statement
        for count in range(700)
        for statement, _ in insert_statements("things", ("number",), [(count,)] * count, "")
    }
    assert len(texts) == 8
