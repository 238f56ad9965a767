"""Measures a program under load, in turn with the gold solution, so that one busy moment hits both."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from proctor.domain.errors import ScorerError
from proctor.domain.problem import InterfaceKind, Problem, Threshold
from proctor.domain.sandbox import MIB, Spent
from proctor.metrics.rounding import decimal_text
from proctor.programs.checker import Order, checker, converse, setup_of
from proctor.programs.expectations import MAX_WRONG
from proctor.programs.limits import seconds_of
from proctor.programs.load_answers import LoadFailedError
from proctor.programs.marks import MEASURED_AS
from proctor.programs.packages.package_set import BuildError
from proctor.programs.rounds import TIMED, Rounds, compare, unsettled
from proctor.programs.service_load import ServiceLoad
from proctor.programs.subject import Subject

IDLE_SECONDS, IDLE_SHARE = 0.1, 0.05
"""The processor time that a program which stands still may have used: what it did until the signal reached it."""
MORE_SECONDS = 120.0
"""After so long no round is added to those asked for: other markings wait for their turn."""


class LoadFigures:
    """One program's figures, round by round."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._load: ServiceLoad | None = None
        self.rounds: list[dict[str, float]] = []
        self.failure = ""
        """Why the program could not do the work; empty when it did."""
        self.setup: dict[str, int] = {}
        """How many requests of the setup were answered with which status."""
        self._idle_since: tuple[float, float | None] | None = None
        self._is_frozen = False

    async def take(self, step: Callable[[], Awaitable[None]]) -> None:
        """One step, unless an earlier one failed: that failed the program for good."""
        if self.failure:
            return
        try:
            await step()
        except LoadFailedError as error:
            self.failure = str(error)
        if self._load is not None and self._subject.hosted is not None and not self._subject.hosted.is_running:
            self.failure = "the service ended under load"

    async def prepare(self) -> None:
        """Set the service up where it runs; not one that is started anew for every round."""
        if self._subject.problem.interface.kind is InterfaceKind.SERVICE:
            self._load = await service_load(self._subject)
            self.setup = self._load.statuses

    async def measure(self, seconds: int) -> None:
        """One round."""
        if self._load is not None:
            self.rounds.append(await _loaded(self._subject, self._load, seconds))
        elif self._subject.problem.interface.kind is InterfaceKind.SERVICE:
            self.rounds.append(await self._measure_anew(seconds))
        else:
            self.rounds.append(await _worked_anew(self._subject))

    async def _measure_anew(self, seconds: int) -> dict[str, float]:
        """A round in a workspace that ends with it: nothing of the service is left to disturb another's round."""
        try:
            async with self._subject.anew() as fresh:
                await fresh.start()
                failure = await fresh.ready()
                if failure:
                    raise LoadFailedError(failure)
                load = await service_load(fresh)
                self.setup = load.statuses
                found = await _loaded(fresh, load, seconds)
                await load.follow()
                return found
        except BuildError as error:
            raise LoadFailedError(str(error)) from error

    async def pause(self) -> None:
        """Stand still while another is measured: frozen where the machine can, else stopped, and watched."""
        if self._load is not None and not self.failure and self._subject.hosted is not None:
            self._is_frozen = await self._subject.workspace.freeze()
            if not self._is_frozen:
                await self._subject.hosted.pause()
            self._idle_since = time.monotonic(), await self._subject.workspace.cpu_seconds()

    async def resume(self) -> None:
        """Go on; one that did not stand still made the other slower, and is measured no more."""
        if self._idle_since is None or self._subject.hosted is None:
            return
        (since, before), self._idle_since = self._idle_since, None
        after = await self._subject.workspace.cpu_seconds()
        await (self._subject.workspace.thaw() if self._is_frozen else self._subject.hosted.resume())
        if before is not None and after is not None:
            seconds = time.monotonic() - since
            if after - before > IDLE_SECONDS + IDLE_SHARE * seconds:
                self.failure = f"it used {after - before:.1f} s of processor time while it was to stand still"

    async def follow(self) -> None:
        if self._load is not None:
            await self._load.follow()


