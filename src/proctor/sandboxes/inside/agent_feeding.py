"""What commands are given on their standard input, no faster than they take it."""

from __future__ import annotations

import os
import select
from typing import Any

from .agent_jobs import RunningCommand
from .agent_loop import Loop

_SEND_AHEAD = 1 << 20


class Feeding:
    """Orders to send wait until their program has taken most of what it was given."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._sends: dict[int, RunningCommand] = {}

    def send(self, job: RunningCommand, head: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes] | None:
        """Answered when the program has taken most of it: a harness that sends faster has to wait."""
        if not job.is_stdin_open:
            return {}, b""
        job.pending += body
        job.is_closing_stdin = job.is_closing_stdin or not body
        self._sends[head["id"]] = job
        self.feed(job)
        return None

    def feed(self, job: RunningCommand) -> None:
        """Give it what it takes now, and the rest when it takes more."""
        if not job.is_stdin_open:
            return
        fd = job.fds["stdin"]
        is_open = job.feed()
        if job.pending:
            if not self._loop.is_watched(fd):
                self._loop.watch(fd, lambda _: self.feed(job), select.POLLOUT)
        else:
            self._loop.unwatch(fd)
        if is_open:
            self._answer(job)
        else:
            self.close(job)

    def close(self, job: RunningCommand) -> None:
        """It gets no more; whoever waits is answered. Calling it twice is harmless."""
        if job.is_stdin_open:
            job.is_stdin_open = False
            fd = job.fds.pop("stdin")
            self._loop.unwatch(fd)
            os.close(fd)
        self._answer(job)

    def _answer(self, job: RunningCommand) -> None:
        for ident, waiting in list(self._sends.items()):
            if waiting is job and (len(job.pending) <= _SEND_AHEAD or not job.is_stdin_open):
                del self._sends[ident]
                self._loop.tell({"id": ident})
