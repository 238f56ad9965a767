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


EMPTY = st.none() | st.booleans()


@given(st.lists(st.tuples(st.integers(-9, 9), EMPTY, EMPTY, st.none() | st.text("ab", max_size=2)), max_size=20))
def test_rows_of_nothing_and_of_truth_values_are_inserted_as_they_are(rows: list[tuple[object, ...]]) -> None:
    columns = ("number", "one", "other", "text")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE things (number INTEGER, one BOOLEAN, other BOOLEAN DEFAULT 5, text TEXT)")
        for statement, parameters in insert_statements("things", columns, rows, ""):
            connection.execute(statement, parameters)
        assert connection.execute("SELECT * FROM things ORDER BY rowid").fetchall() == rows


def test_rows_of_nothing_but_nothing_are_inserted() -> None:
    [(statement, parameters)] = insert_statements("things", ("one", "other"), [(None, True)] * 2, "")
    assert (statement.strip(), parameters) == ("INSERT INTO things (one,other) VALUES (NULL,TRUE),(NULL,TRUE)", [])


def test_what_is_nothing_in_every_row_is_not_bound() -> None:
    """The driver looks for an adapter of each such value, which takes longer than to bind all others."""
    rows = [(number, None, False, None if number else "a") for number in range(3)]
    bound = [part for _, part in insert_statements("things", ("number", "a", "b", "c"), rows, "")]
    assert bound == [[0, "a", 1, None], [2, None]]


def test_however_many_rows_there_are_the_statements_are_eight() -> None:
    texts = {
        statement
        for count in range(700)
        for statement, _ in insert_statements("things", ("number",), [(count,)] * count, "")
    }
    assert len(texts) == 8
