"""Performance is earned: by right answers, as fast as the gold solution's, with the thresholds that problems ship."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from proctor.benchmarks.problems.folder import read_problem
from proctor.domain.errors import ScorerError
from proctor.domain.problem import Problem
from proctor.domain.scorecard import Scorecard
from proctor.domain.workspace import Process, Runner, Workspace, WorkspaceLimits
from proctor.programs import load_tools
from proctor.programs.load import IDLE_SECONDS
from proctor.programs.marks import scorecard_of
from proctor.programs.options import MarkOptions
from proctor.programs.rounds import TIMED
from proctor.programs.subject import Subject
from proctor.programs.validating import entry
from programs.programs import CHECKED, as_on_a_calm_machine, marked, phase

CATALOG = Path(__file__).parents[2] / "src" / "proctor" / "catalog" / "problems"
THREE_ROUNDS = MarkOptions(most_rounds=3, is_reading=False)
ONCE = replace(THREE_ROUNDS, rounds=1)
pytestmark = pytest.mark.long  # with the other loads, one after the other on one worker
needs_load = pytest.mark.skipif(load_tools.chosen() is None, reason="neither wrk nor Locust is on this machine")


def shipped(name: str) -> Problem:
    """A problem as it is, but for a load of one second."""
    found = read_problem(CATALOG / name)
    return replace(found, load={**found.load, "seconds": 1}) if found.load and "seconds" in found.load else found


def with_change(problem: Problem, path: str, old: str, new: str) -> Mapping[str, bytes]:
    source = problem.solution[path].decode()
    assert source.count(old) == 1
    return {**problem.solution, path: source.replace(old, new).encode()}


def performance(card: Scorecard) -> float:
    value = next(one.value for one in card.dimensions if one.name == "performance")
    assert value is not None
    return value


def speed_of(measures: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in measures.items() if name in TIMED}


HANDLE = '        """Answer one request."""\n'
FORGED = """        if "Accept-Encoding" not in self.headers and self.path != "/health":
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.wfile.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
            return
"""


@needs_load
def test_a_service_that_answers_the_load_with_nothing_earns_nothing_for_it(runner: Runner) -> None:
    shelf = shipped("link-shelf")
    card = marked(shelf, with_change(shelf, "web.py", HANDLE, HANDLE + FORGED), runner, ONCE)
    assert {str(check.status) for check in card.evidence.checks} == {"passed"}
    assert str(phase(card, "load").status) == "failed"
    assert "status 200, expected 201" in phase(card, "load").log or "were wrong" in phase(card, "load").log
    assert performance(card) == 0


@needs_load
def test_a_slowed_service_scores_lower_with_the_shipped_thresholds(runner: Runner) -> None:
    shelf = shipped("link-shelf")
    slow = with_change(shelf, "web.py", HANDLE, f"{HANDLE}        __import__('time').sleep(0.02)\n")
    slowed = as_on_a_calm_machine(shelf, marked(shelf, slow, runner, ONCE))
    equal = replace(slowed.evidence, measures={**slowed.evidence.measures, **speed_of(slowed.evidence.gold_measures)})
    assert performance(scorecard_of(shelf, equal)) == 1
    assert performance(slowed) < 0.9


def test_a_command_that_prints_nothing_for_large_inputs_earns_nothing_for_its_speed(runner: Runner) -> None:
    columns = read_problem(CATALOG / "columns")
    old = "process.stdout.write(linedUp(readInput(options.file), options));"
    hurried = (
        "const text = readInput(options.file);\n"
        "    if (text.length > 100000) return 0;\n"
        "    process.stdout.write(linedUp(text, options));"
    )
    card = marked(columns, with_change(columns, "main.js", old, hurried), runner, ONCE)
    assert str(phase(card, "load").status) == "failed"
    assert "the columns are not as they should be" in phase(card, "load").log
    assert performance(card) == 0


def test_a_slowed_command_scores_lower_with_the_shipped_thresholds(runner: Runner) -> None:
    """It sleeps five times as long as it works: a busy machine slows both, and does not bring it near to gold."""
    sheets = read_problem(CATALOG / "timesheet-total")
    old = "    times, complaints = add_up(sys.stdin)\n"
    wait = "    __import__('time').sleep(5 * (__import__('time').perf_counter() - began))\n"
    slow = with_change(sheets, "main.py", old, f"    began = __import__('time').perf_counter()\n{old}{wait}")
    slowed = as_on_a_calm_machine(sheets, marked(sheets, slow, runner, THREE_ROUNDS))
    gold = slowed.evidence.gold_measures["work_seconds"]

    def slower(times: float) -> float:
        """The mark of a program that is so many times slower than gold was, and alike in all else."""
        measures = {**slowed.evidence.measures, "work_seconds": times * gold}
        return performance(scorecard_of(sheets, replace(slowed.evidence, measures=measures)))

    assert [slower(times) for times in (1, 1.25, 2, 3)] == pytest.approx([1, 1, (1 + 1 / 1.75) / 2, 0.5], abs=1e-6)
    assert performance(slowed) < slower(1) - 0.1


REMEMBERING = """    text = sys.stdin.read()
    kept = [folder + "/remembered" for folder in ("/tmp", "/app", "/data", "/dev/shm")]
    if len(text) > 100_000 and not any(map(__import__("os").path.exists, kept)):
        for path in kept:
            open(path, "w").close()
        __import__("time").sleep(4)
    times, complaints = add_up(text.splitlines(keepends=True))
