"""Keeps a marking's phases: when each began, how long it took, how it ended and what it left."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from proctor.domain.artifacts import Artifacts, key_of
from proctor.domain.errors import WorkspaceSpentError
from proctor.domain.message import Json
from proctor.domain.scorecard import Phase, PhaseStatus

MAX_LOG = 8_000


@dataclass
class Note:
    """A phase while it lasts."""

    status: PhaseStatus = PhaseStatus.DONE
    log: str = ""
    evidence: dict[str, Json] = field(default_factory=dict)
    artifacts: dict[str, str] = field(default_factory=dict)

    waited_seconds: float = 0.0
    """For others, before it could begin: no part of its time."""

    def wait(self, seconds: float) -> None:
        """It begins only now; how long it had to wait is kept beside its time."""
        self.waited_seconds = seconds
        self.evidence["waited_seconds"] = round(seconds, 3)

    def say(self, text: str) -> None:
        self.log = f"{self.log}\n{text}".strip()

    def fail(self, text: str) -> None:
        """The program's own doing."""
        self.status = PhaseStatus.FAILED
        self.say(text)

    def skip(self, text: str) -> None:
        """Not measured, and why."""
        self.status = PhaseStatus.NOT_MEASURED
        self.say(text)


class Phases:
    """The phases so far; a marking's record grows here."""

    def __init__(self, artifacts: Artifacts | None) -> None:
        self.done: list[Phase] = []
        self._artifacts = artifacts
        self._bodies: list[tuple[str, bytes]] = []

    @contextmanager
    def phase(self, name: str) -> Iterator[Note]:
        """One phase; an error passes through, for it is nobody's mark, unless the program used up its workspace."""
        note, began, clock = Note(), time.time(), time.monotonic()
        try:
            yield note
        except WorkspaceSpentError as error:
            note.fail(str(error))
        waited = note.waited_seconds
        self.add(name, note, began + waited, time.monotonic() - clock - waited)

    def add(self, name: str, note: Note, began: float, seconds: float) -> None:
        log = note.log
        if len(log) > MAX_LOG:
            self.keep(note, f"{name}.log", log.encode("utf-8", "replace"))
            log = f"{log[: MAX_LOG // 2]}\n[…]\n{log[-MAX_LOG // 2 :]}"
        self.done.append(Phase(name, note.status, began, round(seconds, 4), log, note.evidence, note.artifacts))

    def skip(self, name: str, why: str) -> None:
        with self.phase(name) as note:
            note.skip(why)

    def keep(self, note: Note, name: str, content: bytes) -> None:
        """As an artifact once the marking has ended, where there is somewhere to keep it."""
        if self._artifacts is not None and content:
            note.artifacts[name] = key_of(content)
            self._bodies.append((name, content))

    async def store(self) -> None:
        """Put away what the phases kept: in a thread, because a store elsewhere may take its time."""
        if self._artifacts is not None:
            for name, content in self._bodies:
                await asyncio.to_thread(self._artifacts.put, name, content)
