"""Asks keep to how fast a model may be asked, together with whoever else asks it through the same Redis."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fakes.provider import FakeProvider
from proctor.runs.playground.asking import prepare_ask, read_models
from proctor.runs.playground.live import Playground
from proctor.runs.playground.request import TextRequest
from proctor.runs.resolve import PlanContext
from proctor.stores.database import Database
from proctor.stores.playground import PlaygroundStore
from proctor.worker.redis_limits import RedisLimits
from redis_server import RedisServer

pytestmark = pytest.mark.sqlite
ASKS, A_MINUTE = 12, 120


def asked_within(database: Database, tmp_path: Path, names: list[str], redis: RedisServer | None) -> float:
    """Seconds from the first to the last of the requests that two processes' worth of asks send."""
    with FakeProvider() as provider:

        async def ask_all() -> None:
            limits = [None if redis is None else RedisLimits(redis.url) for _ in range(2)]
            places = [Playground(limit) for limit in limits]
            for limit in limits:
                if limit is not None:
                    await limit.start()
            for place in range(ASKS):
                model = f"openai/m?base_url={provider.url}/v1&{names[place % len(names)]}"
                request = TextRequest(models=[model], prompt=f"{place}?")
                context = PlanContext(tmp_path, {"OPENAI_API_KEY": "sk-test"})
                prepared = prepare_ask(request, read_models(request), context, is_operator=True)
                ask_id, _ = prepared.write(database, "ann")
                places[place % 2].begin(ask_id, prepared, database, is_offline=False)
            while any(not one.has_room_for(240) for one in places):
                await asyncio.sleep(0.05)
            for one in places:
                await one.close()
            for limit in limits:
                if limit is not None:
                    await limit.close()

        asyncio.run(asyncio.wait_for(ask_all(), 120))
        assert len(provider.arrivals) == ASKS
        return provider.arrivals[-1] - provider.arrivals[0]


def test_two_servers_ask_a_model_no_faster_together_than_it_allows(
    database: Database, tmp_path: Path, redis: RedisServer
) -> None:
    # Ten of the twelve have to wait half a second each; on a busy machine it takes longer, never shorter.
    assert asked_within(database, tmp_path, [f"rpm={A_MINUTE}"], redis) >= 4.0


def test_one_server_keeps_to_what_a_model_allows_without_redis(database: Database, tmp_path: Path) -> None:
    # Each of the two knows of its own six only: four of them wait.
    assert asked_within(database, tmp_path, [f"rpm={A_MINUTE}"], None) >= 1.5


def test_what_one_says_of_a_models_speed_slows_down_nobody_who_says_otherwise(
    database: Database, tmp_path: Path
) -> None:
    with FakeProvider() as provider:

        async def ask() -> tuple[dict[str, str], dict[str, str]]:
            place, asks = Playground(), []
            for said in ("rpm=0.001", "rpm=0.001", "rpm=6000"):
                model = f"openai/m?base_url={provider.url}/v1&{said}"
                request = TextRequest(models=[model], prompt="?", timeout_seconds=2)
                context = PlanContext(tmp_path, {"OPENAI_API_KEY": "sk-test"})
                prepared = prepare_ask(request, read_models(request), context, is_operator=True)
                ask_id, _ = prepared.write(database, "ann")
                asks.append(place.begin(ask_id, prepared, database, is_offline=False))
            for one in asks:
                await one.done.wait()
            await place.close()
            found = [PlaygroundStore(database).get(one.id).answers[0] for one in asks]
            return {str(i): one.state for i, one in enumerate(found)}, found[1].details

        states, details = asyncio.run(asyncio.wait_for(ask(), 60))
        assert states == {"0": "complete", "1": "failed", "2": "complete"}
        assert "left no turn within 2 seconds" in details["error"], "nobody waits for ever, and takes room of others"
        assert len(provider.arrivals) == 2


def test_a_model_without_a_limit_is_asked_although_redis_is_gone(database: Database, tmp_path: Path) -> None:
    class Gone:
        url = "redis://127.0.0.1:1/0"

    assert asked_within(database, tmp_path, ["stream=true"], Gone()) >= 0  # type: ignore[arg-type]
