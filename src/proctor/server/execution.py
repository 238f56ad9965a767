"""Who executes the runs that a server accepted: worker processes of its own, which take them from the database."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Protocol

from prometheus_client.registry import Collector

from proctor.engine.ratelimit import RunLimits
from proctor.settings import Settings
from proctor.telemetry.process_metrics import ProcessesCollector, WorkerFiles
from proctor.worker.processes import WorkerProcesses

MAX_PROCESSES = 4


class Executor(Protocol):
    """Sees that runs which are written down are executed."""

    limits: RunLimits | None
    """How fast models may be asked, shared with all who execute runs; None where nobody else knows of it."""

    async def start(self) -> None: ...

    def announce(self, run_id: str) -> None:
        """The run can be worked on; called from any thread, after it was committed."""

    def announce_rescoring(self, rescoring_id: str) -> None:
        """The same of a run that is to be scored again."""

    def down(self) -> list[str]:
        """What it needs and does not answer now."""

    def collectors(self) -> list[Collector]:
        """What tells of the processes that were started here, for metrics."""

    async def close(self) -> None:
        """End; what is in flight is finished and kept, the rest waits for the next start."""


class OwnWorkers:
    """Worker processes that are started and ended with the server; they look into the database by themselves."""

    def __init__(self, folder: Path, home: Path, count: int | None = None) -> None:
        usual = min(MAX_PROCESSES, max(1, (os.cpu_count() or 1) // 2))
        self._files = WorkerFiles.within(home)
        environment = {**os.environ, **self._files.environment()}
        self.limits: RunLimits | None = None
        self._workers = WorkerProcesses(usual if count is None else count, environment=environment, folder=folder)

    async def start(self) -> None:
        await asyncio.to_thread(self._workers.start)

    def announce(self, run_id: str) -> None:
        """Nothing: a worker that has nothing to do looks twice a second."""

    def announce_rescoring(self, rescoring_id: str) -> None:
        """Nothing, too."""

    def down(self) -> list[str]:
        return []

    def collectors(self) -> list[Collector]:
        return [self._files.collector(), ProcessesCollector(lambda: self._workers.pids)]

    async def close(self) -> None:
        await self._workers.aclose()
        self._files.close()


class OtherWorkers:
    """Workers elsewhere, who are told through a broker; what they are not told of, their sweeper finds."""

    def __init__(self, broker_url: str) -> None:
        from proctor.worker.celery_app import make_app
        from proctor.worker.notifier import WorkerNotifier
        from proctor.worker.redis_limits import RedisLimits

        self._broker_url = broker_url
        self._shared = RedisLimits(broker_url)
        self.limits: RunLimits | None = self._shared
        self._notifier = WorkerNotifier(make_app(broker_url))

    async def start(self) -> None:
        """Workers are started by whoever runs their machines."""
        await self._shared.start()

    def announce(self, run_id: str) -> None:
        """A message that cannot be sent is no error: the run is accepted, and whoever sweeps sends it again."""
        self._notifier.prepare(run_id)

    def announce_rescoring(self, rescoring_id: str) -> None:
        self._notifier.rescore(rescoring_id)

    def down(self) -> list[str]:
        from proctor.worker.broker import is_answering

        return [] if is_answering(self._broker_url) else ["redis"]

    def collectors(self) -> list[Collector]:
        return []

    async def close(self) -> None:
        """What is held of the shared limits is free again when its lease runs out."""
        await self._shared.close()


def choose_executor(settings: Settings, folder: Path) -> Executor:
    """Workers of its own, or those elsewhere where the environment names a broker."""
    if settings.broker_url is None:
        return OwnWorkers(folder, settings.home)
    from proctor.worker.broker import check_broker, refuse_without_postgresql

    refuse_without_postgresql(settings.database_url)
    check_broker(settings.broker_url)
    return OtherWorkers(settings.broker_url)
