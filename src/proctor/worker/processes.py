"""Worker processes of a server: started with it, started again when one is lost, ended with it by their ids."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from proctor.domain.chunk import Pool

END_SECONDS = 20.0
WATCH_SECONDS = 0.5
RESTART_PAUSES = (0.2, 5.0)
"""Before a worker that was lost is started again: at first, and at most when it is lost at once every time."""
log = logging.getLogger("proctor.worker")


class _Slot:
    """The place of one worker process."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.process: subprocess.Popen[bytes] | None = None
        self.started = self.start_at = 0.0
        self.pause = RESTART_PAUSES[0]


class WorkerProcesses:
    """So many processes that execute chunks; they die with this one."""

    def __init__(
        self,
        count: int,
        *,
        environment: Mapping[str, str] | None = None,
        pools: Iterable[Pool] = tuple(Pool),
        folder: Path | None = None,
    ) -> None:
        self._environment = dict(os.environ if environment is None else environment)
        self._command = [sys.executable, "-m", "proctor.worker.process", "--pools", ",".join(pools)]
        self._command += ["--processes", str(count)]
        self._folder = folder
        self._slots = [_Slot(place) for place in range(count)]
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="workers", daemon=True)

    @property
    def pids(self) -> list[int]:
        """Of those that run now."""
        processes = [slot.process for slot in self._slots]
        return [process.pid for process in processes if process is not None and process.poll() is None]

    def start(self) -> None:
        for slot in self._slots:
            self._launch(slot)
        self._watcher.start()

    def _launch(self, slot: _Slot) -> None:
        slot.started = time.monotonic()
        slot.process = subprocess.Popen(  # noqa: S603 - our own module
            [*self._command, "--place", str(slot.place)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=self._environment,
            cwd=self._folder,
        )

    def _watch(self) -> None:
        while not self._over.wait(WATCH_SECONDS):
            for slot in self._slots:
                self._look(slot)

    def _look(self, slot: _Slot) -> None:
        now = time.monotonic()
        if slot.process is not None and slot.process.poll() is not None:
            shortest, longest = RESTART_PAUSES
            slot.pause = shortest if now - slot.started > longest else min(2 * slot.pause, longest)
            slot.start_at = now + slot.pause
            log.warning("worker %d ended with code %s", slot.process.pid, slot.process.returncode)
            _close(slot.process)
            slot.process = None
        if slot.process is None and now >= slot.start_at and not self._over.is_set():
            self._launch(slot)

    def close(self) -> None:
        """End them: what is in flight is finished and recorded, for so long as that may take."""
        self._over.set()
        if self._watcher.is_alive():
            self._watcher.join()
        running = [slot.process for slot in self._slots if slot.process is not None]
        for process in running:
            if process.stdin is not None:
                process.stdin.close()
        until = time.monotonic() + END_SECONDS
        for process in running:
            try:
                process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            _close(process)

    async def aclose(self) -> None:
        await asyncio.to_thread(self.close)


def _close(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
