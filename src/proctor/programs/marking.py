"""Marks a program: every phase in order, each recorded; the marks themselves follow from what is recorded here."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from proctor.domain.artifacts import Artifacts
from proctor.domain.errors import SandboxError, ScorerError
from proctor.domain.message import Json
from proctor.domain.problem import CheckKind, InterfaceKind, Level, Problem
from proctor.domain.sandbox import MIB
from proctor.domain.scorecard import PHASES, CheckResult, CheckStatus, Evidence, Phase, PhaseStatus
from proctor.domain.submission import beyond_limits
from proctor.domain.workspace import Runner
from proctor.programs import load_tools, reading, validating
from proctor.programs.archive import program_zip
from proctor.programs.checker import Checked, Order, run_checks, setup_of
from proctor.programs.limits import seconds_of
from proctor.programs.load import LoadFigures, measure
from proctor.programs.marks import MEASURED_AS
from proctor.programs.options import MarkOptions
from proctor.programs.own_tests import OwnTests, run_own_tests
from proctor.programs.packages.package_set import BuildError
from proctor.programs.phases import Note, Phases
from proctor.programs.profiling import profile
from proctor.programs.rounds import AGREEING, TIMED, Rounds, compare, figures, unsettled
from proctor.programs.starts import Starts, start_in_turn
from proctor.programs.subject import Subject
from proctor.programs.tools.running import not_run
from proctor.programs.turns import WAIT_SECONDS, load_turn

_UNREAD = "not asked for"
_One = TypeVar("_One")
_Other = TypeVar("_Other")


async def mark(
    problem: Problem,
    files: Mapping[str, bytes],
    runner: Runner,
    *,
    options: MarkOptions = MarkOptions(),  # noqa: B008  frozen
    artifacts: Artifacts | None = None,
) -> Evidence:
    """Build, start, check, load, profile, scan and read a program; raises SandboxError or ScorerError, never a mark."""
    return await _Marking(problem, files, runner, options, artifacts).run()


class _Marking:
    def __init__(
        self,
        problem: Problem,
        files: Mapping[str, bytes],
        runner: Runner,
        options: MarkOptions,
        artifacts: Artifacts | None,
    ) -> None:
        self._problem = problem
        self._files = files
        self._runner = runner
        self._options = options
        self._artifacts = artifacts
        self._phases = Phases(artifacts)
        self._record: Mapping[str, Json] = {"runner": runner.name, "is_isolated": runner.is_isolated}
        self._checks: dict[str, CheckResult] = {}
        self._own = OwnTests()
        self._measures: dict[str, float] = {}
        self._gold_measures: dict[str, float] = {}
        self._findings: dict[str, Json] = {}

    async def run(self) -> Evidence:
        with self._phases.phase("validate") as note:
            refused = validating.refusal(self._problem, self._files)
            if refused:
                note.fail(refused)
            note.evidence = {"files": {path: len(content) for path, content in sorted(self._files.items())[:500]}}
        if not refused:
            entry = validating.entry(self._problem, self._files)
            subject = await Subject.open(self._problem, self._files, entry, self._runner, self._patient())
            try:
                self._record = {**self._record, **subject.workspace.record}
                await self._mark(subject)
                with self._phases.phase("stop") as note:
                    await self._stop(subject, note)
            except BaseException:
                await subject.close()
                raise
            with self._phases.phase("clean up") as note:
                await subject.close()
                note.say("the workspace and everything in it is gone")
        return self._evidence(await self._kept())

    def _patient(self) -> MarkOptions:
        """Waiting for others to measure is not the program's time: its workspace outlasts the longest wait there is."""
        if self._why_no_load():
            return self._options
        return replace(self._options, place_seconds=self._options.place_seconds + WAIT_SECONDS)

    async def _mark(self, subject: Subject) -> None:
        """Everything between a valid program and a stopped one."""
        if not await self._build(subject):
            return
        if not await self._start(subject):
            return
        await self._check(subject)
        if not self._has_verified_must():
            return
        await self._load(subject)
        await self._profile(subject)
        await self._read(subject)

    async def _build(self, subject: Subject) -> bool:
        is_built = False
        with self._phases.phase("build") as note:
            try:
                await subject.build()
                is_built = True
            except BuildError as error:
                note.fail(str(error))
            note.log = "\n".join([*subject.builder.log, note.log]).strip()
            note.evidence = {
                "language": subject.entry.language,
                "version": subject.builder.version,
                "packages": list(subject.builder.pins),
            }
        return is_built

    async def _start(self, subject: Subject) -> bool:
        with self._phases.phase("start") as note:
            await subject.start()
            note.say("started" if subject.is_listening else "nothing to start: each check runs the command")
        with self._phases.phase("readiness") as note:
            problem = await subject.ready()
            if problem:
                note.fail(problem)
            elif subject.hosted is not None and subject.hosted.start_seconds is not None:
                note.say(f"ready after {subject.hosted.start_seconds:.3f} s")
        return all(phase.status is PhaseStatus.DONE for phase in self._phases.done)

    async def _check(self, subject: Subject) -> None:
        """Both kinds of checks by one checker, functional ones first; the moment of the change parts the phases."""
        began, clock = time.time(), time.monotonic()
        setup = setup_of(self._problem, subject.entry.language, seconds_of(self._problem), self._options.test_seconds)
        prefix: tuple[str, ...] = ()
        if subject.hosted is not None and subject.hosted.reach is not None:
            reach = subject.hosted.reach
            prefix, setup = reach.prefix, {**setup, "host": reach.host, "port": reach.port}
        checked = await run_checks(self._problem, subject.answers(), Order(setup, prefix, self._options.check_seconds))
        self._checks = checked.results
        whole = time.monotonic() - clock
        until = min(whole, max(0.0, (checked.property_began or began + whole) - began))
        functional, properties = _noted(checked, is_property=False), _noted(checked, is_property=True)
        functional.say(checked.log.strip())
        if subject.hosted is not None:
            self._phases.keep(functional, "program.log", await subject.hosted.logs())
        self._phases.add("functional", functional, began, until)
        self._phases.add("property", properties, began + until, whole - until)

    def _has_verified_must(self) -> bool:
        """Nothing else is worth measuring of a program that does nothing it was asked for."""
        passed = {name for name, check in self._checks.items() if check.status is CheckStatus.PASSED}
        return any(
            one.level is Level.MUST and one.checks and passed.issuperset(one.checks)
            for one in self._problem.requirements
        )

    async def _load(self, subject: Subject) -> None:
        with self._phases.phase("load") as note:
            why = self._why_no_load()
            if why:
                note.skip(why)
                return
            async with load_turn() as waited:
                note.wait(waited)
                await self._measure(subject, note)

    def _why_no_load(self) -> str:
        if not self._options.is_measuring:
            return _UNREAD
        if self._problem.load is None:
            return "the problem has no load profile and no workload"
        if self._problem.interface.kind is InterfaceKind.SERVICE and load_tools.chosen() is None:
            return "neither wrk nor Locust is on this machine"
        return ""

    async def _measure(self, subject: Subject, note: Note) -> None:
        """The submission and the gold solution, each in its own workspace, freshly started, in turn."""
        await subject.stop()  # nothing of it runs while the gold solution is built and started
        entry = validating.entry(self._problem, self._problem.solution)
        gold = await Subject.open(self._problem, self._problem.solution, entry, self._runner, self._options)
        try:
            await gold.build()
            await gold.start()
            problem = await gold.ready()
            if problem:
                raise SandboxError(f"The gold solution of {self._problem.id} does not start: {problem}")
            starts = await start_in_turn(subject, gold)
            self._keep_starts(starts, note)
            if starts.failure:
                note.fail(starts.failure)
                return
            of_program, of_gold = await measure(subject, gold, self._options.rounds, self._options.most_rounds)
            await self._keep_figures(subject, gold, of_program, of_gold, note)
        except BuildError as error:
            raise SandboxError(f"The gold solution of {self._problem.id} cannot be built: {error}") from error
        finally:
            await gold.close()

    def _keep_starts(self, starts: Starts, note: Note) -> None:
        note.evidence |= {"program_starts": starts.program, "gold_starts": starts.gold}
        self._gold_measures |= figures(starts.gold)
        self._measures |= figures(starts.program)
        if len(starts.gold) > 1 and not starts.failure:
            self._settle(starts.program, starts.gold, note)

    def _settle(self, program: Rounds, gold: Rounds, note: Note) -> None:
        """Keep of the timed measures what tells of the program, and not of the machine."""
        timed = {name for name in TIMED if all(name in one for one in (*program, *gold))}
        compared = [
            (MEASURED_AS[one.measure][0], compare(one, program, gold))
            for one in self._problem.thresholds
            if one.unit == "gold" and MEASURED_AS[one.measure][0] in timed
        ]
        for name, found in compared:
            if found.values is not None:
                self._measures[name], self._gold_measures[name] = (round(value, 6) for value in found.values)
        for name, found in compared:
            if found.values is None:
                self._forget(name, found.reason, note)
        for name, factor in unsettled(gold).items():
            if name not in dict(compared):
                why = (
                    f"the machine is too busy, the best {AGREEING} of the gold solution's own {len(gold)} rounds "
                    f"differ by a factor of {factor:.2f}"
                )
                self._forget(name, why, note)

    def _forget(self, name: str, why: str, note: Note) -> None:
        self._measures.pop(name, None)
        self._gold_measures.pop(name, None)
        note.say(f"{name} is not measured: {why}")

    async def _keep_figures(
        self, subject: Subject, gold: Subject, of_program: LoadFigures, of_gold: LoadFigures, note: Note
    ) -> None:
        tool = load_tools.chosen() if self._problem.interface.kind is InterfaceKind.SERVICE else None
        note.evidence["tool"] = f"{tool.name} {tool.version}" if tool else "the problem's own work"
        for name, measured in (("program", of_program), ("gold", of_gold)):
            note.evidence |= {f"{name}_rounds": measured.rounds, f"{name}_setup": measured.setup}
        self._gold_measures |= figures(of_gold.rounds)
        if of_program.failure:
            note.fail(of_program.failure)
            return
        self._measures |= figures(of_program.rounds)
        self._settle(of_program.rounds, of_gold.rounds, note)
        for one, kept in ((subject, self._measures), (gold, self._gold_measures)):
            peak = (await one.seen()).peak_memory_bytes
            if "peak_memory_mib" not in kept and peak is not None:
                kept["peak_memory_mib"] = round(peak / MIB, 4)
        shown = ", ".join(f"{name} {value:g}" for name, value in sorted(self._measures.items()))
        note.say(f"{shown}; gold: {', '.join(f'{k} {v:g}' for k, v in sorted(self._gold_measures.items()))}")

    async def _profile(self, subject: Subject) -> None:
        with self._phases.phase("profile") as note:
            if not self._options.is_measuring:
                note.skip(_UNREAD)
                return
            taken = await profile(subject)
            for name, content in taken.files.items():
                self._phases.keep(note, name, content)
            note.say(taken.top)
            if taken.problem:
                note.skip(taken.problem)

    async def _read(self, subject: Subject) -> None:
        if not self._options.is_reading:
            for name in ("security", "quality"):
                self._phases.skip(name, _UNREAD)
            return
        await _both(self._scan(subject), self._judge(subject))

    async def _scan(self, subject: Subject) -> None:
        with self._phases.phase("security") as note:
            seen = await subject.seen() if self._runner.is_isolated else None
            found = await reading.security(self._files, subject.entry.language, subject.builder.pins, seen)
            self._tell(note, found)

    async def _judge(self, subject: Subject) -> None:
        with self._phases.phase("quality") as note:
            found, self._own = await _both(
                reading.quality(self._files, subject.entry.language), self._own_tests(subject)
            )
            self._tell(note, {**found, "coverage": self._own.coverage})

    async def _own_tests(self, subject: Subject) -> OwnTests:
        if not self._options.is_running_own_tests:
            return OwnTests(coverage=not_run(_UNREAD))
        try:
            return await run_own_tests(self._problem, self._files, subject.entry, self._runner, self._options)
        except (SandboxError, ScorerError) as error:
            return OwnTests(coverage=not_run(str(error)))  # they count for nothing, so they cost nothing

    def _tell(self, note: Note, found: Mapping[str, Mapping[str, Any]]) -> None:
        self._findings |= found
        for name, tool in sorted(found.items()):
            what = (
                f"{tool.get('count', 0)} findings" if tool["status"] == "ran" else f"{tool['status']}: {tool['reason']}"
            )
            note.say(f"{name} {tool.get('version') or ''}: {what}".replace(" :", ":"))

    async def _stop(self, subject: Subject, note: Note) -> None:
        await subject.stop()
        note.say("stopped" if subject.is_listening else "nothing was left running")

    async def _kept(self) -> str:
        """What the phases left, and the program itself, as a zip that is the same for the same files.

        Not what no program may be.
        """
        await self._phases.store()
        if self._artifacts is None or not self._files or beyond_limits(self._files):
            return ""
        return await asyncio.to_thread(self._artifacts.put, "program.zip", program_zip(self._files))

    def _evidence(self, program: str) -> Evidence:
        for name, kind in self._problem.checks.items():
            why = "the program was not started"
            self._checks.setdefault(name, CheckResult(name, str(kind), CheckStatus.NOT_RUN, why))
        return Evidence(
            problem=self._problem.id,
            problem_digest=self._problem.digest,
            runner=dict(self._record),
            phases=self._all_phases(),
            checks=(*self._checks.values(), *self._own.checks),
            measures=dict(self._measures),
            gold_measures=dict(self._gold_measures),
            findings=dict(self._findings),
            program=program or None,
        )

    def _all_phases(self) -> tuple[Phase, ...]:
        """Every phase there is; one that did not happen says which one it waited for."""
        done = {phase.name: phase for phase in self._phases.done}
        failed = next((phase.name for phase in self._phases.done if phase.status is PhaseStatus.FAILED), None)
        why = f"the phase '{failed}' failed" if failed else "no MUST requirement is verified"
        for name in PHASES:
            if name not in done:
                done[name] = Phase(name, PhaseStatus.NOT_MEASURED, time.time(), 0.0, why)
        return tuple(done[name] for name in PHASES)


def _noted(checked: Checked, *, is_property: bool) -> Note:
    results = [one for one in checked.results.values() if (one.kind == CheckKind.PROPERTY) is is_property]
    passed = sum(one.status is CheckStatus.PASSED for one in results)
    note = Note(log=f"{passed} of {len(results)} checks passed")
    note.evidence = {"passed": passed, "checks": len(results)}
    return note


async def _both(one: Coroutine[Any, Any, _One], other: Coroutine[Any, Any, _Other]) -> tuple[_One, _Other]:
    """What both give, side by side; when one fails, the other has ended before its error is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            first, second = group.create_task(one), group.create_task(other)
    except BaseExceptionGroup as failed:
        error = failed.exceptions[0]
        raise error from error.__cause__
    return first.result(), second.result()
