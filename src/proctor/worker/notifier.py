"""Notifies workers: a message that there is work, with its id and nothing else. One that is lost is sent again."""

from __future__ import annotations

import logging
import re
import threading
from typing import TYPE_CHECKING

from proctor.domain.chunk import Pool, Priority
from proctor.domain.log_context import current_context

if TYPE_CHECKING:
    from celery import Celery

    from proctor.domain.chunk import Chunk

STEPS = "proctor.steps"
"""The queue of what prepares and ends runs, which every worker serves, and first."""
MARKING = "proctor.marking"
"""The queue of programs that were handed in, which workers of the pool `sandbox` serve."""
RESCORING = "proctor.rescoring"
"""The queue of runs to be scored again, which every worker serves."""
EXECUTE, PREPARE, FINISH, SCHEDULED, MARK, RESCORE = (
    "proctor.execute_chunk", "proctor.prepare_run", "proctor.finish_run", "proctor.scheduled", "proctor.mark_program",
    "proctor.rescore_run",
)  # fmt: skip
RETRY = {"max_retries": 2, "interval_start": 0, "interval_step": 0.1, "interval_max": 0.2}
"""A connection that Redis has forgotten is found to be one only when it is used."""
RUN_ID = re.compile(r"[0-9a-z]{6,40}")
SUBMISSION_ID = re.compile(r"s-[0-9a-z]{6,40}")
RESCORING_ID = re.compile(r"r-[0-9a-z]{6,40}")
log = logging.getLogger("proctor.worker")


def queue_of(pool: Pool, priority: Priority) -> str:
    return f"proctor.{pool.value}.{priority.value}"


def queues_of(pools: list[Pool]) -> list[str]:
    """The queues that a worker of these pools serves, the most urgent first."""
    by_urgency = sorted(Priority, key=lambda priority: -priority.rank)
    marking = [MARKING] if Pool.SANDBOX in pools else []
    return [STEPS, *(queue_of(pool, priority) for priority in by_urgency for pool in pools), *marking, RESCORING]


class WorkerNotifier:
    """Sends from any thread; a message that cannot be sent is no error, because whoever sweeps sends it again."""

    def __init__(self, app: Celery) -> None:
        self._app = app
        self._lock = threading.Lock()

    def chunk(self, chunk: Chunk) -> bool:
        # What a lost worker had was begun before all that waits: it need not wait behind that again.
        urgency = Priority.HIGH if chunk.lost_leases else chunk.priority
        return self._send(EXECUTE, chunk.id, queue_of(chunk.pool, urgency))

    def prepare(self, run_id: str) -> bool:
        return self._send(PREPARE, run_id, STEPS)

    def finish(self, run_id: str) -> bool:
        return self._send(FINISH, run_id, STEPS)

    def mark(self, program_id: str) -> bool:
        return self._send(MARK, program_id, MARKING)

    def rescore(self, rescoring_id: str) -> bool:
        return self._send(RESCORE, rescoring_id, RESCORING)

    def _send(self, task: str, number: int | str, queue: str) -> bool:
        from kombu.exceptions import KombuError
        from redis.exceptions import RedisError

        try:
            with self._lock:
                self._app.send_task(
                    task, args=(number,), queue=queue, retry=True, retry_policy=RETRY, ignore_result=True,
                    headers=dict(current_context()),
                )  # fmt: skip
        except (KombuError, RedisError, OSError) as fault:
            log.debug("the broker could not be told of %s: %s", number, fault)
            return False
        return True
