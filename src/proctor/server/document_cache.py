"""Documents that take long to compute and are asked for again and again: kept until what they tell of changes.

A document is kept under a name that says whose it is, what was asked, and the state of the rows it was computed from.
After a change the state is another one, so nothing has to be taken away, and nothing stale is ever found. With Redis
all processes share them; without, each keeps its own. What is used least goes when there is no more room.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Protocol

from proctor.domain.documents.document import json_bytes
from proctor.domain.measuring import measure
from proctor.plugins import installed
from proctor.stores.database import Database
from proctor.stores.runs import REVISION
from proctor.version import __version__

PREFIX = "proctor:documents:"
USED, SIZES = f"{PREFIX}used", f"{PREFIX}sizes"
KEPT_SECONDS = 86_400
TIMEOUT_SECONDS = 0.5
MIN_DOCUMENTS = 4
"""For so many there is room at least: none takes more than its part of it."""
PUT = """
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
local old = tonumber(redis.call('HGET', KEYS[3], KEYS[1]) or '0')
redis.call('HSET', KEYS[3], KEYS[1], #ARGV[1])
local total = redis.call('HINCRBY', KEYS[3], 'total', #ARGV[1] - old)
redis.call('ZADD', KEYS[2], ARGV[3], KEYS[1])
while total > tonumber(ARGV[4]) do
    local gone = redis.call('ZPOPMIN', KEYS[2])[1]
    if not gone then break end
    local size = tonumber(redis.call('HGET', KEYS[3], gone) or '0')
    redis.call('DEL', gone)
    redis.call('HDEL', KEYS[3], gone)
    total = redis.call('HINCRBY', KEYS[3], 'total', -size)
end
"""
log = logging.getLogger("proctor.server")


class KeptDocuments(Protocol):
    """Bytes by name, as many as there is room for."""

    def get(self, name: str) -> bytes | None: ...

    def put(self, name: str, content: bytes) -> None: ...


class _Turn:
    """Of a document that is being computed."""

    def __init__(self) -> None:
        self.lock, self.waiting = Lock(), 0
        self.made: bytes | None = None
        """For those who wait: a document may be too large to be kept, and Redis may be away."""


class DocumentCache:
    """`kept` is None where nothing shall be kept."""

    def __init__(self, kept: KeptDocuments | None = None) -> None:
        self._kept = kept
        self._lock = Lock()
        self._computing: dict[str, _Turn] = {}

    def document(
        self, kind: str, database: Database, asked: object, state: Callable[[], str], compute: Callable[[], object]
    ) -> bytes:
        """The document as JSON, computed where it is not kept; `asked` is everything that it depends on but `state`."""
        if self._kept is None:
            return json_bytes(compute())
        # Before it is computed: what changes meanwhile makes the name one that nobody asks for any more.
        code = [__version__, REVISION, [str(plugin) for plugin in installed()]]
        parts = [kind, code, database.label, database.scope.project, state(), asked]
        name = hashlib.sha256(json_bytes(parts)).hexdigest()
        found, result = self._kept.get(name), "hit"
        if found is None:
            with self._turn(name) as turn:  # who asks meanwhile waits, and finds it
                found = turn.made or self._kept.get(name)
                if found is None:
                    found, result = json_bytes(compute()), "miss"
                    turn.made = found
                    self._kept.put(name, found)
        measure("document_cache", kind=kind, result=result)
        return found

    @contextmanager
    def _turn(self, name: str) -> Iterator[_Turn]:
        """One at a time in this process has the document of this name to compute."""
        with self._lock:
            turn = self._computing.setdefault(name, _Turn())
            turn.waiting += 1
        try:
            with turn.lock:
                yield turn
        finally:
            with self._lock:
                turn.waiting -= 1
                if not turn.waiting:
                    del self._computing[name]


class MemoryDocuments:
    """Of this process."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, name: str) -> bytes | None:
        with self._lock:
            found = self._kept.get(name)
            if found is not None:
                self._kept.move_to_end(name)
        return found

    def put(self, name: str, content: bytes) -> None:
        if len(content) > self._most // MIN_DOCUMENTS:
            return
        with self._lock:
            self._bytes += len(content) - len(self._kept.pop(name, b""))
            self._kept[name] = content
            while self._bytes > self._most:
                _, gone = self._kept.popitem(last=False)
                self._bytes -= len(gone)


class RedisDocuments:
    """Of all processes that share a Redis; while it is away everything is computed."""

    def __init__(self, url: str, most_bytes: int) -> None:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        self._most = most_bytes
        self._client: Redis = Redis.from_url(
            url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS, retry=Retry(NoBackoff(), 0)
        )
        self._put = self._client.register_script(PUT)

    def get(self, name: str) -> bytes | None:
        from redis.exceptions import RedisError

        key = PREFIX + name
        try:
            found = self._client.get(key)
            if isinstance(found, bytes):
                self._client.zadd(USED, {key: time.time()}, xx=True)
                return found
        except (RedisError, OSError) as error:
            log.debug("Redis cannot be asked for a document: %s", type(error).__name__)
        return None

    def put(self, name: str, content: bytes) -> None:
        from redis.exceptions import RedisError

        if len(content) > self._most // MIN_DOCUMENTS:
            return
        try:
            self._put(keys=[PREFIX + name, USED, SIZES], args=[content, KEPT_SECONDS, time.time(), self._most])
        except (RedisError, OSError) as error:
            log.debug("Redis cannot keep a document: %s", type(error).__name__)


def open_cache(most_bytes: int, broker_url: str | None) -> DocumentCache:
    """Where documents are kept: in Redis where there is one, in this process otherwise, or nowhere."""
    if not most_bytes:
        return DocumentCache()
    return DocumentCache(MemoryDocuments(most_bytes) if broker_url is None else RedisDocuments(broker_url, most_bytes))
