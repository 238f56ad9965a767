"""What workers without a broker do now and then goes on, whatever becomes of one of these tasks."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fakes.loopback import Exchange, Loopback
from proctor.accounts.projects import add_project
from proctor.accounts.provider_keys import ProjectKeys, set_provider_key
from proctor.domain.scope import Scope
from proctor.runs.chunks.worker_context import WorkerContext
from proctor.runs.models import search_models
from proctor.runs.resolve import PlanContext
from proctor.stores.database import open_database
from proctor.stores.model_lists import ModelListStore
from proctor.worker import polling
from proctor.worker.housekeeping import KEPT_DAYS, prune, refresh_catalogue
from proctor.worker.schedule import HasStores, PolledTask

pytestmark = pytest.mark.sqlite


def test_a_mistake_in_one_task_ends_neither_it_nor_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []

    async def broken(_: HasStores) -> object:
        done.append("broken")
        raise KeyError("a mistake of ours")

    async def sound(_: HasStores) -> object:
        done.append("sound")
        return None

    tasks = {"broken_task": PolledTask(broken, 0.0), "sound_task": PolledTask(sound, 0.0)}
    monkeypatch.setattr(polling, "POLLED", tasks)
    monkeypatch.setattr(polling, "HOUSEKEEPING_SECONDS", 0.01)

    async def until_done() -> None:
        database = open_database(f"sqlite:///{tmp_path / 'proctor.db'}")
        stop = asyncio.Event()
        working = asyncio.create_task(polling.work(WorkerContext(database, PlanContext(tmp_path, {})), stop))
        async with asyncio.timeout(60):
            while min(done.count("broken"), done.count("sound")) < 3:
                await asyncio.sleep(0.01)
        stop.set()
        await working
        database.dispose()

    asyncio.run(until_done())
    assert "broken task failed" in caplog.text
    assert "a mistake of ours" in caplog.text


def test_the_catalogue_is_refreshed_with_every_key_and_each_project_sees_its_own(tmp_path: Path) -> None:
    """One list for the workers' own environment, whose keys no local server is sent, and one for a project."""
    asked: list[tuple[str, str]] = []

    async def answer(exchange: Exchange) -> None:
        key = exchange.request.headers.get("authorization", "").removeprefix("Bearer ")
        asked.append((exchange.request.path, key))
        await exchange.reply_json(200, {"data": [{"id": f"seen-with-{key}"}, {"id": "gpt-in-both"}]})

    database = open_database(f"sqlite:///{tmp_path / 'proctor.db'}")
    with Loopback(answer) as provider:
        environment = {
            "OPENAI_API_KEY": "servers",
            "OPENAI_BASE_URL": f"{provider.url}/v1",
            "PROCTOR_SECRET": "kX3vQ9ZtR7yLw2NfB8sHd5JmUcGaPe4T",
        }
        context = PlanContext(
            tmp_path,
            environment,
            lists=ModelListStore(database),
            project_keys=ProjectKeys(database, environment),
            home=tmp_path,
        )
        for name in ("acme", "other"):
            add_project(database, name, by="test")
        mine, url = database.within(Scope("acme")), f"{provider.url}/v2"
        set_provider_key(mine, environment, "openai", "acmes", base_url=url, is_operator=True, by="ann")
        assert asyncio.run(refresh_catalogue(database, context)) == ["openai", "openai of project acme"]
        assert asked == [("/v1/models", ""), ("/v2/models", "acmes")]
        assert asyncio.run(refresh_catalogue(database, context)), "on its day, whatever the age of what is there"
        assert len(asked) == 4
    seen = {name: search_models("openai/ seen-with", context.of_project(name), 9) for name in ("acme", "other")}
    names = {name: sorted(one.model for one in found) for name, found in seen.items()}
    assert names == {
        "acme": ["openai/seen-with-", "openai/seen-with-acmes"],
        "other": ["openai/seen-with-"],
    }
    with database.connection() as connection:
        connection.execute("UPDATE model_lists SET fetched_at = fetched_at - ?", [(KEPT_DAYS + 1) * 86_400])
    assert asyncio.run(prune(database, context)) == 2
    assert search_models("seen-with", context, 9) == []
    database.dispose()
