"""Programs marked: a runner that holds, problems proven here and now, and one way for trials and submissions alike."""

from __future__ import annotations

import asyncio
import hashlib
import os
import platform
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from proctor.benchmarks.problems.benchmark import ProblemSamples
from proctor.domain.artifacts import Artifacts
from proctor.domain.errors import PlanError, RunError, ScorerError, UserError
from proctor.domain.evaluation import Evaluation
from proctor.domain.event import NoticeGiven, Observer
from proctor.domain.model import BuildsPrograms, Model
from proctor.domain.plan import Plan
from proctor.domain.problem import Problem
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorecard import Scorecard
from proctor.domain.scorer import Control, Controlled, NeedsRunner, Scorer
from proctor.domain.workspace import Runner
from proctor.engine.budget import REPAIR_ROUNDS
from proctor.programs.marking import mark
from proctor.programs.marks import scorecard_of
from proctor.programs.options import MarkOptions
from proctor.programs.packages.kept import PACKAGES
from proctor.programs.scorer import Marked
from proctor.programs.toolbox import refuse_without_needed
from proctor.runs.programs.proving import check_problem
from proctor.runs.programs.repairing import ProgramModel
from proctor.version import __version__

PROOF_SECONDS = 24 * 3600.0
UNSAFE_WARNING = (
    "WARNING: the program runs on this machine WITHOUT a sandbox (--unsafe-no-sandbox). "
    "It can read and delete whatever you can. Every scorecard says so."
)
FREE_AGENT_WARNING = (
    "WARNING: {name} works on this machine WITHOUT a sandbox (sandbox=false). It can read and delete whatever you can; "
    "the problem's own folder is hidden from it where bubblewrap can do that."
)


@asynccontextmanager
async def opened_runner(
    observe: Observer, name: str | None = None, *, is_unsafe: bool = False
) -> AsyncIterator[Runner]:
    """A runner that has just proved that it holds; raises SandboxError when none does.

    One that does not isolate is used only where that was asked for, and `observe` is warned of it.
    """
    from proctor.sandboxes.workspaces.runners import choose

    refuse_without_needed()
    runner = await choose(name, is_unsafe=is_unsafe)
    if not runner.is_isolated:
        observe(NoticeGiven(UNSAFE_WARNING, is_warning=True))
    try:
        yield runner
    finally:
        await runner.close()


@asynccontextmanager
async def equipped_programs(
    plan: Plan,
    evaluations: Sequence[Evaluation],
    stopping: asyncio.Event,
    observe: Observer,
    *,
    artifacts: Artifacts | None,
    home: Path | None,
) -> AsyncIterator[ProgramEquipment | None]:
    """What asks for programs and marks them, None where nothing does; nothing is asked before every problem is proven.

    Once `stopping` is set nothing will be asked, so nothing more is proven either. Programs are kept as `artifacts`,
    whose store is tried first; that a problem was proven is noted in `home`.
    """
    asked = [item for item in evaluations if isinstance(item.benchmark.samples, ProblemSamples)]
    if not asked:
        yield None
        return
    _refuse_in_batches(plan, asked)
    _warn_of_free_agents(asked, observe)
    problems = {one.id: one for item in asked for one in _selected(item)}
    if artifacts is not None:
        await asyncio.to_thread(artifacts.check)
    async with opened_runner(observe, plan.sandbox, is_unsafe=plan.unsafe_no_sandbox) as runner:
        packages = None if home is None else home / PACKAGES
        options = replace(_marked_with(asked), packages=packages)
        tell = partial(_tell_proving, observe)
        proving = prove(list(problems.values()), runner, home, options=options, on_begin=tell)
        await unless_stopped(stopping, proving)
        turns = asyncio.Semaphore(max_concurrency())
        prompts = {
            item.benchmark.renderer.render(sample).text: problems[sample.id]
            for item in asked
            for sample in item.samples
        }
        retries = plan.limits.retries
        models: dict[int, Model] = {
            id(item.model): ProgramModel(item.model, prompts, runner, turns, options, retries) for item in evaluations
        }
        yield ProgramEquipment(models, runner, problems, artifacts, turns, packages)
    if artifacts is not None and (delayed := await asyncio.to_thread(artifacts.delayed)):
        observe(NoticeGiven(delayed, is_warning=True))


def _tell_proving(observe: Observer, count: int) -> None:
    """Before the first answer there may be a minute in which nothing else is seen to happen."""
    what = "1 problem" if count == 1 else f"{count} problems"
    observe(NoticeGiven(f"Verifying {what} on this machine first; the result is kept for a day."))


