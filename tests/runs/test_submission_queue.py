"""Programs that wait to be marked, on both databases: one worker at a time, and none for ever."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.domain.errors import NotFoundError
from proctor.domain.scope import Scope
from proctor.stores.database import Database
from proctor.stores.leases import LeaseLostError
from proctor.stores.submission_queue import MAX_LOST, MarkingLeases, NewProgram, SubmissionQueue
from stores.parts import let_clock_tick

PROBLEM = "interval-set"
WAITING = NewProgram(
    name="mine",
    problem=PROBLEM,
    artifact="a" * 40,
    size_bytes=100,
    form="zip",
    refused={},
    is_measuring=False,
    author="ann",
)


@pytest.fixture
def queued(database: Database) -> tuple[Database, str]:
    return database, SubmissionQueue(database).add(WAITING)


def lapse(database: Database) -> None:
    with database.connection() as connection:
        connection.execute("UPDATE submission_queue SET lease_until = 1")


def test_one_worker_at_a_time_has_a_program_and_only_he_can_end_it(queued: tuple[Database, str]) -> None:
    database, program_id = queued
    leases = MarkingLeases(database)
    first = leases.lease(program_id, "a")
    assert first is not None
    assert leases.lease(program_id, "b") is None
    assert leases.waiting(9) == []
    assert leases.renew(first)
    lapse(database)
    assert leases.waiting(9) == [program_id]
    second = leases.lease(program_id, "b")
    assert second is not None
    assert not leases.renew(first)
    details: dict[str, Any] = {"total": 1.0, "passed": True}
    with pytest.raises(LeaseLostError):
        leases.complete(first, (PROBLEM, "d"), "1", details)
    leases.fail(first, "mine")
    assert SubmissionQueue(database).get(program_id).state == "running"
    leases.complete(second, (PROBLEM, "d"), "1", details)
    with pytest.raises(NotFoundError):
        SubmissionQueue(database).get(program_id)


def test_a_program_that_ends_its_workers_is_given_up(queued: tuple[Database, str]) -> None:
    database, program_id = queued
    for _ in range(MAX_LOST):
        assert MarkingLeases(database).lease(program_id, "a") is not None
        lapse(database)
    assert MarkingLeases(database).lease(program_id, "a") is None
    found = SubmissionQueue(database).get(program_id)
    assert (found.state, found.error) == ("failed", f"{MAX_LOST} workers ended while they marked it.")
    assert MarkingLeases(database).waiting(9) == []
    assert MarkingLeases(database).delete_failed(-1) == 1


def test_programs_are_marked_for_projects_in_turn(database: Database) -> None:
    mine = [SubmissionQueue(database).add(WAITING) for _ in range(3)]
    alone, second = (SubmissionQueue(database.within(Scope("other"))).add(WAITING) for _ in range(2))
    leases = MarkingLeases(database)
    assert set(leases.waiting(2)) == {mine[0], alone}
    for due in (mine[0], alone, mine[1], second, mine[2]):
        assert leases.waiting(1) == [due]
        assert leases.lease(due, "a") is not None
        let_clock_tick(database)
