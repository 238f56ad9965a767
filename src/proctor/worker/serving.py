"""A worker as it is started: a group of processes that ends when it is told to, by Ctrl-C or SIGTERM."""

from __future__ import annotations

import logging
import os
import signal
import socket
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from proctor.domain.chunk import Pool
from proctor.domain.errors import UserError
from proctor.worker.parent import EndingNews, children_of, end_in_time

if TYPE_CHECKING:
    from proctor.settings import Settings

Say = Callable[[str], None]
ENDING = "Ending: requests in flight are finished, and others go on with the rest."
UNHEARD = "Ended without the broker, which does not answer: what it was not told of is announced again."
SHARED = (
    "proctor.benchmarks.datasets", "proctor.benchmarks.definition", "proctor.models.openai", "proctor.runs.raw_data",
    "proctor.runs.storage.files", "proctor.worker.child", "proctor.worker.webhooks",
)  # fmt: skip
"""What most chunks need, imported before there are children: they begin sooner, and have it in memory once."""
END_SECONDS = 30.0
"""So long after the last request in flight the broker is waited for, to be told that this worker ends."""


class MetricsPlace(Struct, frozen=True):
    """Where a worker serves /metrics."""

    host: str
    port: int


@contextmanager
def _metrics(place: MetricsPlace | None, say: Say) -> Iterator[None]:
    """While it lasts, what this process's children count can be read."""
    if place is None:
        yield
        return
    # prometheus_client looks for it when it is imported, also for the children that are forked later.
    folder = os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="proctor-metrics-")
    from proctor.telemetry.process_metrics import WorkerFiles, serve_worker_metrics

    files = WorkerFiles(Path(folder))
    try:
        try:
            server = serve_worker_metrics(place.host, place.port, files, lambda: children_of(os.getpid()))
        except OSError as error:
            raise UserError(f"Metrics cannot be served on {place.host}, port {place.port}: {error.strerror}.") from None
        say(f"Metrics are at http://{place.host}:{server.server_port}/metrics")
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
    finally:
        files.close()


def serve_by_broker(
    settings: Settings,
    pools: Sequence[Pool],
    count: int,
    *,
    is_beating: bool,
    say: Say,
    metrics: MetricsPlace | None = None,
) -> int:
    """Execute what the broker announces, in so many child processes; gives the exit code."""
    with ExitStack() as opened:
        opened.enter_context(_metrics(metrics, say))
        ending = EndingNews()

        def give_up() -> None:
            say(UNHEARD)
            opened.close()
            logging.shutdown()
            os._exit(0)  # the children die with this process

        end_in_time(ending, END_SECONDS, give_up)
        return _serve_by_broker(settings, pools, count, ending, is_beating=is_beating, say=say)


def _serve_by_broker(
    settings: Settings, pools: Sequence[Pool], count: int, news: EndingNews, *, is_beating: bool, say: Say
) -> int:
    from celery.apps.worker import Worker
    from celery.signals import worker_ready, worker_shutting_down

    from proctor.worker.broker import broker_label
    from proctor.worker.celery_app import make_worker_app
    from proctor.worker.child import WorkerConfig
    from proctor.worker.process import plan_context

    if settings.broker_url is None:
        raise ValueError("there is no broker")
    for name in SHARED:
        import_module(name)
    _quiet_celery()
    config = WorkerConfig(
        settings.database_url,
        settings.broker_url,
        tuple(pools),
        plan_context(settings, Path.cwd()),
        settings.traces_url,
        settings.retention_days,
    )
    app, label = make_worker_app(config, news), broker_label(settings.broker_url)

    def ready(**_: object) -> None:
        say(f"{_ready(pools, count)}. Redis is at {label}.")

    def ending(**_: object) -> None:
        say(ENDING)

    worker_ready.connect(ready, weak=False)
    worker_shutting_down.connect(ending, weak=False)
    worker = Worker(
        app=app,
        hostname=f"proctor-{os.getpid()}@{socket.gethostname()}",
        pool="prefork",
        concurrency=count,
        beat=is_beating,
        scheduler="celery.beat:Scheduler",
        without_gossip=True,
        without_mingle=True,
        task_events=True,
        quiet=True,
        loglevel="WARNING",
    )
    worker.start()
    return int(worker.exitcode or 0)


def _quiet_celery() -> None:
    """A broker that restarts is no reason for pages of tracebacks from within Celery."""
    from celery.signals import setup_logging

    from proctor.telemetry.logs import leave_out_tracebacks_of_others

    leave_out_tracebacks_of_others()
    warnings.simplefilter("ignore")  # Celery's, about being root and about what it will change
    setup_logging.connect(lambda **_: None, weak=False)  # it would set up its own


def serve_by_polling(pools: Sequence[Pool], count: int, *, say: Say, metrics: MetricsPlace | None = None) -> None:
    """Execute what waits in the database, in so many processes; on one machine, because limits are shared out here."""
    from proctor.worker.processes import WorkerProcesses

    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with _metrics(metrics, say):
        processes = WorkerProcesses(count, pools=pools, folder=Path.cwd())
        processes.start()
        say(f"{_ready(pools, count)}. It looks for work in the database; for several machines, set PROCTOR_BROKER_URL.")
        ended.wait()
        say(ENDING)
        processes.close()


def _ready(pools: Sequence[Pool], count: int) -> str:
    here = f"{socket.gethostname()}:{os.getpid()}"
    return f"Worker {here} is ready, with {count} process{'' if count == 1 else 'es'} for {', '.join(pools)}"
