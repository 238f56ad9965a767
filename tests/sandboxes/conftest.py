"""Backends that this machine really has; a missing one is skipped by name and reason."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from proctor.domain.sandbox import MIB, SandboxLimits
from proctor.sandboxes.backends import create
from proctor.sandboxes.pool import SandboxPool
from sandboxes.presence import skip_unless_installed

# Small, so that a bomb that got through would still be a small one.
SMALL = SandboxLimits(
    wall_seconds=5,
    cpu_seconds=2,
    memory_bytes=160 * MIB,
    processes=12,
    file_bytes=4 * MIB,
    disk_bytes=16 * MIB,
    output_bytes=256 * 1024,
    open_files=64,
)


def made(name: str, **options: Any) -> SandboxPool:
    """The backend, or a visible skip where it is not installed."""
    skip_unless_installed(name)
    return create(name, **options)


def within(name: str, work: Callable[[SandboxPool], Awaitable[Any]], **options: Any) -> Any:
    """Do this with a sandbox of that kind, and close it."""
    sandbox = made(name, **options)

    async def run() -> Any:
        try:
            return await work(sandbox)
        finally:
            await sandbox.close()

    return asyncio.run(run())


def processes_with(text: str) -> list[str]:
    """Processes whose command line holds this text."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text.encode() in path.read_bytes():
                found.append(path.parent.name)
        except (FileNotFoundError, ProcessLookupError):
            continue  # gone meanwhile
    return found
