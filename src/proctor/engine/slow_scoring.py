"""Scorers that need long for an answer work in a process of their own: answers are timed in this one."""

from __future__ import annotations

import asyncio
import os
import pickle
import struct
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from typing import cast

from proctor.domain.errors import ScorerError
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import Scorer

WORKER = "proctor.engine.slow_scoring_worker"
KEPT_VARIABLES = ("HOME", "LANG", "LC_ALL", "PATH", "PYTHONHASHSEED", "TMPDIR", "VIRTUAL_ENV")
"""All of the environment that the process sees: it reads what models wrote, and needs no key."""
SIZE = struct.Struct("!Q")
MAX_SECONDS = 120.0
"""Slow scorers need milliseconds to seconds: one that has not answered by now never will, and others wait for it."""


class ScoringProcess:
    """Scores one answer after another; started when first needed, and anew after it has died."""

    def __init__(self, most_seconds: float = MAX_SECONDS) -> None:
        self._most_seconds = most_seconds
        self._turn = asyncio.Lock()
        self._process: Process | None = None

    async def score(self, scorer: Scorer, sample: Sample, response: Response) -> Score:
        """What `scorer.score` gives or raises; a ScorerError when the process dies of the answer or never ends."""
        question = pickle.dumps((scorer, sample, response))
        async with self._turn:
            try:
                async with asyncio.timeout(self._most_seconds):
                    said = await self._ask(question)
            except TimeoutError:
                await self._end()
                raise ScorerError(f"scoring took longer than {self._most_seconds:g} s") from None
            except (asyncio.IncompleteReadError, ConnectionError):
                await self._end()
                raise ScorerError("the process that scores ended without a word") from None
            except asyncio.CancelledError:
                await self._end()  # its answer would be taken for the next one's
                raise
        if isinstance(said, Exception):
            raise said
        return said

    async def close(self) -> None:
        """End the process; calling it twice is harmless."""
        async with self._turn:
            await self._end()

    async def _ask(self, question: bytes) -> Score | Exception:
        if self._process is None:
            self._process = await _start()
        stdin, stdout = cast("StreamWriter", self._process.stdin), cast("StreamReader", self._process.stdout)
        stdin.writelines([SIZE.pack(len(question)), question])
        await stdin.drain()
        [size] = SIZE.unpack(await stdout.readexactly(SIZE.size))
        said: Score | Exception = pickle.loads(await stdout.readexactly(size))  # noqa: S301 - our own process
        return said

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()


async def _start() -> Process:
    environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    # -P: the folder it is started in may be a stranger's, and nothing of it is imported.
    return await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", WORKER, stdin=PIPE, stdout=PIPE, env=environment, start_new_session=True
    )
