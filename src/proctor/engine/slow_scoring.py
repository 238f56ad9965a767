"""Scorers that need long for an answer work in a process of their own: answers are timed in this one."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from proctor.domain.errors import ScorerError
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import Scorer

if TYPE_CHECKING:
    from proctor.worker_process import WorkerProcess

WORKER = "proctor.engine.slow_scoring_worker"
KEPT_VARIABLES = ("HOME", "LANG", "LC_ALL", "PATH", "PYTHONHASHSEED", "TMPDIR", "VIRTUAL_ENV")
"""All of the environment that the process sees: it reads what models wrote, and needs no key."""
MAX_SECONDS = 120.0
"""Slow scorers need milliseconds to seconds: one that has not answered by now never will, and others wait for it."""


class ScoringProcess:
    """Scores one answer after another; started when first needed, and anew after it has died."""

    def __init__(self, most_seconds: float = MAX_SECONDS) -> None:
        self._most_seconds = most_seconds
        self._turn = asyncio.Lock()
        self._worker: WorkerProcess | None = None

    @property
    def pid(self) -> int | None:
        return None if self._worker is None else self._worker.pid

    async def score(self, scorer: Scorer, sample: Sample, response: Response) -> Score:
        """What `scorer.score` gives or raises; a ScorerError when the process dies of the answer or never ends."""
        import pickle  # few runs have a scorer that is slow

        from proctor.worker_process import WorkerDiedError, WorkerNotStartedError, WorkerProcess, WorkerTooSlowError

        if self._worker is None:
            seen = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
            self._worker = WorkerProcess(WORKER, seen)
        question = pickle.dumps((scorer, sample, response))
        async with self._turn:
            try:
                answer = await self._ask(self._worker, question)
            except WorkerTooSlowError:
                raise ScorerError(f"scoring took longer than {self._most_seconds:g} s") from None
            except WorkerDiedError:
                raise ScorerError("the process that scores ended without a word") from None
            except WorkerNotStartedError:
                raise ScorerError("the process that scores did not start") from None
        said: Score | Exception = pickle.loads(answer)  # noqa: S301 - our own process
        if isinstance(said, Exception):
            raise said
        return said

    async def close(self) -> None:
        """End the process; calling it twice is harmless."""
        async with self._turn:
            if self._worker is not None:
                self._worker.close()

    async def _ask(self, worker: WorkerProcess, question: bytes) -> bytes:
        asking = asyncio.create_task(asyncio.to_thread(worker.ask, question, self._most_seconds, self._most_seconds))
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            worker.kill()  # its answer would be taken for the next one's
            await asyncio.wait([asking])
            raise
