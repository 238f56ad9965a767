"""Celery's consumer, which is back within a second when the broker is: at defaults it waits for up to half a minute."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from celery.worker.consumer.consumer import Consumer
from celery.worker.state import maybe_shutdown

if TYPE_CHECKING:
    from kombu import Connection

FIRST_SECONDS, MORE_SECONDS, MAX_SECONDS = 0.2, 0.2, 1.0
log = logging.getLogger("proctor.worker")


class PromptConsumer(Consumer):  # type: ignore[misc]  # Celery has no types
    def ensure_connected(self, conn: Connection) -> Any:
        """Connect, however long it takes."""
        connected = conn.ensure_connection(
            self._note_fault,
            None,
            interval_start=FIRST_SECONDS,
            interval_step=MORE_SECONDS,
            interval_max=MAX_SECONDS,
            callback=maybe_shutdown,
        )
        self.first_connection_attempt = False
        self.broker_connection_retry_attempt = 0
        return connected

    def _note_fault(self, fault: Exception, _: float) -> None:
        self.broker_connection_retry_attempt += 1
        level = logging.WARNING if self.broker_connection_retry_attempt == 1 else logging.DEBUG
        log.log(level, "the broker cannot be reached, and is tried until it can: %s", fault)
