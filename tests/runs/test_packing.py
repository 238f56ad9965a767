"""Results of large runs are packed when these end or are scored again, and by workers where that was not done."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commands import Cli
from proctor.runs.cancel import cancel_run
from proctor.runs.chunks.worker_context import WorkerContext
from proctor.runs.packing import pack_run
from proctor.runs.resolve import PlanContext
from proctor.stores.database import Database
from proctor.stores.packed.packing import LARGE, PackingKind, PackingStore
from proctor.stores.runs import RunStore
from proctor.worker import polling
from stores.parts import new_chunks, new_database


@contextmanager
def opened(home: Path) -> Iterator[Database]:
    database = new_database(home)
    yield database
    database.dispose()


def make_large(database: Database, run_id: str) -> None:
    """As if so many had been planned: what is packed are the results that there are."""
    with database.connection() as connection:
        connection.execute("UPDATE evaluations SET samples = ? WHERE run_id = ?", [LARGE, run_id])


def packed(database: Database, run_id: str) -> set[PackingKind]:
    [row] = RunStore(database).evaluation_rows(run_id)
    return set(PackingStore(database).find(row["id"]))


def finished(cli: Cli) -> str:
    assert cli("run", "puzzles", "-m", "demo/average", "--limit", "3").code == 0
    run_id: str = cli("show", "latest", "--json").json["run_id"]
    return run_id


def test_a_small_run_is_not_packed(cli: Cli, home: Path) -> None:
    run_id = finished(cli)
    with opened(home) as database:
        pack_run(database, run_id)
        assert packed(database, run_id) == set()


def test_a_large_run_is_packed_when_it_ends_and_again_when_it_is_scored_again(cli: Cli, home: Path) -> None:
    run_id = finished(cli)
    with opened(home) as database:
        make_large(database, run_id)
        assert packed(database, run_id) == set()
        assert cli("resume", run_id).code == 0
        assert packed(database, run_id) == set(PackingKind)
        [row] = RunStore(database).evaluation_rows(run_id)
        before = PackingStore(database).find(row["id"])
        assert cli("rescore", run_id, "--scorer", "exact").code == 0
        after = PackingStore(database).find(row["id"])
        assert cli("rescore", run_id, "--use", "puzzle").code == 0
        assert packed(database, run_id) == set(PackingKind)
    assert after[PackingKind.WORDS] == before[PackingKind.WORDS]
    assert after[PackingKind.COLUMNS].generation != before[PackingKind.COLUMNS].generation


def test_who_cancels_a_large_run_does_not_wait_until_it_is_packed(database: Database) -> None:
    run_id = new_chunks(database, chunks=1)
    make_large(database, run_id)
    cancel_run(database, run_id)
    assert RunStore(database).get(run_id).finished_at is not None
    assert packed(database, run_id) == set()
    pack_run(database, run_id)
    assert packed(database, run_id) == set(PackingKind)


@pytest.mark.sqlite
def test_a_worker_packs_what_earlier_versions_left(cli: Cli, home: Path, tmp_path: Path) -> None:
    run_id = finished(cli)
    with opened(home) as database:
        make_large(database, run_id)

        async def until_packed() -> None:
            stop = asyncio.Event()
            working = asyncio.create_task(polling.work(WorkerContext(database, PlanContext(tmp_path, {})), stop))
            async with asyncio.timeout(120):
                while packed(database, run_id) != set(PackingKind):
                    await asyncio.sleep(0.05)
            stop.set()
            await working

        asyncio.run(until_packed())
