"""What takes long is scored in another process: an answer's time is the model's alone."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.parts import EchoScorer, MemoryJournal, ScriptedModel, trials
from engine.slow_scorers import TIMEOUT_SECONDS, ObedientScorer, OverlapWithPid, WaitingScorer
from engine.test_loop import run
from fakes.folders import write_shadowing_modules
from proctor.domain.errors import ScorerError
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.trial import Answer
from proctor.engine.recording import SCORED_AT_ONCE, Recorder
from proctor.engine.slow_scoring import ScoringProcess

SAMPLE = Sample(id="1", input="?")


def scored(*texts: str) -> list[Score | Exception]:
    """What one process makes of these answers, one after the other."""

    async def scenario() -> list[Score | Exception]:
        process = ScoringProcess()
        found: list[Score | Exception] = []
        try:
            for text in texts:
                try:
                    found.append(await asyncio.wait_for(process.score(ObedientScorer(), SAMPLE, Response(text)), 60))
                except (ScorerError, ZeroDivisionError) as error:
                    found.append(error)
        finally:
            await process.close()
            await process.close()
        return found

    return asyncio.run(scenario())


def test_nothing_is_imported_from_the_folder_that_a_run_is_started_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = write_shadowing_modules(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    [found] = scored("anything")
    assert isinstance(found, Score)
    assert not imported.exists()


def test_a_slow_scorer_does_not_keep_the_next_question_from_being_asked(tmp_path: Path) -> None:
    file = tmp_path / "asked"

    def act(text: str, _: int) -> Response:
        if text == "q1":
            file.touch()  # only while the scorer waits for it: in the same thread it would wait in vain
        return Response(text)

    class OneByOne(ScriptedModel):
        async def respond(self, prompt, options, *, timeout_seconds):  # type: ignore[no-untyped-def]
            if prompt.messages[-1].text == "q1":
                while not journal.answers:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.2)  # the first answer is being scored
            return await super().respond(prompt, options, timeout_seconds=timeout_seconds)

    journal = MemoryJournal()
    run(OneByOne(act), trials(2), journal, scorers=[WaitingScorer(file)])
    assert [result.scores[0].value for result in journal.results] == [1.0, 1.0]


def test_one_process_scores_all_answers_and_is_not_this_one() -> None:
    first, second = scored("a", "b")
    assert isinstance(first, Score)
    assert isinstance(second, Score)
    assert first.details["pid"] == second.details["pid"] != os.getpid()


def test_a_quick_answer_is_scored_in_this_process() -> None:
    journal = MemoryJournal()
    run(ScriptedModel(lambda text, _: Response("quick")), trials(1), journal, scorers=[ObedientScorer()])
    assert journal.results[0].scores[0].details["pid"] == os.getpid()


def test_a_text_scorer_reads_a_long_answer_in_another_process() -> None:
    journal = MemoryJournal()
    source = (replace(trial, sample=replace(trial.sample, target="word")) for trial in trials(2))
    said = {"q0": "a word", "q1": "word " * 10_000}
    run(ScriptedModel(lambda text, _: Response(said[text])), source, journal, scorers=[OverlapWithPid()])
    pids = {result.answer.trial.sample.id: result.scores[0].details["pid"] for result in journal.results}
    assert pids["q0"] == os.getpid()
    assert pids["q1"] != os.getpid()


def test_the_process_that_reads_answers_sees_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    [score] = scored("a")
    assert isinstance(score, Score)
    assert score.details["sees_key"] is False


def test_what_a_slow_scorer_raises_is_raised_here() -> None:
    fault, bug, score = scored("raise", "break", "print")
    assert isinstance(fault, ScorerError)
    assert str(fault) == "cannot be scored"
    assert isinstance(bug, ZeroDivisionError)
    assert isinstance(score, Score)


def test_a_process_that_dies_of_an_answer_is_replaced() -> None:
    fault, score = scored("die", "a")
    assert isinstance(fault, ScorerError)
    assert isinstance(score, Score)


def test_an_answer_that_hangs_its_scorer_does_not_hold_up_the_others(tmp_path: Path) -> None:
    async def scenario() -> bool:
        process = ScoringProcess(most_seconds=0.2)
        try:
            with pytest.raises(ScorerError, match=r"scoring took longer than 0\.2 s"):
                await process.score(WaitingScorer(tmp_path / "never"), SAMPLE, Response(""))
            return process.pid is None
        finally:
            await process.close()

    assert asyncio.run(scenario()), "the process that hangs is ended"


SCORING = """
import asyncio, sys
from pathlib import Path
from engine.slow_scorers import PidScorer
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.engine.slow_scoring import ScoringProcess

asyncio.run(ScoringProcess().score(PidScorer(Path(sys.argv[1])), Sample(id="1", input="?"), Response("")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_process_that_scores_does_not_outlive_the_one_it_scores_for(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen([sys.executable, "-c", SCORING, str(file)], env=environment) as process:
        while not file.exists():
            assert process.poll() is None
            time.sleep(0.02)
        worker = os.pidfd_open(int(file.read_text()))
        process.kill()
    try:
        assert select.select([worker], [], [], TIMEOUT_SECONDS)[0], "it still scores for nobody"
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(worker, signal.SIGKILL)
        os.close(worker)


def test_a_scoring_that_is_given_up_does_not_answer_for_the_next(tmp_path: Path) -> None:
    async def scenario() -> Score:
        process = ScoringProcess()
        try:
            first = asyncio.create_task(process.score(WaitingScorer(tmp_path / "never"), SAMPLE, Response("")))
            await asyncio.sleep(0.1)
            first.cancel()
            await asyncio.wait([first])
            return await asyncio.wait_for(process.score(ObedientScorer(), SAMPLE, Response("a")), 60)
        finally:
            await process.close()

    assert asyncio.run(scenario()).name == "obedient"


def test_a_batch_of_answers_is_scored_a_few_at_a_time() -> None:
    happened: list[str] = []

    class NotingScorer(EchoScorer):
        async def score(self, sample: Sample, response: Response) -> Score:
            happened.append("s")
            return await super().score(sample, response)

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        is_over = False

        def tick() -> None:
            happened.append(".")
            if not is_over:
                loop.call_soon(tick)

        async with Recorder(MemoryJournal(), {1: [NotingScorer()]}, lambda _: None) as recorder:
            tick()
            for trial in trials(200):
                await recorder.answered(Answer(trial, Response("x")))
        is_over = True

    asyncio.run(scenario())
    runs = [len(part) for part in "".join(happened).split(".") if part]
    assert sum(runs) == 200
    assert max(runs) <= SCORED_AT_ONCE
