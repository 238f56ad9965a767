"""Runs that are executed from Python: prepared first, watched by functions, awaited, interrupted, resumed."""

from __future__ import annotations

import asyncio
import threading

import pytest

import proctor
from fakes.dialect import Ask, Reply
from fakes.faults import Faults
from fakes.provider import FakeProvider
from proctor.domain.errors import PlanError
from proctor.domain.event import ResultsRecorded
from proctor.domain.run import RunStatus
from proctor.library.listening import KINDS

pytestmark = pytest.mark.usefixtures("home")


def test_a_prepared_run_is_kept_and_asks_nothing(provider: FakeProvider, asked_model: str) -> None:
    run = proctor.prepare("puzzles", models=asked_model, limit=3)
    assert run.status is RunStatus.QUEUED
    assert provider.requests == []
    assert proctor.open_run().id == run.id
    assert run.execute() is run
    assert run.status is RunStatus.COMPLETED


def test_listeners_hear_of_every_result_in_order() -> None:
    run = proctor.prepare("puzzles", models=["demo/strong", "demo/weak"], limit=50)
    heard: list[tuple[str, int]] = []
    threads: set[int] = set()

    def first(event: ResultsRecorded) -> None:
        threads.add(threading.get_ident())
        heard.extend(("first", result.answer.response_id or 0) for result in event.results)

    def second(event: ResultsRecorded) -> None:
        heard.extend(("second", result.answer.response_id or 0) for result in event.results)

    run.subscribe("results_recorded", first)
    run.subscribe("results_recorded", second)
    run.execute()
    told = {who: [number for name, number in heard if name == who] for who in ("first", "second")}
    assert told["first"] == told["second"]
    assert len(set(told["first"])) == 100
    assert heard.index(("first", told["first"][0])) < heard.index(("second", told["second"][0]))
    assert threading.get_ident() not in threads


@pytest.mark.parametrize(
    "failure", [ValueError("broken"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()]
)
def test_a_listener_that_fails_hurts_neither_the_run_nor_the_others(
    failure: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    run = proctor.prepare("puzzles", models="demo/strong", limit=50)
    calls: list[str] = []

    def fails(_: object) -> None:
        calls.append("fails")
        raise failure

    run.subscribe("results_recorded", fails)
    run.subscribe("results_recorded", lambda event: calls.extend("works" for _ in event.results))
    assert run.execute().status is RunStatus.COMPLETED
    assert calls.count("fails") == 1
    assert calls.count("works") == 50
    assert "a listener failed and is not called again" in caplog.text


def test_a_listener_that_waits_does_not_hold_the_run_up() -> None:
    """It waits for the run to be completed: were the run to wait for it, neither would ever end."""
    run = proctor.prepare("puzzles", models="demo/strong", limit=20)
    seen: list[RunStatus] = []

    def waits(_: ResultsRecorded) -> None:
        while not seen:
            status = proctor.open_run(run.id).status
            if status is RunStatus.COMPLETED:
                seen.append(status)

    run.subscribe("results_recorded", waits)
    run.execute()
    assert seen == [RunStatus.COMPLETED]


def test_faults_are_told_too() -> None:
    heard: list[str] = []
    with FakeProvider(faults=Faults(script=("503", "ok"))) as provider:
        run = proctor.prepare("puzzles", models=f"openai/x?base_url={provider.url}/v1", limit=4)
        run.subscribe("fault_seen", lambda event: heard.append(event.message))
        run.execute()
    assert any("503" in message for message in heard)


def test_mistakes_in_subscribing_are_said() -> None:
    run = proctor.prepare("puzzles", models="demo/strong", limit=2)

    async def asynchronous(_: object) -> None:
        """Nobody would await it."""

    with pytest.raises(PlanError, match=r"There is no event 'results_recorde'\. Did you mean 'results_recorded'"):
        run.subscribe("results_recorde", print)
    with pytest.raises(PlanError, match="takes a plain function"):
        run.subscribe("fault_seen", asynchronous)
    run.execute()
    with pytest.raises(PlanError, match="is completed: subscribe between prepare"):
        run.subscribe("fault_seen", print)


def test_every_event_has_a_name() -> None:
    assert "model_given_up" in KINDS
    assert len(KINDS) == len(set(KINDS.values())) == 8


def test_awaiting_leaves_the_callers_event_loop_free(provider: FakeProvider, asked_model: str) -> None:
    async def program() -> tuple[proctor.Run, int]:
        beats = 0
        task = asyncio.create_task(proctor.evaluate_async("puzzles", models=asked_model, limit=5))
        while not task.done():
            beats += 1
            await asyncio.sleep(0)
        return task.result(), beats

    run, beats = asyncio.run(program())
    assert run.status is RunStatus.COMPLETED
    assert beats > 2
    assert provider.stats()["asked"] == 5


def test_several_runs_are_awaited_together() -> None:
    async def program() -> list[proctor.Run]:
        names = ("strong", "weak")
        return await asyncio.gather(
            *(proctor.evaluate_async("puzzles", models=f"demo/{name}", limit=5) for name in names)
        )

    assert [run.status for run in asyncio.run(program())] == [RunStatus.COMPLETED] * 2


def test_a_cancelled_run_keeps_what_is_answered_and_can_be_finished(provider: FakeProvider, asked_model: str) -> None:
    permits = threading.Semaphore(2)

    def reply(ask: Ask) -> Reply:
        permits.acquire()
        return Reply(ask.text)

    async def program() -> None:
        run = await asyncio.to_thread(proctor.prepare, "puzzles", models=asked_model, limit=30, concurrency=1)
        loop, first = asyncio.get_running_loop(), asyncio.Event()
        run.subscribe("results_recorded", lambda _: loop.call_soon_threadsafe(first.set))
        task = asyncio.create_task(run.execute_async())
        await first.wait()
        task.cancel()
        await asyncio.sleep(0)  # the stop is on its way before the answer is
        permits.release(100)
        with pytest.raises(asyncio.CancelledError):
            await task

    provider.reply = reply
    asyncio.run(program())
    run = proctor.open_run()
    assert (run.status, run.error) == (RunStatus.CANCELLED, "interrupted")
    assert 0 < len(list(run.results())) < 30
    assert run.execute().status is RunStatus.COMPLETED
    assert len(list(run.results())) == 30
    assert provider.stats()["asked"] == 30
