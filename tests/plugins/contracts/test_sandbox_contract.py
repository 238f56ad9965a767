"""What every sandbox keeps, as far as this machine has it; how they hold against attacks is in `tests/sandboxes`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from plugins.example import names
from proctor.domain.errors import UserError
from proctor.domain.sandbox import Case, Check, Ending, Program, Sandbox, SandboxLimits
from proctor.sandboxes.backends import AUTOMATIC, UNSAFE, choose, create
from proctor.sandboxes.probe import self_test
from sandboxes.presence import skip_unless_installed

T = TypeVar("T")
LIMITS = SandboxLimits(wall_seconds=5, cpu_seconds=5)
ENGINES = {"docker", "podman"}  # started by `make engines` alone


@pytest.fixture(params=[name for name in names("sandboxes") if name not in ENGINES])
def name(request: pytest.FixtureRequest) -> str:
    skip_unless_installed(request.param)
    return str(request.param)


def _within(name: str, use: Callable[[Sandbox], Awaitable[T]]) -> T:
    async def go() -> T:
        sandbox = create(name, parallel=1)
        try:
            return await use(sandbox)
        finally:
            await sandbox.close()
            await sandbox.close()

    return asyncio.run(go())


def test_a_program_runs_and_its_result_says_where(name: str) -> None:
    async def run(sandbox: Sandbox) -> None:
        assert sandbox.name == name
        done = await sandbox.run(Program("import sys; print(input()); sys.exit(3)", stdin=b"hello\n"), LIMITS)
        assert (done.ending, done.exit_code, done.stdout) == (Ending.EXITED, 3, b"hello\n")
        assert done.sandbox["backend"] == name

    _within(name, run)


def test_a_check_passes_what_is_right_and_nothing_else(name: str) -> None:
    async def run(sandbox: Sandbox) -> list[bool]:
        cases = (Case("doubles", "assert double(4) == 8"),)
        submissions = ("def double(n): return 2 * n", "def double(n): return n", "raise SystemExit(0)")
        verdicts = [await sandbox.check(Check(text, cases), LIMITS) for text in submissions]
        assert all(verdict.sandbox["backend"] == name for verdict in verdicts)
        return [verdict.passed for verdict in verdicts]

    assert _within(name, run) == [True, False, False]


def test_one_that_says_it_isolates_passes_the_self_test(name: str) -> None:
    async def run(sandbox: Sandbox) -> tuple[bool, list[str]]:
        return sandbox.is_isolated, await self_test(sandbox)

    is_isolated, leaks = _within(name, run)
    assert is_isolated is (not leaks)
    assert is_isolated is (name != UNSAFE)


def test_one_of_another_package_is_used_when_named_and_never_picked() -> None:
    assert not {*names("sandboxes")} - {*AUTOMATIC, *ENGINES, UNSAFE, "hasty"}
    with pytest.raises(UserError, match=r"No sandbox 'hasti'\. Did you mean 'hasty'"):
        asyncio.run(choose("hasti"))