async def unless_stopped(stopping: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Do the work, or as much of it as there is time for until somebody stops the run."""
    doing, stopped = asyncio.create_task(work), asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait({doing, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
        if not doing.done():
            doing.cancel()
        await asyncio.wait({doing, stopped})
    if not doing.cancelled():
        doing.result()


def _selected(item: Evaluation) -> list[Problem]:
    ids = {sample.id for sample in item.samples}
    samples = item.benchmark.samples
    return [one for one in samples.problems if one.id in ids] if isinstance(samples, ProblemSamples) else []


def _marked_with(asked: Sequence[Evaluation]) -> MarkOptions:
    """How the programs will be marked; one run has one way, or its marks could not be compared."""
    found = {scorer.options for item in asked for scorer in item.scorers if isinstance(scorer, Marked)}
    if len(found) > 1:
        raise PlanError("One run marks programs in one way: give 'requirements' the same parameters throughout.")
    return found.pop() if found else MarkOptions()


def _warn_of_free_agents(asked: Sequence[Evaluation], observe: Observer) -> None:
    """The run itself keeps it, because it is part of the model's name."""
    for name in {item.label for item in asked if isinstance(item.model, BuildsPrograms) and item.model.is_free_agent}:
        observe(NoticeGiven(FREE_AGENT_WARNING.format(name=name), is_warning=True))


def _refuse_in_batches(plan: Plan, asked: Sequence[Evaluation]) -> None:
    """Repair rounds are asked inside one trial, and answered while it is waited for."""
    if plan.batch and any(REPAIR_ROUNDS in item.options for item in asked):
        raise PlanError("Repair rounds need answers at once: leave out either 'repair' or --batch.")


class ProgramEquipment(Struct, frozen=True):
    """What programs are built and marked with: workspaces, the problems, somewhere to keep what is large."""

    models: Mapping[int, Model]
    """Those that build programs, by the identity of those that only answer."""
    runner: Runner
    problems: Mapping[str, Problem]
    artifacts: Artifacts | None
    turns: asyncio.Semaphore
    packages: Path | None

    def model(self, model: Model) -> Model:
        return self.models[id(model)]

    def scorer(self, scorer: Scorer) -> Scorer:
        if not isinstance(scorer, NeedsRunner):
            return scorer
        if isinstance(scorer, Marked):
            scorer = scorer.with_packages(self.packages)
        return _InTurn(scorer.with_runner(self.runner, self._find, self.artifacts), self.turns)

    def _find(self, name: str) -> Problem:
        if name not in self.problems:
            raise ScorerError(f"There is no problem {name!r} in this run.")
        return self.problems[name]


class _InTurn(Struct, frozen=True):
    """A scorer that waits until there is room to run another program."""

    scorer: Scorer
    turns: asyncio.Semaphore

    @property
    def name(self) -> str:
        return self.scorer.name

    @property
    def version(self) -> str:
        return self.scorer.version

    def control(self, sample: Sample) -> Control | None:
        return self.scorer.control(sample) if isinstance(self.scorer, Controlled) else None

    async def score(self, sample: Sample, response: Response) -> Score:
        async with self.turns:
            return await self.scorer.score(sample, response)


async def submit(
    problem: Problem,
    files: Mapping[str, bytes],
    runner: Runner,
    *,
    options: MarkOptions = MarkOptions(),  # noqa: B008  frozen
    artifacts: Artifacts | None = None,
) -> Scorecard:
    """Mark a program: exactly what a trial's scoring does, whoever wrote the program."""
    return scorecard_of(problem, await mark(problem, files, runner, options=options, artifacts=artifacts))


async def prove(
    problems: Sequence[Problem],
    runner: Runner,
    home: Path | None,
    *,
    jobs: int | None = None,
    options: MarkOptions = MarkOptions(),  # noqa: B008  frozen
    on_begin: Callable[[int], None] = lambda _: None,
) -> None:
    """Every gold solution passes its checks and nothing gets nothing, here and now; RunError names those that do not.

    A proof counts for a day on this machine, for this version of the problem and of Proctor, where there is a `home` to
    note it in. `on_begin` is told how many are due, where any is.
    """
    turns = asyncio.Semaphore(jobs or max_concurrency())
    faults: list[str] = []
    notes = {} if home is None else {problem.id: _note_of(problem, runner, home) for problem in problems}
    due = [problem for problem in problems if problem.id not in notes or not _is_fresh(notes[problem.id])]
    if due:
        on_begin(len(due))

    async def one(problem: Problem) -> None:
        async with turns:
            proof = await check_problem(replace(problem, mutants=()), runner, is_quick=True, jobs=1, options=options)
        broken = [f"{probe.name}: {probe.fault}" for probe in proof.probes if probe.fault]
        if broken:
            faults.append(f"{problem.id} ({'; '.join(broken)})")
        elif problem.id in notes:
            _keep(notes[problem.id], proof.seconds)

    async with asyncio.TaskGroup() as group:
        for problem in due:
            group.create_task(one(problem))
    if faults:
        names = ", ".join(sorted(faults))
        raise RunError(
            f"These problems are not valid on this machine, so no answer to them could be marked: {names}. "
            "Nothing was asked. Look with 'proctor problems check ID', or leave them out with --where."
        )


def max_concurrency() -> int:
    """Programs marked side by side; what they measure under load is taken one at a time anyway."""
    return max(1, min(4, os.cpu_count() or 1))


def _note_of(problem: Problem, runner: Runner, home: Path) -> Path:
    """Where it is noted that a problem was proven: by everything the proof depends on."""
    machine = f"{platform.node()}\0{platform.platform()}\0{sys.version}"
    text = f"{machine}\0{problem.id}\0{problem.digest}\0{__version__}\0{runner.name}"
    return home / "proofs" / f"{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}.json"


def _is_fresh(note: Path) -> bool:
    try:
        proven_at = float(orjson.loads(note.read_bytes())["proven_at"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return 0 <= time.time() - proven_at < PROOF_SECONDS


def _keep(note: Path, seconds: float) -> None:
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        new = note.with_suffix(f".{os.getpid()}.new")
        new.write_bytes(orjson.dumps({"proven_at": time.time(), "seconds": round(seconds, 3)}))
        new.replace(note)
    except OSError as fault:
        raise UserError(f"The verification cannot be stored in {note.parent}: {fault.strerror or fault}.") from fault
