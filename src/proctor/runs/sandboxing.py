"""Gives scorers that run code a sandbox that has just proved that it holds."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from proctor.domain.evaluation import Evaluation
from proctor.domain.plan import Plan
from proctor.domain.sandbox import Sandbox
from proctor.domain.scorer import Scorer

UNSAFE_WARNING = (
    "WARNING: code written by the model runs on this machine WITHOUT a sandbox (--unsafe-no-sandbox). "
    "It can read and delete whatever you can. Every score says so."
)


@asynccontextmanager
async def sandboxing(plan: Plan, evaluations: Sequence[Evaluation]) -> AsyncIterator[list[Evaluation]]:
    """The evaluations, ready to score; raises SandboxError, before anything is asked, when no sandbox holds."""
    if not any(needs_sandbox(scorer) for item in evaluations for scorer in item.scorers):
        yield list(evaluations)
        return
    from proctor.sandboxes.backends import choose

    sandbox = await choose(plan.sandbox, is_unsafe=plan.unsafe_no_sandbox)
    if not sandbox.is_isolated:
        print(UNSAFE_WARNING, file=sys.stderr)  # noqa: T201 - loud, whatever view is on
    try:
        yield [replace(item, scorers=tuple(_given(scorer, sandbox) for scorer in item.scorers)) for item in evaluations]
    finally:
        await sandbox.close()


def needs_sandbox(scorer: Scorer) -> bool:
    return bool(getattr(scorer, "needs_sandbox", False))


def _given(scorer: Scorer, sandbox: Sandbox) -> Scorer:
    if not needs_sandbox(scorer):
        return scorer
    given: Scorer = scorer.with_sandbox(sandbox)  # type: ignore[attr-defined]
    return given
