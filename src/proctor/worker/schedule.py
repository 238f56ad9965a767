"""What is done again and again, by whichever worker is told to: each is harmless twice, and late."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from proctor.runs.resolve import PlanContext
    from proctor.stores.database import Database
    from proctor.worker.child import Child

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0


class HasStores(Protocol):
    """A worker of either kind."""

    @property
    def database(self) -> Database: ...

    @property
    def context(self) -> PlanContext: ...


class Scheduled(Struct, frozen=True):
    """A task that beat asks for every `interval_seconds`; it is done once in `period_seconds`, however many ask."""

    work: Callable[[Child], Awaitable[object]]
    interval_seconds: float
    period_seconds: float


async def sweep(child: Child) -> object:
    await child.sweep()
    return None


async def refresh_catalogue(child: Child) -> object:
    from proctor.worker.housekeeping import refresh_catalogue as refresh

    return await refresh(child.database, child.context)


async def prune(child: Child) -> object:
    from proctor.worker.housekeeping import prune as prune_caches

    return await prune_caches(child.database, child.context)


async def prune_uploads(worker: HasStores) -> object:
    from proctor.worker.housekeeping import prune_uploads as prune_expired

    return await prune_expired(worker.database, worker.context)


async def apply_retention(child: Child) -> object:
    from proctor.worker.housekeeping import apply_retention as apply

    return await apply(child.database, child.context, child.retention_days)


async def deliver_webhooks(worker: HasStores) -> object:
    from proctor.worker.webhooks import deliver_webhooks as deliver

    return await deliver(worker.database, worker.context)


async def refresh_summaries(child: Child) -> object:
    from proctor.worker.housekeeping import refresh_summaries as refresh

    return await refresh(child.database)


async def keep_raw_data(worker: HasStores) -> object:
    from proctor.worker.housekeeping import keep_raw_data as keep

    return await keep(worker.database, worker.context)


async def pack_results(worker: HasStores) -> object:
    from proctor.worker.housekeeping import pack_results as pack

    return await pack(worker.database)


SCHEDULE: dict[str, Scheduled] = {
    # Every worker sweeps by itself, too: beat need not run for that.
    "sweep": Scheduled(sweep, 2.0, 0.0),
    "refresh_catalogue": Scheduled(refresh_catalogue, 10 * MINUTE, DAY),
    "prune": Scheduled(prune, 10 * MINUTE, 6 * HOUR),
    "deliver_webhooks": Scheduled(deliver_webhooks, 2.0, 1.0),
    "prune_uploads": Scheduled(prune_uploads, MINUTE, 5 * MINUTE),
    "refresh_summaries": Scheduled(refresh_summaries, MINUTE, 5 * MINUTE),
    "keep_raw_data": Scheduled(keep_raw_data, MINUTE, MINUTE),
    "pack_results": Scheduled(pack_results, MINUTE, 5 * MINUTE),
    "apply_retention": Scheduled(apply_retention, 10 * MINUTE, DAY),
}
"""Task -> what it does and how often. A further one is a line here."""


class PolledTask(Struct, frozen=True):
    work: Callable[[HasStores], Awaitable[object]]
    period_seconds: float


POLLED = {
    "prune_uploads": PolledTask(prune_uploads, 5 * MINUTE),
    "keep_raw_data": PolledTask(keep_raw_data, MINUTE),
    "deliver_webhooks": PolledTask(deliver_webhooks, 1.0),
}
"""Those that workers without a broker do as well: the first of the processes of a machine."""
