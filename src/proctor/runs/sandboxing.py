"""Gives scorers that run code a sandbox that has just proved that it holds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import to_builtins
from msgspec.structs import replace

from proctor.domain.artifacts import Artifacts
from proctor.domain.evaluation import Evaluation
from proctor.domain.event import NoticeGiven, Observer
from proctor.domain.message import Json
from proctor.domain.plan import Plan
from proctor.domain.scorer import NeedsRunner, NeedsSandbox, Scorer

if TYPE_CHECKING:
    from proctor.domain.sandbox import Sandbox

UNSAFE_WARNING = (
    "WARNING: code written by the model runs on this machine WITHOUT a sandbox (--unsafe-no-sandbox). "
    "It can read and delete whatever you can. Every score says so."
)


Record = Callable[[str, dict[str, Json]], None]


@asynccontextmanager
async def sandboxing(
    plan: Plan, evaluations: Sequence[Evaluation], record: Record, observe: Observer
) -> AsyncIterator[list[Evaluation]]:
    """The evaluations, ready to score; raises, before anything is asked, when no sandbox holds or judges as it must."""
    if not any(isinstance(scorer, NeedsSandbox) for item in evaluations for scorer in item.scorers):
        yield list(evaluations)
        return
    from proctor.runs.golds import prove
    from proctor.sandboxes.backends import choose

    sandbox = await choose(plan.sandbox, is_unsafe=plan.unsafe_no_sandbox)
    if not sandbox.is_isolated:
        observe(NoticeGiven(UNSAFE_WARNING, is_warning=True))
    try:
        ready = [
            replace(item, scorers=tuple(_given(scorer, sandbox) for scorer in item.scorers)) for item in evaluations
        ]
        record("golds_checked", {"checked": to_builtins(await prove(ready, sandbox, plan.seed))})
        yield ready
    finally:
        await sandbox.close()


@asynccontextmanager
async def programming(
    plan: Plan,
    evaluations: Sequence[Evaluation],
    stopping: asyncio.Event,
    observe: Observer,
    *,
    artifacts: Artifacts | None,
    home: Path | None,
) -> AsyncIterator[list[Evaluation]]:
    """The evaluations, ready to ask for whole programs and to mark them, where any of them does."""
    if not any(isinstance(scorer, NeedsRunner) for item in evaluations for scorer in item.scorers):
        yield list(evaluations)
        return
    from proctor.runs.programs import programming as programs

    making = programs.programming(plan, evaluations, stopping, observe, artifacts=artifacts, home=home)
    async with making as ready:
        yield ready


def refuse_unusable(plan: Plan, evaluations: Sequence[Evaluation]) -> None:
    """A sandbox that was named must be there, for all that run code: found out before a run is written."""
    if plan.sandbox is None:
        return
    scorers = [scorer for item in evaluations for scorer in item.scorers]
    if any(isinstance(scorer, NeedsSandbox) for scorer in scorers):
        from proctor.sandboxes import backends

        backends.refuse_unasked(plan.sandbox, is_unsafe=plan.unsafe_no_sandbox)
        backends.create(plan.sandbox)
    if any(isinstance(scorer, NeedsRunner) for scorer in scorers):
        from proctor.sandboxes.workspaces import runners

        runners.refuse_unasked(plan.sandbox, is_unsafe=plan.unsafe_no_sandbox)
        runners.create(plan.sandbox)


def _given(scorer: Scorer, sandbox: Sandbox) -> Scorer:
    return scorer.with_sandbox(sandbox) if isinstance(scorer, NeedsSandbox) else scorer
