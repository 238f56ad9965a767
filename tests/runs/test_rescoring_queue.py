"""Rescorings of one run, one after the other: what each has cost is its own, and none is lost while it is concluded."""

from __future__ import annotations

import asyncio
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from commands import ended
from proctor.domain.documents.rescoring import RescoreRequest
from proctor.domain.errors import StoreError
from proctor.domain.scope import Scope
from proctor.runs import rescore
from proctor.runs.chunks.worker_context import WorkerContext
from proctor.runs.rescorings import carry_out
from proctor.runs.rescorings.requests import accept_rescoring
from proctor.runs.resolve import PlanContext
from proctor.stores.accounts.budgets import Spender
from proctor.stores.database import Database
from proctor.stores.rescorings import RescoringQueue, RescoringRow, RescoringStore, StoredRequest
from proctor.stores.runs import RunRow, RunStore
from proctor.stores.scores import ScoreStore
from stores.parts import evaluation, let_clock_tick, new_run

JUDGED = StoredRequest(RescoreRequest(["judge_rubric"]), "/", asks_judges=True)


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> list[Decimal]:
    """What the replies of the run's judges have cost by now."""
    now = [Decimal(0)]
    monkeypatch.setattr(ScoreStore, "spent_on_judges", lambda *_: now[0])
    return now


def reserved(database: Database, rescoring_id: str) -> tuple[int, bool]:
    with database.connection() as connection:
        row = connection.execute(
            "SELECT reserved_pico_usd, is_settled FROM reservations WHERE run_id = ?", [rescoring_id]
        ).fetchone()
    return row[0], bool(row[1])


def test_projects_have_their_runs_scored_again_in_turn(database: Database, tmp_path: Path) -> None:
    theirs = database.within(Scope("other"))
    mine = [RescoringStore(database).add(new_run(database, evaluation(), tmp_path)[0], JUDGED, started_by="ann")
            for _ in range(3)]  # fmt: skip
    alone, second = (
        RescoringStore(theirs).add(new_run(theirs, evaluation(), tmp_path)[0], JUDGED, started_by="bob")
        for _ in range(2)
    )
    queue = RescoringQueue(database)
    assert queue.waiting(3) == [mine[0], alone, mine[1]]
    for due in (mine[0], alone, mine[1], second, mine[2]):
        assert queue.waiting(1) == [due]
        assert queue.lease(due) is not None
        let_clock_tick(database)


def test_a_message_for_the_second_does_not_begin_it_and_what_the_first_cost_is_none_of_its_own(
    database: Database, spent: list[Decimal], tmp_path: Path
) -> None:
    run_id, _ = new_run(database, evaluation(), tmp_path)
    store, queue = RescoringStore(database), RescoringQueue(database)
    spent[0] = Decimal(1)
    first, second = (store.add(run_id, JUDGED, started_by="ann") for _ in range(2))
    assert queue.lease(second) is None
    begun = queue.lease(first)
    assert begun is not None
    assert queue.waiting(9) == []
    assert queue.lease(second) is None
    spent[0] = Decimal(4)
    queue.end(begun, "completed")
    after = queue.lease(second)
    assert after is not None
    assert (begun.request.cost_before_usd, after.request.cost_before_usd) == ("1", "4")
    spent[0] = Decimal(6)
    queue.release(after)
    again = queue.lease(second)
    assert again is not None
    assert again.request.cost_before_usd == "4", "what it has spent itself is not forgotten with its worker"


def test_one_that_is_cancelled_while_it_waits_for_its_next_worker_has_cost_what_its_last_spent(
    database: Database, spent: list[Decimal], tmp_path: Path
) -> None:
    run_id, _ = new_run(database, evaluation(), tmp_path)
    store, queue, spender = RescoringStore(database), RescoringQueue(database), Spender("local")
    begun, never = (
        store.add(run_id, JUDGED, started_by="ann", spender=spender, cap_usd=Decimal(5)) for _ in range(2)
    )  # fmt: skip
    row = queue.lease(begun)
    assert row is not None
    spent[0] = Decimal(2)
    queue.keep_unanswered(row, Decimal(1))
    queue.release(row)
    store.cancel(run_id, begun)
    store.cancel(run_id, never)
    assert reserved(database, begun) == (3 * 10**12, True)
    assert reserved(database, never) == (0, True)


@pytest.fixture
def answered(database: Database, tmp_path: Path) -> RunRow:
    """A finished run."""
    code, _, err = ended(tmp_path / "home", tmp_path, "run", "puzzles", "-m", "demo/weak", "--limit", "4")
    assert code == 0, err
    return RunStore(database).get("latest")


def carried_out(database: Database, run: RunRow, folder: Path) -> RescoringRow:
    context = PlanContext(folder, {})
    asked = RescoreRequest(["exact"], keep=True)
    rescoring_id = accept_rescoring(database, context, run, asked, started_by="ann")

    async def work() -> None:
        worker = WorkerContext(database, context)
        try:
            assert await carry_out.carry_out(rescoring_id, worker)
        finally:
            await worker.close()

    asyncio.run(work())
    return RescoringStore(database).get(run.id, rescoring_id)


def test_its_worker_says_that_it_lives_while_old_and_new_figures_are_computed(
    database: Database, answered: RunRow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In a run of a million responses that takes longer than a lease lasts."""
    concluding, renewed, heard = threading.Event(), threading.Event(), list[bool]()
    document, renew = rescore._document, RescoringQueue.renew

    def slow(*arguments: Any, **options: Any) -> Any:
        concluding.set()
        heard.append(renewed.wait(20))
        return document(*arguments, **options)

    def renewing(*arguments: Any) -> bool:
        if concluding.is_set():
            renewed.set()
        return renew(*arguments)

    monkeypatch.setattr(rescore, "_document", slow)
    monkeypatch.setattr(RescoringQueue, "renew", renewing)
    monkeypatch.setattr(carry_out, "RENEW_SECONDS", 0.01)
    found = carried_out(database, answered, tmp_path)
    assert (heard, found.state, found.lost_leases) == ([True], "completed", 0)


def test_one_that_the_store_refuses_is_tried_so_often_and_no_more(
    database: Database, answered: RunRow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def refused(*_: Any, **__: Any) -> None:
        raise StoreError("A page is damaged.")

    monkeypatch.setattr(carry_out, "execute_rescoring", refused)
    row, queue, begun = carried_out(database, answered, tmp_path), RescoringQueue(database), 1
    while row.ended_at is None:
        assert (row.state, row.fault) == ("running", "A page is damaged.")
        assert queue.waiting(9) == [], "not before its lease has run out"
        with database.connection() as connection:
            connection.execute("UPDATE rescorings SET lease_until = 0 WHERE id = ?", [row.id])
        begun += queue.lease(row.id) is not None
        row = RescoringStore(database).get(answered.id, row.id)
    assert (begun, row.state) == (3, "failed")
    assert str(row.error).endswith("A page is damaged.")
