"""The choice of a backend: by self-test, with controls that must fail, and never silently none."""

from __future__ import annotations

import asyncio
import os
import re

import pytest

from proctor.domain.errors import NotFoundError, SandboxError, UserError
from proctor.domain.sandbox import Program
from proctor.sandboxes.backends import BACKENDS, choose, create
from proctor.sandboxes.probe import probe, self_test
from sandboxes.conftest import SMALL, within


def test_the_chosen_sandbox_has_passed_its_self_test() -> None:
    async def run() -> tuple[str, bool]:
        sandbox = await choose(parallel=1)
        try:
            return sandbox.name, (await sandbox.run(Program("print(1)"), SMALL)).succeeded
        finally:
            await sandbox.close()

    name, succeeded = asyncio.run(run())
    assert name in BACKENDS
    assert name != "none"
    assert succeeded


def test_no_sandbox_at_all_needs_the_explicit_flag() -> None:
    with pytest.raises(UserError, match="--unsafe-no-sandbox"):
        asyncio.run(choose("none"))

    async def run() -> bool:
        sandbox = await choose(is_unsafe=True, parallel=1)
        try:
            done = await sandbox.run(Program("print(1)"), SMALL)
            assert done.sandbox["is_isolated"] is False
            assert done.sandbox["backend"] == "none"
            return sandbox.is_isolated
        finally:
            await sandbox.close()

    assert asyncio.run(run()) is False


def test_a_sandbox_that_does_not_hold_is_refused_with_the_reason() -> None:
    """The negative control: every probe gets through where there is no sandbox."""
    leaks = within("none", self_test, parallel=1)
    assert {leak.split(":")[0] for leak in leaks} >= {"network", "files", "syscalls"}


def test_a_backend_that_is_missing_says_so() -> None:
    with pytest.raises(NotFoundError, match="bubblewrap"):
        create("bublewrap")


@pytest.mark.parametrize("name", ["bubblewrap", "nsjail", "firejail", "docker", "podman"])
def test_a_backend_is_there_or_says_why_not(name: str) -> None:
    reasons = r"not installed|cannot be used|does not answer|needs an account|cannot be read|has no image"
    try:
        sandbox = create(name, parallel=1)
    except SandboxError as error:
        assert re.search(reasons, str(error))  # noqa: PT017  either outcome is right, depending on the machine
    else:
        assert sandbox.name == name


@pytest.mark.parametrize("backend", ["namespaces", "bubblewrap", "firejail"])
def test_every_aspect_of_a_backend_holds(backend: str) -> None:
    findings = within(backend, probe)
    # firejail's own /tmp has no size, and only root can give it another.
    leaking = {"disk"} if backend == "firejail" and os.geteuid() != 0 else set()
    assert [finding for finding in findings if not finding.holds and finding.aspect not in leaking] == []
    assert len(findings) == 12


def test_a_tool_that_fails_is_a_fault_and_not_the_programs_failure() -> None:
    from proctor.sandboxes.cold import bootstrap, cold_pool

    async def run() -> None:
        sandbox = cold_pool(
            "broken", ["/bin/false"], python="/usr/bin/python3", inside=bootstrap(), is_carrying=True, parallel=1
        )
        try:
            with pytest.raises(SandboxError, match="nothing was started"):
                await sandbox.run(Program("print(1)"), SMALL)
        finally:
            await sandbox.close()

    asyncio.run(run())
