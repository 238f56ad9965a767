"""`proctor worker`: execute runs that others accept, until it is told to stop."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import COUNT
from proctor.domain.errors import UserError

if TYPE_CHECKING:
    from proctor.domain.chunk import Pool
    from proctor.settings import Settings

POOLS = "default,sandbox,local"


class Pools(click.ParamType["tuple[Pool, ...]"]):
    """Names of pools with commas between them."""

    name = "pools"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[Pool, ...]:
        from proctor.domain.chunk import Pool
        from proctor.domain.errors import did_you_mean

        known = [pool.value for pool in Pool]
        names = [name.strip() for name in str(value).split(",") if name.strip()]
        for name in names:
            if name not in known:
                self.fail(
                    f"there is no pool {name!r}.{did_you_mean(name, known)} There are: {', '.join(known)}.", param, ctx
                )
        if not names:
            self.fail(f"name at least one pool: {', '.join(known)}.", param, ctx)
        return tuple(Pool(name) for name in dict.fromkeys(names))


@click.command(short_help="Execute runs that are handed to workers.")
@click.option(
    "--pools",
    type=Pools(),
    default=POOLS,
    show_default=True,
    metavar="POOLS",
    help="What it takes: default; sandbox, where code can be run in one; local, where local models are.",
)
@click.option("--concurrency", type=COUNT, metavar="N", help="Processes; one for each processor if left out.")
@click.option("--metrics-port", type=click.IntRange(0, 65_535), metavar="N",
              help="Serve Prometheus's metrics of its processes at this port; 0 takes a free one.")  # fmt: skip
@click.option("--metrics-host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="And at this address.")
@click.option("--beat", is_flag=True, help="Also announce what is done on a schedule. One worker is enough.")
def worker(
    pools: tuple[Pool, ...], concurrency: int | None, metrics_port: int | None, metrics_host: str, beat: bool
) -> None:
    """Execute runs that 'proctor run' or a server hands to workers, on any number of machines.

    All share one PostgreSQL (PROCTOR_DATABASE_URL) and one Redis (PROCTOR_BROKER_URL); without Redis, workers look for
    work in the database. Ctrl-C, or SIGTERM, finishes the requests in flight, and others go on with the rest.
    """
    from proctor.settings import Settings
    from proctor.telemetry.logs import announce, start_logging
    from proctor.worker.serving import MetricsPlace, serve_by_broker, serve_by_polling

    settings = Settings.from_environment()
    count = concurrency or os.cpu_count() or 1
    start_logging(settings, "worker")
    _refuse_unusable(settings, is_scheduling=beat)
    metrics = None if metrics_port is None else MetricsPlace(metrics_host, metrics_port)
    if metrics is not None and find_spec("prometheus_client") is None:
        raise UserError("--metrics-port needs more than is installed: pip install 'proctor[worker]'.")
    if settings.broker_url is None:
        serve_by_polling(pools, count, say=announce, metrics=metrics)
        return
    sys.exit(serve_by_broker(settings, pools, count, is_beating=beat, say=announce, metrics=metrics))


def _refuse_unusable(settings: Settings, *, is_scheduling: bool) -> None:
    """Everything that a worker needs is there, and is what it says; a mistake is said now, not at the first chunk."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from proctor.accounts.sealing import ServerSecret
    from proctor.cli.context import context
    from proctor.domain.errors import UserError
    from proctor.stores.database import open_database
    from proctor.worker.broker import check_broker, refuse_without_postgresql
    from proctor.worker.parent import die_with

    ServerSecret.read(context().environment)
    refuse_without_postgresql(settings.database_url)
    if settings.broker_url is not None:
        check_broker(settings.broker_url)
    elif is_scheduling:
        raise UserError("--beat announces through a broker: set PROCTOR_BROKER_URL=redis://:PASSWORD@HOST:PORT/0.")
    open_database(settings.database_url).dispose()
    if settings.broker_url is None:
        _check_artifacts()
        return
    # Asking S3 starts threads. This process forks its children later, who would share what those threads wait on: what
    # comes for a child then ended this process with a segmentation fault. A process that is spawned instead of forked
    # would leave a helper of its own running beside the worker.
    with ProcessPoolExecutor(1, get_context("fork"), die_with, (os.getpid(),)) as apart:
        apart.submit(_check_artifacts).result()


def _check_artifacts() -> None:
    from proctor.cli.context import artifacts

    artifacts().check()