def durations(seconds: float, rounds: int) -> list[int]:
    """Whole seconds, all that load generators know, that add up to the profile's; no more than so many rounds."""
    whole = max(1, math.ceil(seconds))
    count = min(rounds, whole)
    return [whole // count + (number < whole % count) for number in range(count)]


async def measure(program: Subject, gold: Subject, rounds: int, most_rounds: int) -> tuple[LoadFigures, LoadFigures]:
    """Gold and program in turn, whoever goes first changing; the gold solution failing is nobody's mark.

    There are more rounds than asked for until both have shown their speed: on a busy machine the first ones may not.
    A slow program whose rounds differ does not hold up the others for long.
    """
    of_program, of_gold = LoadFigures(program), LoadFigures(gold)
    pairs = [of_gold, of_program]
    load = program.problem.load or {}
    lengths = durations(float(load["seconds"]), rounds) if "seconds" in load else [0] * rounds
    if await _can_stand_still(program, gold):
        for measured in pairs:
            await measured.take(measured.prepare)
    else:
        for one in (program, gold):
            await one.stop()  # each round starts its own
    number, began = 0, time.monotonic()
    while number < len(lengths) or (
        number < most_rounds and _wants_more(of_program, of_gold, program.problem.thresholds, time.monotonic() - began)
    ):
        for measured, other in (pairs, pairs[::-1]) if number % 2 == 0 else (pairs[::-1], pairs):
            await other.pause()
            try:
                await measured.take(partial(measured.measure, lengths[number % len(lengths)]))
            finally:
                await other.resume()
        _refuse_bad_gold(program.problem, of_gold)
        number += 1
    for measured in pairs:
        await measured.take(measured.follow)
    _refuse_bad_gold(program.problem, of_gold)
    return of_program, of_gold


def _wants_more(program: LoadFigures, gold: LoadFigures, thresholds: Iterable[Threshold], seconds: float) -> bool:
    is_failed = bool(program.failure or gold.failure)
    return not is_failed and are_more_wanted(program.rounds, gold.rounds, thresholds, seconds)


def are_more_wanted(program: Rounds, gold: Rounds, thresholds: Iterable[Threshold], seconds: float) -> bool:
    """Whether a measure that a threshold asks for is not settled, and measuring has not taken too long already."""
    return seconds < MORE_SECONDS and any(not _is_settled(one, program, gold) for one in thresholds)


def _is_settled(threshold: Threshold, program: Rounds, gold: Rounds) -> bool:
    name = MEASURED_AS[threshold.measure][0]
    if name not in TIMED or any(name not in one for one in (*program, *gold)):
        return True
    if threshold.unit == "gold":
        return compare(threshold, program, gold).is_final
    return not any(name in unsettled(rounds) for rounds in (program, gold))


async def _can_stand_still(*subjects: Subject) -> bool:
    """Whether each of these services can be held, or at least watched, while the other is measured."""
    for subject in subjects:
        if subject.problem.interface.kind is not InterfaceKind.SERVICE:
            return False
        if await subject.workspace.cpu_seconds() is not None:
            continue
        if not await subject.workspace.freeze():
            return False
        await subject.workspace.thaw()
    return True


def _refuse_bad_gold(problem: Problem, gold: LoadFigures) -> None:
    """Whatever is compared with a gold solution that answers errors looks good."""
    if gold.failure:
        raise ScorerError(f"The gold solution of {problem.id} failed under load: {gold.failure}")
    bounds = [one.value / 100 for one in problem.thresholds if one.measure == "error_rate" and one.unit == "%"]
    worst = max((one.get("error_rate", 0.0) for one in gold.rounds), default=0.0)
    bound = min(bounds, default=MAX_WRONG)
    if worst > bound:
        share = decimal_text(100 * worst, 1, limits=(0.0, 100 * bound, 100.0))
        raise ScorerError(f"The gold solution of {problem.id} failed under load: {share} % of its answers are errors")


async def _worked_anew(subject: Subject) -> dict[str, float]:
    """One round of work in a workspace of its own: what a program keeps from one round helps it in no other."""
    try:
        async with subject.anew() as fresh:
            await fresh.start()
            failure = await fresh.ready()
            if not failure:
                took, failure, spent = await do_work(fresh)
    except BuildError as error:
        failure = str(error)
    if failure:
        raise LoadFailedError(failure)
    return {"work_seconds": took, **_resources(Spent(), spent)}


async def service_load(subject: Subject) -> ServiceLoad:
    """The problem's profile, set up for this service as it runs now."""
    hosted, load = subject.hosted, subject.problem.load
    if hosted is None or load is None or hosted.reach is None:
        raise ScorerError(f"The problem {subject.problem.id} has no load profile.")
    made = ServiceLoad(load, hosted.reach)
    await made.prepare()
    return made


async def _loaded(subject: Subject, load: ServiceLoad, seconds: int) -> dict[str, float]:
    before = await _spent(subject)
    figures = await load.round(seconds)
    return {**figures, **_resources(before, await _spent(subject))}


async def _spent(subject: Subject) -> Spent:
    """What the program has used: its whole workspace's time where that is counted, the short-lived's too."""
    spent = await subject.hosted.process.spent() if subject.hosted and subject.hosted.process else Spent()
    counted = await subject.workspace.cpu_seconds()
    return spent if counted is None else replace(spent, cpu_seconds=counted)


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
    before = await _spent(subject)
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
    after = await _spent(subject)
    peak = after.peak_memory_bytes if subject.hosted is not None else answers.peak_memory_bytes
    cpu = answers.cpu_seconds if subject.hosted is None else None
    if after.cpu_seconds is not None:
        cpu = after.cpu_seconds - (before.cpu_seconds or 0.0)
    spent = Spent(cpu_seconds=cpu, peak_memory_bytes=peak)
    return float(told["seconds"]), str(told["problem"]), spent
