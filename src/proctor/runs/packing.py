"""Packs the results of large runs that have ended, so that they are read quickly; nothing depends on it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import TypeVar

from proctor.domain.errors import StoreError
from proctor.stores.database import Database
from proctor.stores.packed.masks import SEGMENT
from proctor.stores.packed.packing import LARGE, PackedEvaluation, PackingKind, PackingStore

T = TypeVar("T")
log = logging.getLogger("proctor.runs")


async def stoppable(work: Callable[[Callable[[], bool]], T]) -> T:
    """Do it in a thread; `work` is given what says whether it shall go on: not once nobody waits for it any more."""
    stop = threading.Event()
    try:
        return await asyncio.to_thread(work, lambda: not stop.is_set())
    finally:
        stop.set()


def pack_run(database: Database, run_id: str, go_on: Callable[[], bool] = lambda: True) -> None:
    """Pack what is not packed of the run; where that fails it is packed later, or read as it is."""
    try:
        while go_on() and pack_next(database, run_id, go_on=go_on):
            pass
    except StoreError as fault:
        log.warning("the results of run %s are not packed: %s", run_id, fault)


def pack_next(
    database: Database,
    run_id: str | None = None,
    *,
    large: int = LARGE,
    segment: int = SEGMENT,
    go_on: Callable[[], bool] = lambda: True,
) -> bool:
    """Pack one evaluation, of this run or of the newest that needs it; False where there is none.

    Several processes may do it at once: each takes another one. Runs of fewer than `large` results stay as they are.
    """
    store = PackingStore(database, go_on)
    for kind in PackingKind:
        for evaluation in store.unpacked(kind, 1, run_id, large):
            pack = _packer(kind)
            try:
                pack(database, store, evaluation, segment)
            except StoreError:
                raise
            except Exception:
                # Rows may come from elsewhere. Those that cannot be packed must not keep all others from being packed:
                # its claim is left to run out, and until then it is no more among those that wait.
                log.exception("the %s of evaluation %s cannot be packed", kind, evaluation.id)
            return True
    return False


def _packer(kind: PackingKind) -> Callable[[Database, PackingStore, PackedEvaluation, int], bool]:
    # Small runs end without what reads results, which takes longer to load than they take to end.
    from proctor.stores.packed.columns import pack_columns
    from proctor.stores.packed.words import pack_words

    return pack_columns if kind is PackingKind.COLUMNS else pack_words
