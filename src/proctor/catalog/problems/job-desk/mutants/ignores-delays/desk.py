"""Hands out jobs: each has one holder at a time, and none is lost."""

from __future__ import annotations

import heapq
import secrets
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from jobs import STATES, Job, State
from journal import Journal


class MissingError(Exception):
    """There is no such job."""


class TokenError(Exception):
    """A token is not that of the job's running lease, or a job is not dead."""


class Desk:
    """All jobs; safe to use from several threads.

    Every method that reads or changes jobs holds the one condition, and first
    takes note of what became due in the meantime.
    """

    def __init__(self, journal: Journal, clock: Callable[[], float]) -> None:
        """Take up the jobs of a journal."""
        self._journal = journal
        self._clock = clock
        self._changed = threading.Condition()
        self._jobs: dict[str, Job] = {}
        self._keys: dict[tuple[str, str], str] = {}
        self._ready: defaultdict[str, list[tuple[tuple[int, int], str]]]
        self._ready = defaultdict(list)
        self._due: list[tuple[float, str]] = []
        self._counts: defaultdict[str, dict[State, int]]
        self._counts = defaultdict(lambda: dict.fromkeys(STATES, 0))
        for record in journal.records():
            self._recall(record)
        with self._changed:
            for job in self._jobs.values():
                self._counts[job.queue][job.state] += 1
                self._schedule(job)

    def _recall(self, record: dict[str, Any]) -> None:
        if "queue" in record:
            job = Job(**record)
            self._jobs[job.id] = job
            if job.key is not None:
                self._keys[job.queue, job.key] = job.id
        else:
            job = self._jobs[record["id"]]
            for name, value in record.items():
                setattr(job, name, value)

    def _schedule(self, job: Job) -> None:
        """Put a job where it will be found when its time has come."""
        if job.state == "leased" or job.until > self._clock():
            heapq.heappush(self._due, (job.until, job.id))
        elif job.state == "waiting":
            heapq.heappush(self._ready[job.queue], (job.rank, job.id))
            self._changed.notify_all()

    def _move(self, job: Job, state: State, until: float, token: str | None) -> None:
        """Bring a job to another state, remember and schedule that."""
        counts = self._counts[job.queue]
        counts[job.state] -= 1
        counts[state] += 1
        job.state, job.until, job.token = state, until, token
        self._journal.add(job.changing())
        if state in ("waiting", "leased"):
            self._schedule(job)

    def _release(self, job: Job, until: float) -> None:
        """End a lease without success."""
        is_last = job.attempts >= job.max_attempts
        self._move(job, "dead" if is_last else "waiting", until, None)

    def _tick(self) -> float:
        """Take note of what became due; gives the time."""
        now = self._clock()
        while self._due and self._due[0][0] <= now:
            until, number = heapq.heappop(self._due)
            job = self._jobs[number]
            if job.until != until:
                continue  # It was given another time since.
            if job.state == "leased":
                self._release(job, now)
            else:
                self._schedule(job)
        return now

    def add(
        self, queue: str, delay: float, key: str | None, **members: Any
    ) -> tuple[Job, bool]:
        """Keep a new job, or find the one with its key; tells whether it is new."""
        with self._changed:
            now = self._tick()
            known = self._keys.get((queue, key)) if key else None
            if known is not None:
                return self._jobs[known], False
            job = Job(
                id=secrets.token_hex(8),
                queue=queue,
                key=key,
                number=len(self._jobs),
                until=now,
                **members,
            )
            self._journal.add(asdict(job))
            self._jobs[job.id] = job
            if key:
                self._keys[queue, key] = job.id
            self._counts[queue]["waiting"] += 1
            self._schedule(job)
            return job, True

    def lease(self, queue: str, seconds: float, wait: float) -> dict[str, Any] | None:
        """Lease the first job of a queue, waiting for one if need be."""
        with self._changed:
            now = self._tick()
            end = now + wait
            while (job := self._first(queue)) is None:
                if now >= end:
                    return None
                wake = min(end, self._due[0][0]) if self._due else end
                self._changed.wait(max(0.0, wake - now) + 0.001)
                now = self._tick()
            job.attempts += 1
            token = secrets.token_hex(16)
            self._move(job, "leased", now + seconds, token)
            return {
                "id": job.id,
                "payload": job.payload,
                "attempt": job.attempts,
                "token": token,
            }

    def _first(self, queue: str) -> Job | None:
        ready = self._ready[queue]
        return self._jobs[heapq.heappop(ready)[1]] if ready else None

    def _held(self, number: str, token: str) -> Job:
        """Give a job whose running lease has this token."""
        job = self._find(number)
        if job.state != "leased" or job.token != token:
            raise TokenError
        return job

    def _find(self, number: str) -> Job:
        if number not in self._jobs:
            raise MissingError
        return self._jobs[number]

    def finish(self, number: str, token: str) -> None:
        """End a lease with success."""
        with self._changed:
            now = self._tick()
            self._move(self._held(number, token), "done", now, None)

    def fail(self, number: str, token: str, delay: float) -> None:
        """End a lease without success."""
        with self._changed:
            now = self._tick()
            self._release(self._held(number, token), now + delay)

    def extend(self, number: str, token: str, seconds: float) -> None:
        """Let a lease run for so long from now on."""
        with self._changed:
            now = self._tick()
            self._move(self._held(number, token), "leased", now + seconds, token)
            # Those who wait may have to get up earlier now.
            self._changed.notify_all()

    def revive(self, number: str) -> None:
        """Give a dead job another life."""
        with self._changed:
            now = self._tick()
            job = self._find(number)
            if job.state != "dead":
                raise TokenError
            job.attempts = 0
            self._move(job, "waiting", now, None)

    def show(self, number: str) -> dict[str, Any]:
        """Give a job as clients see it."""
        with self._changed:
            self._tick()
            return self._find(number).shown()

    def counts(self, queue: str) -> dict[State, int]:
        """Tell how many jobs of a queue are in each state."""
        with self._changed:
            self._tick()
            return dict(self._counts[queue])