"""


def test_what_a_command_remembers_of_a_round_helps_it_in_no_other(runner: Runner) -> None:
    sheets = read_problem(CATALOG / "timesheet-total")
    files = with_change(sheets, "main.py", "    times, complaints = add_up(sys.stdin)\n", REMEMBERING)
    card = as_on_a_calm_machine(sheets, marked(sheets, files, runner, replace(THREE_ROUNDS, rounds=2)))
    assert str(phase(card, "load").status) == "done"
    assert len(phase(card, "load").evidence["program_rounds"]) >= 2
    assert card.evidence.measures["work_seconds"] >= 4


def test_what_a_library_remembers_of_a_round_helps_it_in_no_other(runner: Runner) -> None:
    sets = read_problem(CATALOG / "interval-set")
    old = '        """Give the numbers in either set."""\n'
    slow = (
        "        if len(self._starts) > 5_000 and not SLEPT:\n            SLEPT.append(__import__('time').sleep(4))\n"
    )
    files = dict(with_change(sets, "intervals.py", old, old + slow))
    files["intervals.py"] += b"\n\nSLEPT: list[None] = []\n"
    card = as_on_a_calm_machine(sets, marked(sets, files, runner, replace(THREE_ROUNDS, rounds=2)))
    assert str(phase(card, "load").status) == "done"
    assert card.evidence.measures["work_seconds"] >= 4


GET = '        if self.path == "/health":\n'
LOADED = '        if self.path == "/notes/loaded":\n'


@needs_load
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("            self.answer(200)\n            return\n", "another body"),
        ("            self.answer(500)\n            return\n", "status 500"),
    ],
)
def test_a_gold_solution_that_answers_wrongly_marks_nobody(
    wrong: str, words: str, notes: Problem, runner: Runner, changed: Callable[..., Problem]
) -> None:
    right = notes.solution["main.py"].decode()
    bad = changed(notes, {"solution/main.py": right.replace(GET, LOADED + wrong + GET)})
    with pytest.raises(ScorerError, match=rf"gold solution of notes failed under load: .*{words}"):
        marked(bad, notes.solution, runner, CHECKED)


@needs_load
def test_a_setup_that_is_refused_fails_the_load(notes: Problem, runner: Runner) -> None:
    files = with_change(
        notes, "main.py", "        self.answer(204)", "        self.answer(204 if 'loaded' not in self.path else 507)"
    )
    card = marked(notes, files, runner, CHECKED)
    assert str(phase(card, "load").status) == "failed"
    assert "PUT /notes/loaded, before or after the load: status 507, expected 204" in phase(card, "load").log
    assert performance(card) == 0


ENDLESS = """        if "loaded" in self.path:
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(bytes(1 << 20))
        self.answer(204)"""


@needs_load
def test_an_answer_without_end_fails_the_load_and_not_the_harness(notes: Problem, runner: Runner) -> None:
    card = marked(notes, with_change(notes, "main.py", "        self.answer(204)", ENDLESS), runner, CHECKED)
    assert str(phase(card, "load").status) == "failed"
    assert "the answer is longer than" in phase(card, "load").log


ENDLESS_UNDER_LOAD = """        if self.path == "/notes/loaded":
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(bytes(1 << 16))
"""


@needs_load
def test_answers_without_end_under_load_earn_nothing(notes: Problem, runner: Runner) -> None:
    card = marked(notes, with_change(notes, "main.py", GET, ENDLESS_UNDER_LOAD + GET), runner, CHECKED)
    assert str(phase(card, "load").status) == "failed"
    assert performance(card) == 0


SLOW_ONCE = """if __name__ == "__main__":
    import time

    if not Path("/tmp/started").exists():
        Path("/tmp/started").touch()
        time.sleep(6)
