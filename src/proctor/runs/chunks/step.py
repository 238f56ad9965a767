"""Keeps the lease of a step of a run, its preparation or its end, while it is worked on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from proctor.domain.errors import StoreError
from proctor.stores.leases import LeaseLostError
from proctor.stores.steps import StepLease, StepStore

HEARTBEAT_SECONDS = 1.0


@contextmanager
def kept(steps: StepStore, lease: StepLease) -> Iterator[None]:
    """Renew the lease every second within the block; who lost it learns so when it writes."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(HEARTBEAT_SECONDS):
            try:
                steps.renew(lease)
            except LeaseLostError:
                return
            except StoreError:
                continue

    thread = threading.Thread(target=beat, name=f"step of {lease.run_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
