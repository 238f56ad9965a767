"""The runners by name, and the choice among them."""

from __future__ import annotations

from typing import Any

from proctor import plugins
from proctor.domain.errors import SandboxError, UserError
from proctor.domain.sandbox import MIB, Check, Program, SandboxLimits, SandboxResult, Verdict
from proctor.domain.workspace import Runner, Workspace, WorkspaceLimits
from proctor.sandboxes.probe import self_test

UNSAFE = "none"
DEFAULT = "bubblewrap"
_TEST_LIMITS = WorkspaceLimits(memory_bytes=256 * MIB, processes=32, disk_bytes=32 * MIB, seconds=60)


def create(name: str, **options: Any) -> Runner:
    """The runner of that name; a SandboxError when this machine does not have it."""
    made: Runner = plugins.create("runners", name, **options)
    return made


def refuse_unasked(name: str | None, *, is_unsafe: bool) -> None:
    """Running code without any protection is asked for by a flag of its own, never by a name alone."""
    if name == UNSAFE and not is_unsafe:
        raise UserError("The runner 'none' isolates nothing. Add --unsafe-no-sandbox if that is what you want.")


async def choose(name: str | None = None, *, is_unsafe: bool = False, **options: Any) -> Runner:
    """A runner whose workspaces have just passed a self-test; refused otherwise, unless no sandbox was asked for."""
    refuse_unasked(name, is_unsafe=is_unsafe)
    if is_unsafe and name in (None, UNSAFE):
        return create(UNSAFE, **options)
    chosen = name or DEFAULT
    runner = create(chosen, **options)
    try:
        leaks = await leaks_of(runner)
    except SandboxError as error:
        leaks = [str(error)]
    except BaseException:
        await runner.close()
        raise
    if not leaks:
        return runner
    await runner.close()
    known = ", ".join(plugins.names("runners"))
    raise SandboxError(
        f"The runner {chosen!r} does not hold on this machine, so programs are not run: {'; '.join(leaks)} "
        f"| There are: {known}. Choose another, or accept the danger with --unsafe-no-sandbox."
    )


async def leaks_of(runner: Runner) -> list[str]:
    """What does not hold in a workspace of this runner, tried by probes that get through where there is no sandbox."""
    workspace = await runner.open(_TEST_LIMITS)
    try:
        return await self_test(_InWorkspace(runner, workspace))
    finally:
        await workspace.close()


class _InWorkspace:
    """Single programs run in a workspace, as the probes want them."""

    def __init__(self, runner: Runner, workspace: Workspace) -> None:
        self.name, self.is_isolated = runner.name, runner.is_isolated
        self._workspace = workspace

    async def run(self, program: Program, limits: SandboxLimits = SandboxLimits()) -> SandboxResult:  # noqa: B008  frozen
        await self._workspace.empty()
        await self._workspace.write({"probe.py": program.source.encode()})
        return await self._workspace.execute(["python3", "/app/probe.py"], limits=limits)

    async def check(self, check: Check, limits: SandboxLimits = SandboxLimits()) -> Verdict:  # noqa: ARG002, B008  frozen
        raise SandboxError("A workspace runs whole programs.")

    async def close(self) -> None:
        """The workspace is closed by whoever opened it."""