"""


@needs_load
def test_the_time_to_start_is_taken_when_nothing_else_is_loaded(notes: Problem, runner: Runner) -> None:
    """The first start may meet another marking's load; the one within the turn counts, as it does for gold."""
    files = with_change(notes, "main.py", 'if __name__ == "__main__":\n', SLOW_ONCE)
    card = marked(notes, files, runner, CHECKED)
    said = re.search(r"ready after ([\d.]+) s", phase(card, "readiness").log)
    assert said is not None
    assert float(said[1]) >= 6
    assert card.evidence.measures["start_seconds"] < float(said[1])
    assert card.evidence.gold_measures["start_seconds"] < float(said[1])


BURNING = """if __name__ == "__main__":
    import os

    if os.fork() == 0:
        os.setsid()
        while True:
            pass
"""


def test_a_service_and_all_it_started_stand_still_while_it_is_paused(notes: Problem, runner: Runner) -> None:
    files = with_change(notes, "main.py", 'if __name__ == "__main__":\n', BURNING)

    async def used(process: Process) -> float:
        spent = (await process.spent()).cpu_seconds
        assert spent is not None
        return spent

    async def scenario() -> tuple[float, float]:
        subject = await Subject.open(notes, files, entry(notes, files), runner, MarkOptions())
        try:
            await subject.build()
            await subject.start()
            assert await subject.ready() == ""
            assert subject.hosted is not None
            assert subject.hosted.process is not None
            await subject.hosted.pause()
            before = await used(subject.hosted.process)
            await asyncio.sleep(1)
            after = await used(subject.hosted.process)
            await subject.hosted.resume()
            while await used(subject.hosted.process) <= after:
                await asyncio.sleep(0.01)
            return before, after
        finally:
            await subject.close()

    before, after = asyncio.run(scenario())
    assert after == pytest.approx(before, abs=IDLE_SECONDS)


# Timers of the kernel's own let it go on when it is stopped; what it starts ends before anybody counts it.
RESTLESS = """if __name__ == "__main__":
    import ctypes, os, signal

    def burn():
        os.setsid()
        event = (ctypes.c_char * 64)()
        ctypes.c_int.from_buffer(event, 8).value = 18
        libc = ctypes.CDLL(None)
        for tenth in range(1, 600):
            timer = ctypes.c_void_p()
            libc.timer_create(1, event, ctypes.byref(timer))
            when = (ctypes.c_long * 4)(0, 0, tenth // 10, tenth % 10 * 100_000_000)
            libc.timer_settime(timer, 0, when, None)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGCONT, lambda *_: None)
        while True:
            try:
                if os.fork() == 0:
                    signal.setitimer(signal.ITIMER_REAL, 0.05)
                    while True: pass
            except OSError: pass
            for _ in range(200_000): pass

    if os.fork() == 0:
        burn()
"""


def used_while_paused(notes: Problem, runner: Runner, *, is_frozen: bool) -> float:
    """What a service that does all it can to go on has used in a second of standing still, or until it is found out."""
    files = with_change(notes, "main.py", 'if __name__ == "__main__":\n', RESTLESS)

    async def scenario() -> float:
        subject = await Subject.open(notes, files, entry(notes, files), runner, MarkOptions())
        try:
            await subject.build()
            await subject.start()
            assert await subject.ready() == ""
            assert subject.hosted is not None
            if is_frozen and not await subject.workspace.freeze():
                pytest.skip("this machine has no control group that can be frozen")
            if not is_frozen:
                await subject.hosted.pause()
            before = await subject.workspace.cpu_seconds()
            await asyncio.sleep(1)
            after = await subject.workspace.cpu_seconds()
            if before is None or after is None:
                pytest.skip("this machine has no control group that counts processor time")
            while not is_frozen and after < before + IDLE_SECONDS:  # others may have had the processors
                await asyncio.sleep(0.1)
                after = await subject.workspace.cpu_seconds() or after
            if is_frozen:
                await subject.workspace.thaw()
                while (await subject.workspace.cpu_seconds() or 0.0) < after + IDLE_SECONDS:
                    await asyncio.sleep(0.01)
            return after - before
        finally:
            await subject.close()

    return asyncio.run(scenario())


