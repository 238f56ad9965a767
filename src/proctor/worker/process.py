"""A worker process of this machine: `python -m proctor.worker.process --pools default,sandbox,local`.

It ends when its standard input does, so that it never outlives who started it, however that ends.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from proctor.accounts.provider_keys import ProjectKeys
from proctor.domain.chunk import Pool
from proctor.domain.errors import ProctorError
from proctor.runs.chunks.worker_context import Part, WorkerContext
from proctor.runs.resolve import PlanContext
from proctor.secret_files import with_secret_files
from proctor.settings import Settings
from proctor.stores.artifacts.opening import open_artifacts
from proctor.stores.database import Database, open_database
from proctor.stores.model_lists import LocatedModelLists, ModelListStore
from proctor.telemetry.starting import count_worker, start_telemetry
from proctor.worker.polling import work

GRACE_SECONDS = 30.0
"""How long requests that are in flight are waited for when the parent is gone."""
STUCK = 70
"""The exit code of a worker whose event loop stood still."""


def plan_context(settings: Settings, folder: Path) -> PlanContext:
    """What a worker reads plans in."""
    environment = with_secret_files(os.environ)
    artifacts = open_artifacts(settings.artifacts_url, settings.waiting, environment, is_offline=settings.is_offline)
    return PlanContext(
        folder,
        environment,
        settings.data,
        settings.prices,
        settings.is_offline,
        LocatedModelLists(settings.database_url),
        artifacts,
        settings.home,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="proctor.worker.process")
    parser.add_argument("--pools", default=",".join(Pool))
    parser.add_argument("--place", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args(arguments)
    settings = Settings.from_environment()
    start_telemetry(settings, "worker")
    count_worker()
    try:
        database = open_database(settings.database_url, settings.database_read_url)
    except ProctorError as fault:
        sys.stderr.write(f"Error: {fault}\n")
        return fault.exit_code
    try:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            pools, part = [Pool(name) for name in given.pools.split(",")], Part(given.place, given.processes)
            runner.run(_work(settings, database, pools, part))
    finally:
        database.dispose()
    return 0


async def _work(settings: Settings, database: Database, pools: Sequence[Pool], part: Part) -> None:
    context = plan_context(settings, Path.cwd())
    worker = WorkerContext(
        database,
        replace(
            context,
            project_keys=ProjectKeys(database, context.environment),
            lists=ModelListStore(database),
        ),
        pools=pools,
        part=part,
        is_stuck=lambda: os._exit(STUCK),
    )
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    _follow_parent(lambda: loop.call_soon_threadsafe(stop.set))
    await work(worker, stop)


def _follow_parent(stop: Callable[[], object]) -> None:
    """The pipe that standard input is has its other end in the parent: it is closed when that ends."""

    def wait() -> None:
        while os.read(0, 1024):
            pass
        stop()
        threading.Timer(GRACE_SECONDS, os._exit, [0]).start()

    threading.Thread(target=wait, name="parent", daemon=True).start()


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


if __name__ == "__main__":
    sys.exit(main())
