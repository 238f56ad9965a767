"""Packs the results of large runs that have ended, so that they are read quickly; nothing depends on it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from proctor.domain.errors import StoreError
from proctor.stores.database import Database
from proctor.stores.packed.masks import SEGMENT
from proctor.stores.packed.packing import LARGE, PackedEvaluation, PackingKind, PackingStore

log = logging.getLogger("proctor.runs")


def pack_run(database: Database, run_id: str) -> None:
    """Pack what is not packed of the run; where that fails it is packed later, or read as it is."""
    try:
        while pack_next(database, run_id):
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
            _packer(kind)(database, store, evaluation, segment)
            return True
    return False


def _packer(kind: PackingKind) -> Callable[[Database, PackingStore, PackedEvaluation, int], bool]:
    # Small runs end without what reads results, which takes longer to load than they take to end.
    from proctor.stores.packed.columns import pack_columns
    from proctor.stores.packed.words import pack_words

    return pack_columns if kind is PackingKind.COLUMNS else pack_words
