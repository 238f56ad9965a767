"""Measures a program under load, in turn with the gold solution, so that one busy moment hits both."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.domain.errors import ScorerError
from proctor.domain.place import Reach
from proctor.domain.problem import InterfaceKind
from proctor.domain.sandbox import MIB, Spent
from proctor.scorers.programs import load_tools
from proctor.scorers.programs.checker import Order, checker, converse, setup_of
from proctor.scorers.programs.children import end
from proctor.scorers.programs.limits import seconds_of
from proctor.scorers.programs.subject import Subject

_REQUESTS = Path(__file__).parent / "checking" / "requests.py"
_REQUEST_SECONDS = 60.0


@dataclass
class Measured:
    """One program's figures, round by round."""

    rounds: list[dict[str, float]] = field(default_factory=list)
    failure: str = ""
    """Why the program could not do the work; empty when it did."""

    def figures(self) -> dict[str, float]:
        """The median over the rounds, of what every round has; a peak is the highest."""
        names = set.intersection(*(set(one) for one in self.rounds)) if self.rounds else set()
        found = {name: [one[name] for one in self.rounds] for name in sorted(names)}
        return {
            name: round(max(values) if name == "peak_memory_mib" else statistics.median(values), 6)
            for name, values in found.items()
        }


async def measure(program: Subject, gold: Subject, rounds: int) -> tuple[Measured, Measured]:
    """Gold and program in turn, whoever goes first changing; the gold solution failing is nobody's mark."""
    of_program, of_gold = Measured(), Measured()
    one_round = _serve_round if program.problem.interface.kind is InterfaceKind.SERVICE else _work_round
    for number in range(rounds):
        pairs = [(gold, of_gold), (program, of_program)]
        for subject, measured in pairs if number % 2 == 0 else reversed(pairs):
            if not measured.failure:
                await one_round(subject, measured)
        if of_gold.failure:
            raise ScorerError(f"The gold solution of {program.problem.id} failed under load: {of_gold.failure}")
    return of_program, of_gold


async def _serve_round(subject: Subject, measured: Measured) -> None:
    hosted, load = subject.hosted, subject.problem.load
    if hosted is None or load is None or hosted.reach is None or hosted.process is None:
        raise ScorerError(f"The problem {subject.problem.id} has no load profile.")
    tool = load_tools.chosen()
    if tool is None:
        raise ScorerError("Neither wrk nor Locust is on this machine.")
    before = await hosted.process.spent()
    # A whole duration for each of three rounds would take long: together they last about as long as the profile says.
    seconds = max(1, round(float(load["seconds"]) / 2))
    figures = await tool.measure(hosted.reach, load, seconds)
    after = await hosted.process.spent()
    measured.rounds.append({**figures, **_resources(before, after)})
    if not hosted.is_running:
        measured.failure = "the service ended under load"


async def _work_round(subject: Subject, measured: Measured) -> None:
    """The problem's own piece of work, done through the checker."""
    seconds, failure, spent = await do_work(subject)
    if failure:
        measured.failure = failure
        return
    measured.rounds.append({"work_seconds": seconds, **_resources(Spent(), spent)})


def _resources(before: Spent, after: Spent) -> dict[str, float]:
    found: dict[str, float] = {}
    if after.cpu_seconds is not None:
        found["cpu_seconds"] = max(0.0, after.cpu_seconds - (before.cpu_seconds or 0.0))
    if after.peak_memory_bytes:
        found["peak_memory_mib"] = after.peak_memory_bytes / MIB
    return found


async def do_work(subject: Subject, wrapped: Sequence[str] = ()) -> tuple[float, str, Spent]:
    """How long it took, why it failed, and what the program used meanwhile."""
    answers = subject.answers(wrapped)
    limit = subject.options.test_seconds * 2
    setup = setup_of(subject.problem, subject.entry.language, seconds_of(subject.problem), limit)
    setup["work"] = str(subject.problem.folder / str((subject.problem.load or {})["work"]))
    reach = subject.hosted.reach if subject.hosted is not None else None
    before = await subject.hosted.process.spent() if subject.hosted and subject.hosted.process else Spent()
    told: dict[str, Any] = {}

    def hear(message: Mapping[str, Any]) -> bool:
        if message["event"] == "worked":
            told.update(message)
        return bool(message["event"] != "worked")

    async with checker(Order(setup, reach.prefix if reach else (), limit)) as line:
        try:
            async with asyncio.timeout(limit):
                await converse(line, answers, asyncio.Lock(), hear)
        except TimeoutError:
            return 0.0, f"the work was not done within {limit:g} s", Spent()
        finally:
            await answers.end_jobs()
        if not told:
            raise ScorerError(f"The work of {subject.problem.id} cannot be loaded: {line.log()[-500:]}")
    spent = Spent(cpu_seconds=answers.cpu_seconds, peak_memory_bytes=answers.peak_memory_bytes)
    if subject.hosted is not None and subject.hosted.process is not None:
        after = await subject.hosted.process.spent()
        cpu = None if after.cpu_seconds is None else after.cpu_seconds - (before.cpu_seconds or 0.0)
        spent = Spent(cpu_seconds=cpu, peak_memory_bytes=after.peak_memory_bytes)
    return float(told["seconds"]), str(told["problem"]), spent


async def send(reach: Reach, requests: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Requests one after the other, from within the service's network; how many got which status."""
    process = await asyncio.create_subprocess_exec(
        *reach.prefix,
        *(sys.executable, "-I", "-S", "-B", str(_REQUESTS)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    order = json.dumps({"host": reach.host, "port": reach.port, "requests": list(requests)}).encode()
    try:
        async with asyncio.timeout(_REQUEST_SECONDS):
            out, _ = await process.communicate(order)
    except TimeoutError:
        return {"timeout": len(requests)}
    finally:
        await end(process)
    answer: dict[str, int] = json.loads(out) if out else {}
    return answer