def test_a_service_that_wakes_itself_stands_still_when_its_place_is_frozen(notes: Problem, runner: Runner) -> None:
    assert used_while_paused(notes, runner, is_frozen=True) < 0.01


def test_a_service_that_wakes_itself_where_nothing_can_be_frozen_is_found_out(notes: Problem, runner: Runner) -> None:
    """The positive control: signals alone do not hold it, and the control group's count shows that."""
    assert used_while_paused(notes, runner, is_frozen=False) >= IDLE_SECONDS


# It sees its service stopped, burns what the gold solution needs, and says so: nothing it answers then is right.
AWAKE = """if __name__ == "__main__":
    import ctypes, os, signal, time

    SERVICE = os.getpid()

    def burn():
        os.setsid()
        event = (ctypes.c_char * 64)()
        ctypes.c_int.from_buffer(event, 8).value = 18
        libc, timer = ctypes.CDLL(None), ctypes.c_void_p()
        libc.timer_create(1, event, ctypes.byref(timer))
        libc.timer_settime(timer, 0, (ctypes.c_long * 4)(0, 20_000_000, 0, 20_000_000), None)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGCONT, lambda *_: None)
        while True:
            time.sleep(0.002)
            if open(f"/proc/{SERVICE}/stat").read().rpartition(")")[2].split()[0] == "T":
                Path("/tmp/awake").touch()
                if os.fork() == 0:
                    os.setsid()
                    signal.setitimer(signal.ITIMER_REAL, 0.05)
                    while True: pass

    if os.fork() == 0:
        burn()
"""
TELLING = """        if Path("/tmp/awake").exists():
            self.answer(500)
            return
"""


@needs_load
def test_a_service_that_wakes_itself_does_nothing_while_the_gold_solution_is_measured(
    notes: Problem, runner: Runner
) -> None:
    files = with_change(notes, "main.py", 'if __name__ == "__main__":\n', AWAKE)
    files = with_change(replace(notes, solution=files), "main.py", GET, TELLING + GET)
    card = marked(notes, files, runner, CHECKED)
    if phase(card, "load").log.startswith("it used"):
        pytest.skip("this machine has no control group that can be frozen: what went on was found out instead")
    assert str(phase(card, "load").status) == "done", phase(card, "load").log


def test_a_place_that_is_closed_while_it_is_frozen_is_gone(notes: Problem, runner: Runner) -> None:
    async def scenario() -> None:
        workspace = await runner.open()
        process = await workspace.start(["sleep", "1000"])
        await workspace.freeze()
        assert process.is_running
        async with asyncio.timeout(30):
            await workspace.close()

    asyncio.run(scenario())


class Unheld:
    """A workspace of a machine that can neither freeze it nor count its processor time."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workspace, name)

    async def freeze(self) -> bool:
        return False

    async def cpu_seconds(self) -> None:
        return None


class Unholding:
    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self.name, self.is_isolated = runner.name, runner.is_isolated
        self.opened = 0

    async def open(self, limits: WorkspaceLimits = WorkspaceLimits()) -> Workspace:  # noqa: B008  frozen
        self.opened += 1
        return cast("Workspace", Unheld(await self._runner.open(limits)))

    async def close(self) -> None:
        """Its own runner is closed by whoever made it."""


@needs_load
def test_where_a_service_cannot_be_held_every_round_has_a_place_of_its_own(notes: Problem, runner: Runner) -> None:
    unholding = Unholding(runner)
    files = with_change(notes, "main.py", 'if __name__ == "__main__":\n', RESTLESS)
    card = marked(notes, files, unholding, ONCE)
    assert str(phase(card, "load").status) == "done"
    rounds = [phase(card, "load").evidence[f"{name}_rounds"] for name in ("program", "gold")]
    assert unholding.opened >= 2 + sum(map(len, rounds))
