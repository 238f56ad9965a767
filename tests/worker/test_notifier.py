"""Where a message goes."""

from __future__ import annotations

from msgspec.structs import replace
from redis import Redis

from proctor.domain.chunk import Chunk, ChunkState, Pool, Priority
from proctor.worker.celery_app import make_app
from proctor.worker.notifier import WorkerNotifier, queue_of
from redis_server import RedisServer


def test_what_a_lost_worker_had_does_not_wait_behind_what_was_announced_before(redis: RedisServer) -> None:
    chunk = Chunk(7, "1nfmcy1thxvv", 1, 0, 10, Pool.LOCAL, ChunkState.WAITING, Priority.LOW, fence=1, lost_leases=0)
    notifier = WorkerNotifier(make_app(redis.url))
    assert notifier.chunk(chunk)
    assert notifier.chunk(replace(chunk, lost_leases=1))
    with Redis.from_url(redis.url) as client:
        sent = {priority: client.llen(queue_of(Pool.LOCAL, priority)) for priority in Priority}
    assert sent == {Priority.LOW: 1, Priority.NORMAL: 0, Priority.HIGH: 1}
