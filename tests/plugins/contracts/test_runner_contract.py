"""What every runner keeps in short; the whole of it, engines included, is in `tests/sandboxes/workspaces`."""

from __future__ import annotations

import asyncio

import pytest

from plugins.example import names
from proctor.domain.sandbox import Ending
from proctor.domain.workspace import WorkspaceLimits
from proctor.sandboxes.workspaces.runners import UNSAFE, create, leaks_of
from sandboxes.presence import skip_unless_installed

ENGINES = {"docker", "podman", "kubernetes"}  # started by `make engines` alone
LIMITS = WorkspaceLimits(seconds=60)


@pytest.fixture(params=[name for name in names("runners") if name not in ENGINES])
def name(request: pytest.FixtureRequest) -> str:
    skip_unless_installed(request.param)
    return str(request.param)


def test_a_place_is_opened_used_and_closed(name: str) -> None:
    async def go() -> None:
        runner = create(name)
        assert runner.name == name
        place = await runner.open(LIMITS)
        try:
            await place.write({"main.py": b"print('here')"})
            done = await place.execute(["python3", "/app/main.py"])
            assert (done.ending, done.stdout) == (Ending.EXITED, b"here\n")
        finally:
            await place.close()
            await runner.close()
            await runner.close()

    asyncio.run(go())


def test_one_that_says_it_isolates_passes_the_self_test(name: str) -> None:
    async def go() -> tuple[bool, list[str]]:
        runner = create(name)
        try:
            return runner.is_isolated, await leaks_of(runner)
        finally:
            await runner.close()

    is_isolated, leaks = asyncio.run(go())
    assert is_isolated is (not leaks)
    assert is_isolated is (name != UNSAFE)
