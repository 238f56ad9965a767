"""Token buckets: limits, the buckets of their keys, and takes from them."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

TOLERANCE = 1e-6


class UnknownLimitError(Exception):
    """There is no limit of this name."""


class CostError(Exception):
    """A take costs more than its bucket can ever hold."""


@dataclass(slots=True)
class Bucket:
    """Tokens as of the latest event."""

    tokens: float
    time: float


@dataclass(slots=True)
class Limit:
    """How many tokens there are, how fast they come back, and who has how many."""

    capacity: int
    per_second: float
    buckets: dict[str, Bucket] = field(default_factory=dict)

    def bucket_at(self, key: str, now: float) -> Bucket:
        """Give the bucket of a key as it is now; it is not stored."""
        known = self.buckets.get(key)
        if known is None:
            return Bucket(self.capacity, now)
        time = max(now, known.time)
        gained = (time - known.time) * self.per_second
        return Bucket(min(known.tokens + gained, self.capacity), time)

    def seconds_until(self, tokens: float, bucket: Bucket) -> float:
        """Tell how long it takes until a bucket holds so many tokens."""
        return (tokens - bucket.tokens) / self.per_second


@dataclass(frozen=True, slots=True)
class Take:
    """Some tokens for a key under a limit."""

    limit: str
    key: str
    cost: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a take is allowed by itself, what is left, and how long to wait."""

    is_allowed: bool
    remaining: int
    retry_after: float


def whole(tokens: float) -> int:
    """Count the whole tokens."""
    return math.floor(tokens + TOLERANCE)


class Gate:
    """All limits; safe to use from several threads."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Use this clock for events that do not tell their time."""
        self._clock = clock
        self._lock = threading.Lock()
        self._limits: dict[str, Limit] = {}

    def put(self, name: str, capacity: int, per_second: float) -> None:
        """Set a limit; the buckets of one that is there stay."""
        with self._lock:
            limit = self._limits.setdefault(name, Limit(capacity, per_second))
            limit.capacity, limit.per_second = capacity, per_second

    def get(self, name: str) -> tuple[int, float]:
        """Give capacity and rate of a limit."""
        with self._lock:
            limit = self._find(name)
            return limit.capacity, limit.per_second

    def _find(self, name: str) -> Limit:
        if name not in self._limits:
            raise UnknownLimitError
        return self._limits[name]

    def _time(self, at: float | None) -> float:
        return self._clock() if at is None else at

    def look(self, name: str, key: str, at: float | None) -> int:
        """Tell the whole tokens of a key without taking any."""
        with self._lock:
            return whole(self._find(name).bucket_at(key, self._time(at)).tokens)

    def forget(self, name: str, key: str) -> None:
        """Treat a key as new."""
        with self._lock:
            self._find(name).buckets.pop(key, None)

    def take(self, takes: Sequence[Take], at: float | None) -> list[Verdict]:
        """Take all if each is allowed, else nothing; tell how each would fare."""
        with self._lock:
            now = self._time(at)
            limits = [self._find(take.limit) for take in takes]
            if any(t.cost > x.capacity for t, x in zip(takes, limits, strict=True)):
                raise CostError
            buckets = [
                limit.bucket_at(take.key, now)
                for take, limit in zip(takes, limits, strict=True)
            ]
            rows = list(zip(takes, limits, buckets, strict=True))
            is_allowed = all(_holds(bucket, take.cost) for take, _, bucket in rows)
            verdicts = []
            for take, limit, bucket in rows:
                verdicts.append(_judge(take, limit, bucket))
                if is_allowed:
                    bucket.tokens -= take.cost
                # A refused event still moves the bucket's time on.
                limit.buckets[take.key] = bucket
            return verdicts


def _holds(bucket: Bucket, cost: int) -> bool:
    return bucket.tokens >= cost - TOLERANCE


def _judge(take: Take, limit: Limit, bucket: Bucket) -> Verdict:
    """Say how a take fares by itself."""
    if _holds(bucket, take.cost):
        return Verdict(True, whole(bucket.tokens - take.cost), 0.0)
    wait = limit.seconds_until(take.cost, bucket)
    return Verdict(False, whole(bucket.tokens), wait)
