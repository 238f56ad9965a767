"""Processes of ours: waited for, ended when they are late, never left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal


async def end(process: asyncio.subprocess.Process, grace_seconds: float = 0.0) -> None:
    """Wait so long, then kill; it is gone afterwards."""
    if process.returncode is None and grace_seconds:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_seconds):
                await process.wait()
    if process.returncode is None:
        # Not process.kill(): that looks first whether it has ended, and takes the news from whoever waits for them.
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    await process.wait()
