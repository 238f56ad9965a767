"""Documents that are kept: the same as computed ones, gone with the first change, bounded, shared and counted."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import redis_server
from proctor import plugins
from proctor.server.document_cache import DocumentCache, KeptDocuments, MemoryDocuments, RedisDocuments
from redis_server import RedisServer
from server.serving import Server, serving
from server.test_own_benchmarks import FILE, ROWS, form
from stores.parts import new_database

V1 = "/api/v1"
PLAN: dict[str, Any] = {"models": ["demo/weak", "demo/strong"], "benchmarks": [{"benchmark": "puzzles", "limit": 8}]}
PATHS = ("leaderboard", "leaderboard?ranks=separate&model=demo/weak", "benchmarks", "benchmarks?form=short",
         "known-models?text=gpt&limit=5")  # fmt: skip


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    if redis_server.PROGRAM is None:
        pytest.skip("there is no redis-server here: apt-get install redis-server")
    server = RedisServer()
    yield server
    server.close()


def counts(server: Server) -> dict[tuple[str, str], int]:
    text = server.ask("GET", "/metrics").body.decode()
    found = re.findall(
        r'^proctor_server_document_cache_total\{kind="([^"]+)",result="(\w+)"\} (\d+)', text, re.MULTILINE
    )
    return {(kind, result): int(count) for kind, result, count in found}


def test_what_is_kept_is_what_would_be_computed_and_goes_with_the_first_change(tmp_path: Path) -> None:
    """Two servers on one file, one of which keeps nothing."""
    home = tmp_path / "home"
    with serving(home, tmp_path) as keeping, serving(home, tmp_path, PROCTOR_CACHE_MB="0") as computing:

        def same() -> list[bytes]:
            found = []
            for path in PATHS:
                answers = [one.ask("GET", f"{V1}/{path}") for one in (keeping, keeping, computing)]
                assert len({(one.status, one.body, one.headers.get("etag")) for one in answers}) == 1, path
                found.append(answers[0].body)
            return found

        first = keeping.run({**PLAN, "seed": 1})
        seen = [same()]
        assert counts(keeping)["leaderboard", "hit"] == 2
        assert counts(keeping)["known-models", "hit"] == 1
        assert counts(computing) == {}
        second = computing.run({**PLAN, "seed": 2})  # the other server's doing, which nobody tells this one of
        seen.append(same())
        for arguments in (("rescore", first, "--scorer", "exact"), ("rescore", first, "--use", "puzzle"),
                          ("delete", second, "--yes")):  # fmt: skip
            code, _, err = keeping.cli(*arguments)
            assert code == 0, err
            seen.append(same())
        body, headers = form(
            {"towns.yaml": FILE.format(version="1", source="data/towns.jsonl"), "data/towns.jsonl": ROWS}
        )
        made = computing.ask("POST", f"{V1}/own-benchmarks", body, **headers)
        assert made.status == 201, made.body
        seen.append(same())
        leaderboards = [found[0] for found in seen[:5]]
        assert leaderboards[1] != leaderboards[0] != leaderboards[2]
        assert b"towns" in seen[-1][2]
        assert b"towns" not in seen[0][2]


@pytest.mark.parametrize("kind", ["memory", "redis"])
def test_there_is_room_for_so_much_and_what_is_used_least_goes(kind: str, redis: RedisServer) -> None:
    def opened() -> KeptDocuments:
        return MemoryDocuments(1_000) if kind == "memory" else RedisDocuments(redis.url, 1_000)

    kept = opened()
    for name in "abcd":
        kept.put(name, name.encode() * 250)
    assert kept.get("a") == b"a" * 250
    kept.put("e", b"e" * 200)
    kept.put("f", b"f" * 251)
    assert {name: kept.get(name) is not None for name in "abcdef"} == {
        "a": True, "b": False, "c": True, "d": True, "e": True, "f": False,
    }  # fmt: skip
    kept.put("e", b"E" * 250)
    assert kept.get("e") == b"E" * 250
    assert kept.get("c") == b"c" * 250
    other = opened()
    assert (other.get("a") is not None) == (kind == "redis"), "processes share what Redis keeps"


def test_what_was_computed_without_a_package_is_not_found_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis outlives the servers: a package that was installed meanwhile has benchmarks, models and metrics."""
    cache, database = DocumentCache(MemoryDocuments(1_000)), new_database(tmp_path)

    def names() -> bytes:
        return cache.document("benchmarks", database, {}, lambda: "same", lambda: plugins.names("benchmarks"))

    before = names()
    entry = EntryPoint("benchmarks.ours", "ours:create", plugins.GROUP)
    added = {"benchmarks": {"ours": plugins.Plugin("benchmarks", "ours", "ours 1", entry)}}
    monkeypatch.setattr(plugins, "_installed", lambda: added)
    assert b"ours" not in before
    assert b"ours" in names()
    database.dispose()


def test_while_redis_is_away_everything_is_computed(redis: RedisServer) -> None:
    kept = RedisDocuments(redis.url, 1_000)
    kept.put("a", b"a")
    redis.end()
    try:
        assert kept.get("a") is None
        kept.put("b", b"b")
    finally:
        redis.start()
    kept.put("b", b"b")
    assert kept.get("b") == b"b"


@pytest.mark.parametrize("room", [10**6, 10], ids=["kept", "too large to be kept"])
def test_who_asks_while_a_document_is_computed_waits_for_it_and_computes_nothing(tmp_path: Path, room: int) -> None:
    database, cache = new_database(tmp_path), DocumentCache(MemoryDocuments(room))
    computed, begun, may_end = [], Event(), Event()

    def compute() -> dict[str, int]:
        computed.append(1)
        begun.set()
        assert may_end.wait(60)
        return {"n": len(computed)}

    def ask(_: int) -> bytes:
        return cache.document("kind", database, ["asked"], lambda: "state", compute)

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(ask, 0)
        assert begun.wait(60)
        others = [pool.submit(ask, number) for number in range(7)]
        while sum(turn.waiting for turn in cache._computing.values()) < 8:
            time.sleep(0.01)
        may_end.set()
        assert {one.result() for one in (first, *others)} == {b'{"n":1}'}
    assert cache._computing == {}, "nothing of those who waited is kept"
    database.dispose()
