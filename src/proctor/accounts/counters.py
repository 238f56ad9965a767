"""Counts that are forgotten after a while: in this process's memory, or in Redis for all processes of a server."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from redis import Redis

MAX_COUNTED = 100_000
"""Names that are remembered; the oldest go first."""
PREFIX = "proctor:counts:"
TIMEOUT_SECONDS = 1.0
ADD = """
local count = redis.call('INCR', KEYS[1])
if count == 1 or ARGV[2] == '1' then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}
"""
log = logging.getLogger("proctor.server")


class Counters(Protocol):
    """Counts by name; exact among all who share them."""

    def add(self, name: str, seconds: float, *, is_sliding: bool = False) -> tuple[int, float]:
        """One more; gives the count and after how many seconds it is forgotten: from the first one on, or the last."""
        ...

    def read(self, name: str) -> tuple[int, float]: ...

    def forget(self, name: str) -> None: ...


class MemoryCounters:
    """Of one process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._counts: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def add(self, name: str, seconds: float, *, is_sliding: bool = False) -> tuple[int, float]:
        now = self._clock()
        with self._lock:
            count, until = self._counts.pop(name, (0, 0.0))
            if until <= now:
                count, until = 0, now + seconds
            until = now + seconds if is_sliding else until
            self._counts[name] = (count + 1, until)
            while len(self._counts) > MAX_COUNTED:
                self._counts.popitem(last=False)
        return count + 1, until - now

    def read(self, name: str) -> tuple[int, float]:
        with self._lock:
            count, until = self._counts.get(name, (0, 0.0))
        left = until - self._clock()
        return (count, left) if left > 0 else (0, 0.0)

    def forget(self, name: str) -> None:
        with self._lock:
            self._counts.pop(name, None)


class RedisCounters:
    """Of all processes that share a Redis; while it is away each counts for itself."""

    def __init__(self, url: str) -> None:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        self._client: Redis = Redis.from_url(
            url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS, retry=Retry(NoBackoff(), 0)
        )
        self._script = self._client.register_script(ADD)
        self._own = MemoryCounters()
        self._is_away = False

    def add(self, name: str, seconds: float, *, is_sliding: bool = False) -> tuple[int, float]:
        from redis.exceptions import RedisError

        try:
            count, left = self._script(keys=[_key(name)], args=[int(seconds * 1000), int(is_sliding)])
        except (RedisError, OSError) as error:
            self._note(error)
            return self._own.add(name, seconds, is_sliding=is_sliding)
        self._is_away = False
        return int(count), max(0.0, int(left) / 1000)

    def read(self, name: str) -> tuple[int, float]:
        from redis.exceptions import RedisError

        try:
            with self._client.pipeline() as asked:
                asked.get(_key(name))
                asked.pttl(_key(name))
                count, left = asked.execute()
        except (RedisError, OSError) as error:
            self._note(error)
            return self._own.read(name)
        return (int(count), int(left) / 1000) if count is not None and int(left) > 0 else (0, 0.0)

    def forget(self, name: str) -> None:
        from redis.exceptions import RedisError

        try:
            self._client.delete(_key(name))
        except (RedisError, OSError) as error:
            self._note(error)
        self._own.forget(name)

    def _note(self, error: Exception) -> None:
        if not self._is_away:
            self._is_away = True
            log.warning("Redis cannot be asked (%s): limits hold for each process by itself", type(error).__name__)


def _key(name: str) -> str:
    """No name of a user and no address is kept."""
    return PREFIX + sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
