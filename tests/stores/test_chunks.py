"""Chunks on both databases: one worker at a time, fences that only grow, and nothing lost with a worker."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from commands import Cli
from proctor.domain.chunk import Chunk, ChunkState, Pool, Priority, TrialTally
from proctor.domain.errors import RunError
from proctor.domain.run import RunStatus
from proctor.domain.scope import Scope
from proctor.runs.chunks import waiting
from proctor.stores.chunk_rows import lease_of
from proctor.stores.chunks import ChunkStore
from proctor.stores.database import Database
from proctor.stores.events import events_after
from proctor.stores.leases import ChunkLease, LeaseLostError
from proctor.stores.lost_chunks import reclaim_chunks
from proctor.stores.queue import QueueStore
from proctor.stores.runs import RunStore
from proctor.stores.steps import StepStore
from proctor.stores.workers import WorkerStore
from stores.parts import PLAN, let_clock_tick, let_it_run_out, new_chunks, reclaimed


def taken(database: Database) -> Chunk:
    found = ChunkStore(database).lease_next([Pool.DEFAULT])
    assert found is not None
    return found


def test_a_chunk_goes_to_one_worker_of_many(database: Database) -> None:
    new_chunks(database, chunks=12)
    found: list[int] = []

    def take() -> None:
        while (chunk := ChunkStore(database).lease_next([Pool.DEFAULT])) is not None:
            found.append(chunk.id)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), len(set(found))) == (12, 12)


def test_a_renewal_that_comes_late_does_not_wake_a_finished_chunk(database: Database) -> None:
    run_id = new_chunks(database, chunks=2)
    store, chunk = ChunkStore(database), taken(database)
    lease = lease_of(chunk)
    assert store.renew(lease, TrialTally(scored=4)).is_wanted
    assert store.finish(lease, TrialTally(scored=10)) is False
    assert store.finish(lease, TrialTally(scored=10)) is False, "whoever did not hear the answer asks again"
    with pytest.raises(LeaseLostError):
        store.renew(lease, TrialTally(scored=10))
    assert [one.state for one in store.of_run(run_id)] == [ChunkState.FINISHED, ChunkState.WAITING]
    queued = QueueStore(database).get(run_id)
    assert queued is not None
    assert (queued.chunks_open, queued.tally) == (1, TrialTally(scored=10))
    assert store.finish(lease_of(taken(database)), TrialTally(scored=10)) is True
    assert QueueStore(database).to_finish() == [run_id]


def test_a_worker_that_lost_its_chunk_writes_nothing(database: Database) -> None:
    new_chunks(database, chunks=1)
    store, chunk = ChunkStore(database), taken(database)
    assert reclaim_chunks(database) == [], "it lives, and its lease is current"
    let_it_run_out(database, chunk.id)
    [lost] = reclaimed(database)
    assert (lost.became, reclaim_chunks(database)) == (ChunkState.WAITING, [])
    again = taken(database)
    assert again.fence > chunk.fence
    for old in (lease_of(chunk), ChunkLease(chunk.id, chunk.fence + 1)):
        with pytest.raises(LeaseLostError):
            store.renew(old, TrialTally())
        with pytest.raises(LeaseLostError):
            store.finish(old, TrialTally())
        with pytest.raises(LeaseLostError):
            store.give_back(old, TrialTally())
    store.renew(lease_of(again), TrialTally())


def test_a_run_that_is_queued_again_hears_nothing_of_those_who_worked_on_it_before(database: Database) -> None:
    run_id = new_chunks(database, chunks=1)
    store, queue, old = ChunkStore(database), QueueStore(database), taken(database)
    alone = RunStore(database).lease(run_id)
    RunStore(database).finish(alone, RunStore(database).get(run_id).status, 0.0)
    let_it_run_out(database, old.id)
    reclaimed(database)
    queue.stop(run_id, "enough")
    steps = StepStore(database)
    step = steps.lease(run_id)
    assert step is not None
    steps.finish(step, RunStatus.CANCELLED)
    mine = RunStore(database).lease(run_id)
    with pytest.raises(RunError, match="is being executed by another process"):
        queue.requeue(run_id, RunStore(database).get(run_id).plan)
    RunStore(database).finish(mine, RunStatus.CANCELLED, 0.0)
    queue.requeue(run_id, RunStore(database).get(run_id).plan)
    with database.connection() as connection, pytest.raises(LeaseLostError):
        mine.check(connection, database.dialect)
    new_chunks(database, chunks=1)  # where numbers of deleted chunks are given again, this is the old one's
    now = taken(database)
    with pytest.raises(LeaseLostError):
        store.finish(lease_of(old), TrialTally(scored=10))
    assert store.renew(lease_of(now), TrialTally()).is_wanted
    # One whose model was given up meanwhile is left to nobody.
    assert store.give_back(lease_of(now), TrialTally(), is_done_with=True) is True


def test_a_chunk_that_loses_worker_after_worker_becomes_single_trials(database: Database) -> None:
    run_id = new_chunks(database, chunks=1, size=10)
    store = ChunkStore(database)
    for _ in range(60):
        chunk = store.lease_next([Pool.DEFAULT])
        assert chunk is not None
        if chunk.position <= 7 < chunk.position + chunk.count:  # the eighth trial ends its worker
            if chunk.count == 1 and chunk.lost_leases == 3:
                break
            let_it_run_out(database, chunk.id)
            reclaimed(database)
        else:
            store.finish(lease_of(chunk), TrialTally(scored=chunk.count))
    open_chunks = [one for one in store.of_run(run_id) if one.state in (ChunkState.WAITING, ChunkState.LEASED)]
    queued = QueueStore(database).get(run_id)
    assert queued is not None
    assert queued.chunks_open == len(open_chunks)
    assert (chunk.position, chunk.count) == (7, 1)
    assert sum(one.lost_leases for one in store.of_run(run_id)) < 12


def test_runs_of_one_priority_take_turns_and_the_urgent_one_comes_first(database: Database) -> None:
    large = new_chunks(database, chunks=6)
    small = new_chunks(database, chunks=2)
    served = []
    for _ in range(4):
        served.append(taken(database).run_id)
        let_clock_tick(database)
    assert served == [large, small, large, small]
    urgent = new_chunks(database, chunks=1, priority=Priority.HIGH)
    assert [chunk.run_id for chunk in ChunkStore(database).waiting(Pool)][:2] == [urgent, large]
    assert [taken(database).run_id for _ in range(2)] == [urgent, large]


def test_projects_share_alike_however_many_runs_each_has(database: Database) -> None:
    other = database.within(Scope("other"))
    for _ in range(8):
        new_chunks(database, chunks=1)
    alone = new_chunks(other, chunks=4)
    named = ChunkStore(database).waiting(Pool, limit=2)
    assert [chunk.run_id == alone for chunk in named].count(True) == 1, "a broker is told of both"
    served = []
    for _ in range(8):  # each run of the first project is over with its only chunk, and the next has had nothing yet
        chunk = taken(database)
        served.append(chunk.run_id == alone)
        ChunkStore(database).finish(lease_of(chunk), TrialTally(scored=chunk.count))
        let_clock_tick(database)
    assert served == [False, True] * 4


def test_a_project_that_waited_long_is_next_and_no_more(database: Database) -> None:
    other = database.within(Scope("other"))
    new_chunks(database, chunks=6, size=1_000)
    for _ in range(3):
        taken(database)
    late = new_chunks(other, chunks=6, size=1_000)
    served = []
    for _ in range(5):
        let_clock_tick(database)
        served.append(taken(database).run_id == late)
    assert served == [True, False, True, False, True]


def test_runs_are_prepared_for_projects_in_turn(database: Database) -> None:
    queue, steps = QueueStore(database), StepStore(database)
    many = [queue.accept(PLAN, Path("/nowhere"), None) for _ in range(5)]
    [alone, its_second] = [
        QueueStore(database.within(Scope("other"))).accept(PLAN, Path("/nowhere"), None) for _ in range(2)
    ]
    assert queue.to_prepare(3) == [many[0], alone, many[1]]
    assert steps.lease(many[0]) is not None
    assert queue.to_prepare(2) == [alone, many[1]]
    let_clock_tick(database)
    assert steps.lease(alone) is not None
    assert queue.to_prepare(2) == [many[1], its_second]


def test_a_run_of_few_trials_does_not_wait_behind_large_chunks(database: Database) -> None:
    large = new_chunks(database, chunks=4, size=10_000)
    assert taken(database).run_id == large
    small = new_chunks(database, chunks=3, size=10)
    assert [taken(database).run_id for _ in range(4)] == [small, small, small, large]


def test_a_ring_that_waited_gives_the_chunk_that_is_due_by_then(database: Database) -> None:
    large = new_chunks(database, chunks=4, size=10_000)
    store = ChunkStore(database)
    announced = [chunk.id for chunk in store.announce(Pool, again_seconds=60, limit=2)]
    taken(database)
    small = new_chunks(database, chunks=2, size=10)
    first, second, third = (store.lease_announced(announced[1]) for _ in range(3))
    assert first is not None
    assert second is not None
    assert third is not None
    assert [chunk.run_id for chunk in (first, second, third)] == [small, small, large]
    assert third.id == announced[1]
    # Its message was used for another: until it was taken itself, it could be announced again.
    new_chunks(database, chunks=1, size=10)
    [again] = store.announce(Pool, again_seconds=60, limit=1)
    urgent = new_chunks(database, chunks=1, priority=Priority.HIGH)
    passed_over = store.lease_announced(again.id)
    assert passed_over is not None
    assert passed_over.run_id == urgent
    assert again.id in [chunk.id for chunk in store.announce(Pool, again_seconds=60, limit=1)]
    assert store.lease_announced(10**6) is None


def test_a_ring_is_followed_within_its_pool(database: Database) -> None:
    new_chunks(database, chunks=1, pool=Pool.SANDBOX)
    new_chunks(database, chunks=2)
    store = ChunkStore(database)
    [chunk] = store.announce([Pool.SANDBOX], again_seconds=60, limit=1)
    found = store.lease_announced(chunk.id)
    assert found is not None
    assert found.pool is Pool.SANDBOX
    assert store.lease_announced(chunk.id) is None


def test_a_worker_takes_only_chunks_of_its_pools(database: Database) -> None:
    new_chunks(database, chunks=1, pool=Pool.SANDBOX)
    store, workers = ChunkStore(database), WorkerStore(database)
    assert store.lease_next([Pool.DEFAULT, Pool.LOCAL]) is None
    name = workers.register([Pool.SANDBOX])
    workers.beat(name, "a chunk", chunks=1)
    [row] = workers.all()
    assert (row.pools, row.doing, row.chunks_done, row.is_alive) == ((Pool.SANDBOX,), "a chunk", 1, True)
    assert (workers.alive(Pool.SANDBOX), workers.alive(Pool.LOCAL)) == (1, 0)
    assert store.lease_next([Pool.SANDBOX]) is not None
    workers.leave(name)
    assert workers.all() == []


@pytest.mark.sqlite
def test_what_a_run_waits_for_is_shown(database: Database, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = new_chunks(database, chunks=1, pool=Pool.SANDBOX)
    WorkerStore(database).register([Pool.DEFAULT])
    assert cli("show", run_id, "--json").json["waiting_for"] is None, "a worker may just be starting"
    monkeypatch.setattr(waiting, "STARTING_SECONDS", 0.0)
    assert cli("show", run_id, "--json").json["waiting_for"] == "a worker of pool sandbox"
    assert "waiting for a worker of pool sandbox" in cli("show", run_id).err


def test_a_stopped_run_is_begun_no_further(database: Database) -> None:
    run_id = new_chunks(database, chunks=3)
    store, queue, chunk = ChunkStore(database), QueueStore(database), taken(database)
    queue.stop(run_id, "enough")
    heard = store.renew(lease_of(chunk), TrialTally(scored=1))
    assert (heard.is_wanted, heard.reason) == (False, "enough")
    assert store.lease_next(list(Pool)) is None
    assert store.give_back(lease_of(chunk), TrialTally(scored=3)) is True
    assert {one.state for one in store.of_run(run_id)} == {ChunkState.DROPPED}


def test_a_run_ends_once(database: Database) -> None:
    run_id = new_chunks(database, chunks=1)
    ChunkStore(database).finish(lease_of(taken(database)), TrialTally(scored=10))
    queue = QueueStore(database)
    steps = StepStore(database)
    first = steps.lease(run_id)
    assert first is not None
    assert steps.lease(run_id) is None
    assert steps.finish(first, RunStatus.COMPLETED) is True
    assert steps.finish(first, RunStatus.FAILED) is False
    assert [event.kind for event in events_after(database, run_id)][-1] == "finished"
    assert (queue.to_finish(), steps.lease(run_id)) == ([], None)


def test_a_broker_is_told_of_a_chunk_once_and_again_when_it_forgets(database: Database) -> None:
    run_id = new_chunks(database, chunks=5)
    store = ChunkStore(database)
    first = [chunk.position for chunk in store.announce(Pool, again_seconds=60, limit=3)]
    assert first == [0, 10, 20]
    assert store.announce(Pool, again_seconds=60, limit=3) == []
    assert store.announce(Pool, again_seconds=0, limit=9, queued=9) == [], "it has not forgotten them"
    assert len(store.announce(Pool, again_seconds=0, limit=9)) == 5
    assert len(store.of_run(run_id)) == 5
    lost = taken(database)
    let_it_run_out(database, lost.id)
    reclaimed(database)
    assert [chunk.id for chunk in store.announce(Pool, again_seconds=60, limit=3)] == [lost.id], "at once, beyond that"
