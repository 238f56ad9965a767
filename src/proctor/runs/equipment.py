"""What evaluations need while they are executed: a sandbox for code, a runner for programs, each just tried."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import to_builtins
from msgspec.structs import replace

from proctor.domain.artifacts import Artifacts
from proctor.domain.evaluation import Evaluation
from proctor.domain.event import NoticeGiven, Observer
from proctor.domain.message import Json
from proctor.domain.plan import Plan
from proctor.domain.scorer import NeedsRunner, NeedsSandbox, Scorer, give_sandbox

if TYPE_CHECKING:
    from proctor.domain.sandbox import Sandbox
    from proctor.runs.programs.programming import ProgramEquipment

UNSAFE_WARNING = (
    "WARNING: code written by the model runs on this machine WITHOUT a sandbox (--unsafe-no-sandbox). "
    "It can read and delete whatever you can. Every score says so."
)


Record = Callable[[str, dict[str, Json]], None]


@asynccontextmanager
async def equipped(
    plan: Plan,
    evaluations: Sequence[Evaluation],
    stopping: asyncio.Event,
    observe: Observer,
    *,
    record: Record,
    artifacts: Artifacts | None,
    home: Path | None,
) -> AsyncIterator[list[Evaluation]]:
    """The evaluations, ready to ask and to score; raises, before anything is asked, when what they need does not hold.

    What was tried of a sandbox is given to `record`. Most runs need nothing: their evaluations are what they were.
    """
    async with AsyncExitStack() as stack:
        sandbox = programs = None
        if _any_scorer(evaluations, NeedsSandbox):
            sandbox = await stack.enter_async_context(_opened_sandbox(plan, evaluations, record, observe))
        if _any_scorer(evaluations, NeedsRunner):
            from proctor.runs.programs.programming import equipped_programs

            opening = equipped_programs(plan, evaluations, stopping, observe, artifacts=artifacts, home=home)
            programs = await stack.enter_async_context(opening)
        if sandbox is None and programs is None:
            yield list(evaluations)
        else:
            yield [_equip(item, sandbox, programs) for item in evaluations]


def _any_scorer(evaluations: Sequence[Evaluation], kind: type) -> bool:
    return any(isinstance(scorer, kind) for item in evaluations for scorer in item.scorers)


def _equip(item: Evaluation, sandbox: Sandbox | None, programs: ProgramEquipment | None) -> Evaluation:
    scorers: Sequence[Scorer] = item.scorers
    if sandbox is not None:
        scorers = [give_sandbox(scorer, sandbox) for scorer in scorers]
    if programs is None:
        return replace(item, scorers=tuple(scorers))
    return replace(item, model=programs.model(item.model), scorers=tuple(map(programs.scorer, scorers)))


@asynccontextmanager
async def _opened_sandbox(
    plan: Plan, evaluations: Sequence[Evaluation], record: Record, observe: Observer
) -> AsyncIterator[Sandbox]:
    """A sandbox in which the benchmarks' own solutions were just judged as they must be."""
    from proctor.runs.golds import prove
    from proctor.sandboxes.backends import choose

    sandbox = await choose(plan.sandbox, is_unsafe=plan.unsafe_no_sandbox)
    if not sandbox.is_isolated:
        observe(NoticeGiven(UNSAFE_WARNING, is_warning=True))
    try:
        record("golds_checked", {"checked": to_builtins(await prove(evaluations, sandbox, plan.seed))})
        yield sandbox
    finally:
        await sandbox.close()


def refuse_unusable(plan: Plan, evaluations: Sequence[Evaluation]) -> None:
    """A sandbox that was named must be there, for all that run code: found out before a run is written."""
    if plan.sandbox is None:
        return
    if _any_scorer(evaluations, NeedsSandbox):
        from proctor.sandboxes import backends

        backends.refuse_unasked(plan.sandbox, is_unsafe=plan.unsafe_no_sandbox)
        backends.create(plan.sandbox)
    if _any_scorer(evaluations, NeedsRunner):
        from proctor.sandboxes.workspaces import runners

        runners.refuse_unasked(plan.sandbox, is_unsafe=plan.unsafe_no_sandbox)
        runners.create(plan.sandbox)
