"""Counts that all processes of a server share, in a real Redis, and those of one process."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import redis_server
from proctor.accounts.counters import Counters, MemoryCounters, RedisCounters
from proctor.accounts.guessing import OF_NAME, GuessLimit
from proctor.domain.errors import LimitReachedError, TooManyTriesError
from proctor.server.request_limit import CallerLimit
from redis_server import RedisServer

pytestmark = pytest.mark.sqlite


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    if redis_server.PROGRAM is None:
        pytest.skip("there is no redis-server here: apt-get install redis-server")
    server = RedisServer()
    yield server
    server.close()


@pytest.fixture(params=["memory", "redis"])
def pair(request: pytest.FixtureRequest) -> tuple[Counters, Counters]:
    """What two processes count with: in memory there is one process."""
    if request.param == "memory":
        found = MemoryCounters()
        return found, found
    url = request.getfixturevalue("redis").url
    return RedisCounters(url), RedisCounters(url)


def test_many_at_once_are_counted_exactly(pair: tuple[Counters, Counters]) -> None:
    limits = [CallerLimit(counters, 100, lambda: 30.0) for counters in pair]

    def take(number: int) -> int:
        try:
            return limits[number % 2].take("key exact").left
        except LimitReachedError:
            return -1

    with ThreadPoolExecutor(16) as pool:
        left = sorted(pool.map(take, range(240)))
    assert left == [-1] * 140 + list(range(100))


def test_a_minute_later_there_are_as_many_again(pair: tuple[Counters, Counters]) -> None:
    now = [100.0]
    first, second = (CallerLimit(counters, 2, lambda: now[0]) for counters in pair)
    assert first.take("user later").headers() == {
        "RateLimit-Policy": '"requests";q=2;w=60', "RateLimit": '"requests";r=1;t=20',
    }  # fmt: skip
    assert second.take("user later").left == 0
    with pytest.raises(LimitReachedError, match="More than 2 requests of one user in a minute: go on in 20 seconds"):
        first.take("user later")
    assert first.take("user another").left == 1
    now[0] = 120.0
    assert second.take("user later").left == 1


def test_who_guesses_is_stopped_by_whichever_process_and_nobody_else_is(pair: tuple[Counters, Counters]) -> None:
    first, second = (GuessLimit(counters) for counters in pair)
    for _ in range(OF_NAME):
        first.check("ada", "192.0.2.7")
        first.failed("ada", "192.0.2.7")
    with pytest.raises(TooManyTriesError):
        second.check("ada", "192.0.2.7")
    second.check("ada", "192.0.2.8")  # she herself, from where she is
    second.check("bob", "192.0.2.7")
    second.succeeded("ada", "192.0.2.7")
    first.check("ada", "192.0.2.7")


def test_while_redis_is_away_each_process_counts_for_itself(redis: RedisServer) -> None:
    limit = CallerLimit(RedisCounters(redis.url), 1, lambda: 200.0)
    guesses = GuessLimit(RedisCounters(redis.url))
    redis.end()
    try:
        assert limit.take("key away").left == 0
        with pytest.raises(LimitReachedError):
            limit.take("key away")
        for _ in range(OF_NAME):
            guesses.failed("ada", "192.0.2.9")
        with pytest.raises(TooManyTriesError):
            guesses.check("ada", "192.0.2.9")
    finally:
        redis.start()


def test_redis_keeps_neither_names_nor_addresses(redis: RedisServer) -> None:
    GuessLimit(RedisCounters(redis.url)).failed("marked-name-4471", "198.51.100.44")
    kept = b"".join(path.read_bytes() for path in redis.folder.rglob("*") if path.is_file())
    assert b"proctor:counts:" in kept
    assert b"marked-name-4471" not in kept
    assert b"198.51.100.44" not in kept
