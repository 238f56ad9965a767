"""A sandbox and a runner: bubblewrap's, with little time for each program.

A sandbox runs single programs and checks; a runner opens places in which whole programs are built and started. Both
are used only when named (`--sandbox hasty`), and only after their self-test has shown that they isolate.
"""

from __future__ import annotations

from msgspec.structs import replace

from proctor.domain.workspace import Workspace, WorkspaceLimits, Runner
from proctor.domain.sandbox import Check, SandboxResult, Program, Sandbox, SandboxLimits, Verdict
from proctor.sandboxes import backends
from proctor.sandboxes.workspaces import runners

SECONDS = 5.0


class HastySandbox:
    name = "hasty"
    is_isolated = True

    def __init__(self, inner: Sandbox) -> None:
        self._inner = inner

    async def run(self, program: Program, limits: SandboxLimits = SandboxLimits()) -> SandboxResult:
        done = await self._inner.run(program, _shortened(limits))
        return replace(done, sandbox={**done.sandbox, "backend": self.name})  # every result says where it ran

    async def check(self, check: Check, limits: SandboxLimits = SandboxLimits()) -> Verdict:
        verdict = await self._inner.check(check, _shortened(limits))
        return replace(verdict, sandbox={**verdict.sandbox, "backend": self.name})

    async def close(self) -> None:
        await self._inner.close()


class HastyRunner:
    name = "hasty"
    is_isolated = True

    def __init__(self, inner: Runner) -> None:
        self._inner = inner

    async def open(self, limits: WorkspaceLimits = WorkspaceLimits()) -> Workspace:
        return await self._inner.open(limits)

    async def close(self) -> None:
        await self._inner.close()


def _shortened(limits: SandboxLimits) -> SandboxLimits:
    return replace(limits, wall_seconds=min(limits.wall_seconds, SECONDS))


def create_sandbox(*, parallel: int | None = None) -> HastySandbox:
    """Raises SandboxError where this machine has no bubblewrap."""
    return HastySandbox(backends.create("bubblewrap", parallel=parallel))


def create_runner() -> HastyRunner:
    return HastyRunner(runners.create("bubblewrap"))
