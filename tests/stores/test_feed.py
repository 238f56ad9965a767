"""The one order of all events: complete, each place given once, and each project's own part."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from proctor.domain.scope import Scope
from proctor.stores.database import Database
from proctor.stores.events import add_event
from proctor.stores.feed import fed_events, last_position, number_events
from stores.parts import evaluation, new_run


def happen(database: Database, run_id: str, count: int) -> None:
    with database.connection() as connection:
        for place in range(count):
            with connection.transaction():
                add_event(connection, run_id, "progress", {"place": place})


def test_events_of_writers_at_once_have_one_place_each_in_the_order_of_their_runs(
    database: Database, tmp_path: Path
) -> None:
    runs = [new_run(database, evaluation(1), tmp_path)[0] for _ in range(3)]
    number_events(database)
    start = last_position(database)
    seen: list[int] = []
    with ThreadPoolExecutor(6) as threads:
        writing = [threads.submit(happen, database, run, 60) for run in runs]
        reached = start
        while not all(one.done() for one in writing):
            list(threads.map(number_events, [database] * 3))
            found = fed_events(database, reached)
            seen += [event.position for event in found]
            reached = seen[-1] if seen else start
        for one in writing:
            one.result()
    number_events(database)
    seen += [event.position for event in fed_events(database, reached)]
    assert seen == list(range(start + 1, start + 181))
    for run in runs:
        mine = [event for event in fed_events(database, start) if event.run_id == run]
        assert [event.data["place"] for event in mine] == list(range(60))


def test_a_project_is_given_its_own_events_only(database: Database, tmp_path: Path) -> None:
    mine, theirs = database.within(Scope("acme")), database.within(Scope("other"))
    runs = {name: new_run(one, evaluation(1), tmp_path)[0] for name, one in (("acme", mine), ("other", theirs))}
    for run in runs.values():
        happen(database, run, 2)
    number_events(database)
    for name, one in (("acme", mine), ("other", theirs)):
        found = fed_events(one, 0)
        assert {event.run_id for event in found} == {runs[name]}
        assert {event.project for event in found} == {name}
    assert len(fed_events(database, 0)) == len(fed_events(mine, 0)) + len(fed_events(theirs, 0))
    assert len(fed_events(database, 0, limit=3)) == 3
