"""How often the database is asked for what people look at most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

import proctor
from proctor.cli.context import database
from proctor.domain.errors import NotFoundError
from proctor.domain.measuring import listen, stop_listening
from proctor.runs.results import read_attempts, read_page
from proctor.stores.database import Database


@contextmanager
def counted() -> Iterator[list[str]]:
    """Each piece of work that is done on a connection meanwhile."""
    found: list[str] = []

    def note(name: str, _: float, __: Mapping[str, str]) -> None:
        if name == "database_seconds":
            found.append(name)

    listen(note)
    try:
        yield found
    finally:
        stop_listening(note)


@pytest.mark.usefixtures("home")
def test_a_page_and_a_result_are_read_in_a_piece() -> None:
    run_id = proctor.evaluate("puzzles", models="demo/weak", limit=5, epochs=2).id
    with database() as opened:
        _read_in_a_piece(opened, run_id)


def _read_in_a_piece(database: Database, run_id: str) -> None:
    with counted() as found:
        rows, has_more = read_page(database, run_id, {}, limit=4)
    assert (len(rows), has_more, len(found)) == (4, True, 2)
    with counted() as found:
        first, *attempts = read_attempts(database, run_id, rows[2].id)
    assert (first, attempts, len(found)) == (rows[2], [rows[2]], 1)  # its sides are looked for where it has any
    for name in (run_id[:9], "latest"):
        assert read_page(database, name, {}, limit=4)[0] == rows
        assert read_attempts(database, name, rows[2].id)[0] == rows[2]
    for name, result in ((run_id, 10**9), ("nosuchrun000", rows[2].id)):
        with pytest.raises(NotFoundError):
            read_attempts(database, name, result)
