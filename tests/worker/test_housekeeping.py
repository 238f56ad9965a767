"""What workers without a broker do now and then goes on, whatever becomes of one of these tasks."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from proctor.runs.chunks.worker_context import WorkerContext
from proctor.runs.resolve import PlanContext
from proctor.stores.database import open_database
from proctor.worker import polling
from proctor.worker.schedule import HasStores, PolledTask

pytestmark = pytest.mark.sqlite


def test_a_mistake_in_one_task_ends_neither_it_nor_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []

    async def broken(_: HasStores) -> object:
        done.append("broken")
        raise KeyError("a mistake of ours")

    async def sound(_: HasStores) -> object:
        done.append("sound")
        return None

    tasks = {"broken_task": PolledTask(broken, 0.0), "sound_task": PolledTask(sound, 0.0)}
    monkeypatch.setattr(polling, "POLLED", tasks)
    monkeypatch.setattr(polling, "HOUSEKEEPING_SECONDS", 0.01)

    async def until_done() -> None:
        database = open_database(f"sqlite:///{tmp_path / 'proctor.db'}")
        stop = asyncio.Event()
        working = asyncio.create_task(polling.work(WorkerContext(database, PlanContext(tmp_path, {})), stop))
        async with asyncio.timeout(60):
            while min(done.count("broken"), done.count("sound")) < 3:
                await asyncio.sleep(0.01)
        stop.set()
        await working
        database.dispose()

    asyncio.run(until_done())
    assert "broken task failed" in caplog.text
    assert "a mistake of ours" in caplog.text
