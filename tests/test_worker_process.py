"""A worker process answers one question at a time, within its limits, and leaves nothing behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fakes.folders import write_shadowing_modules
from proctor.worker_process import WorkerDiedError, WorkerNotStartedError, WorkerProcess, WorkerTooSlowError

WORKER = "fakes.obedient_worker"
TIMEOUT_SECONDS = 60


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    made = WorkerProcess(WORKER, {"PATH": os.environ["PATH"]})
    yield made
    made.close()
    made.close()
    assert made.pid is None


def ask(worker: WorkerProcess, question: bytes, cpu_seconds: float = 30.0, wall_seconds: float = 60.0) -> bytes:
    return worker.ask(question, cpu_seconds, wall_seconds)


def test_one_process_answers_all_questions_and_what_it_prints_is_no_answer(worker: WorkerProcess) -> None:
    assert worker.pid is None
    assert ask(worker, b"pid") == b"%d" % (worker.pid or 0)
    assert ask(worker, b"print") == b"printed"
    assert ask(worker, b"pid") == b"%d" % (worker.pid or 0)


@pytest.mark.parametrize("size", [0, 1, 65_535, 3_000_000])
def test_questions_and_answers_of_any_size_arrive_whole(worker: WorkerProcess, size: int) -> None:
    assert ask(worker, b"echo" + b"x" * size) == b"x" * size


def test_computing_too_long_is_told_apart_from_waiting_and_from_dying(worker: WorkerProcess) -> None:
    with pytest.raises(WorkerTooSlowError, match=r"more than 0\.3 s of processor time"):
        ask(worker, b"compute", cpu_seconds=0.3)
    with pytest.raises(WorkerTooSlowError, match=r"more than 0\.3 s$"):
        ask(worker, b"wait", wall_seconds=0.3)
    with pytest.raises(WorkerDiedError):
        ask(worker, b"die")
    assert ask(worker, b"echo!") == b"!"


def test_processor_time_is_counted_for_each_question_by_itself(worker: WorkerProcess) -> None:
    for _ in range(4):
        assert ask(worker, b"work 0.2", cpu_seconds=0.6) == b"worked"


def test_what_goes_on_can_be_ended_from_another_thread(worker: WorkerProcess) -> None:
    faults: list[Exception] = []

    def wait() -> None:
        try:
            ask(worker, b"wait")
        except WorkerDiedError as error:
            faults.append(error)

    ask(worker, b"echo")
    waiting = threading.Thread(target=wait)
    waiting.start()
    while waiting.is_alive():
        worker.kill()
        waiting.join(0.05)
    assert len(faults) == 1
    assert ask(worker, b"echo!") == b"!"


def test_a_module_that_cannot_be_imported_is_told() -> None:
    with pytest.raises(WorkerNotStartedError):
        ask(WorkerProcess("fakes.no_such_worker", {}, is_folderless=True), b"")


def test_it_sees_the_environment_it_is_given_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    worker = WorkerProcess(WORKER, {"GIVEN": "1", "LC_ALL": "C.UTF-8"})
    try:
        assert ask(worker, b"environment") == b"GIVEN LC_ALL"
    finally:
        worker.close()


def test_nothing_is_imported_from_the_folder_it_is_started_in(
    worker: WorkerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = write_shadowing_modules(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    assert ask(worker, b"echo!") == b"!"
    assert not imported.exists()


PARENT = f"""
import sys
from proctor.worker_process import WorkerProcess
worker = WorkerProcess({WORKER!r}, {{}})
print(worker.ask(b"pid", 60, 60).decode(), flush=True)
worker.ask(b"compute" if sys.argv[1] == "computing" else b"wait", 600, 600)
"""


@pytest.mark.parametrize("doing", ["computing", "waiting"])
def test_it_does_not_outlive_the_process_that_started_it(doing: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", PARENT, doing]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        worker = os.pidfd_open(int(process.stdout.readline()))
        time.sleep(0.2)  # it has begun, or else it finds nobody there: both must end it
        process.kill()
    try:
        assert select.select([worker], [], [], TIMEOUT_SECONDS)[0], "it still works for nobody"
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(worker, signal.SIGKILL)
        os.close(worker)


def test_an_interrupted_question_leaves_no_answer_for_the_next_one(worker: WorkerProcess) -> None:
    ask(worker, b"echo")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored where tests are run
    timer = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            ask(worker, b"wait", wall_seconds=TIMEOUT_SECONDS)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert ask(worker, b"echo!") == b"!"
