"""What workers do when nobody asks for it: lists are brought up to date, old files go, figures are computed ahead."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from proctor.domain.errors import ProctorError

if TYPE_CHECKING:
    from proctor.runs.resolve import PlanContext
    from proctor.stores.database import Database

DAY = 86_400.0
KEPT_DAYS = 90
KEPT_DELIVERIES_DAYS = 30
SUMMARIES_AT_A_TIME = 20
log = logging.getLogger("proctor.worker")


async def refresh_catalogue(database: Database, context: PlanContext) -> list[str]:
    """Ask every provider whose key is here, or is a project's own, for its models; gives those that answered."""
    return await asyncio.to_thread(_refresh_catalogue, database, context)


def _refresh_catalogue(database: Database, context: PlanContext) -> list[str]:
    from proctor.runs.models import describe_providers, list_connected_models, list_provider_models
    from proctor.stores.provider_keys import ProviderKeyStore

    if context.is_offline:
        return []
    asks: list[tuple[str, Callable[[], object]]] = [
        (item.provider, partial(list_provider_models, item.provider, context, is_refreshing=True))
        for item in describe_providers(context.environment)
        if item.key_variable is not None and item.has_key
    ]
    asks += [
        (f"{row.provider} of project {row.project}", partial(list_connected_models, row, context))
        for row in ProviderKeyStore(database).of_all()
    ]
    answered = []
    for name, ask in asks:
        try:
            ask()
        except ProctorError as fault:
            log.info("the models of %s are not listed: %s", name, fault)
        else:
            answered.append(name)
    return answered


async def prune(database: Database, context: PlanContext) -> int:
    """Remove what is kept only to be quicker and was not renewed for months; gives how many lists and files."""
    from proctor.runs.storage.caches import prune_caches

    if context.home is None:
        return 0
    return await asyncio.to_thread(prune_caches, database, context.home, before=time.time() - KEPT_DAYS * DAY)


async def apply_retention(database: Database, context: PlanContext, days: float | None) -> int:
    """Remove what the operator or a project lets expire, as `proctor retention` does; gives how many runs.

    Nothing goes, artifacts without an owner included, where neither says how long it is to be kept.
    """
    return await asyncio.to_thread(_apply_retention, database, context, days)


def _apply_retention(database: Database, context: PlanContext, days: float | None) -> int:
    from proctor.runs.storage.retention import apply_retention as apply
    from proctor.stores.retention import read_rules

    said = [days, *(own for rules in read_rules(database).values() for own in rules.values())]
    if context.artifacts is None or all(one is None for one in said):
        return 0
    found = apply(database, context.artifacts, days, is_dry_run=False)
    log.info("retention_applied", extra={"runs": len(found.runs), "artifacts": found.artifacts})
    for note in found.notes:
        log.info("retention: %s", note)
    return len(found.runs)


async def prune_uploads(database: Database, context: PlanContext) -> int:
    """Delete the uploaded files that have expired and that no run uses; gives how many.

    Programs that could not be marked, and deliveries that ended, are forgotten after a while, too.
    """
    from proctor.runs.storage.files import prune_files
    from proctor.stores.submission_queue import MarkingLeases
    from proctor.stores.webhooks import DeliveryQueue

    await asyncio.to_thread(DeliveryQueue(database).prune, KEPT_DELIVERIES_DAYS * DAY)

    await asyncio.to_thread(MarkingLeases(database).delete_failed, KEPT_DAYS * DAY)

    if context.artifacts is None:
        return 0
    return await asyncio.to_thread(prune_files, database, context.artifacts)


async def refresh_summaries(database: Database) -> int:
    """Compute the figures of runs that ended without them, so that nobody waits for them; gives how many runs."""
    return await asyncio.to_thread(_refresh_summaries, database)


def _refresh_summaries(database: Database) -> int:
    from proctor.runs.read import read_run
    from proctor.stores.runs import RunStore

    found = RunStore(database).without_summary(SUMMARIES_AT_A_TIME)
    done = 0
    for run_id in found:
        try:
            read_run(database, run_id)
        except Exception:  # one that cannot be read keeps none of the others, other projects' among them, waiting
            log.exception("the figures of %s could not be computed", run_id)
        else:
            done += 1
    return done


async def keep_raw_data(database: Database, context: PlanContext) -> int:
    """Keep as one artifact the responses of runs whose worker was lost before it had; gives of how many."""
    from proctor.runs.chunks.finish import keep_missing_raw_data

    return await asyncio.to_thread(keep_missing_raw_data, database, context.artifacts)


async def pack_results(database: Database) -> bool:
    """Pack one evaluation of a large run that ended unpacked, or was scored again; False where there is none."""
    from proctor.runs.packing import pack_next, stoppable

    return await stoppable(lambda go_on: pack_next(database, go_on=go_on))
