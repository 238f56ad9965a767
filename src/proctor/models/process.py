"""Run a program with limits on time, memory, processes and output, and leave nothing of it behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from uuid import uuid4

from msgspec import Struct

MARK = "PROCTOR_COMMAND"
"""Every descendant inherits this variable, so that one that left the process group is still found."""
WATCH_SECONDS = 0.2
ENDING_SECONDS, SWEEP_SECONDS = 5.0, 0.01
"""How long it is looked for descendants that are left, and how long apart while one cannot be told from others."""
PAGE = os.sysconf("SC_PAGE_SIZE")


class LimitExceededError(Exception):
    """The program used more than it may; the message says of what."""


class ProcessLimits(Struct, frozen=True):
    seconds: float
    memory_mb: int
    processes: int
    output_bytes: int = 64 * 1024 * 1024


class Finished(Struct, frozen=True):
    exit_code: int
    """Negative when a signal ended it."""
    stdout: bytes
    stderr: bytes


async def run(
    command: Sequence[str], *, stdin: bytes, folder: Path, environment: Mapping[str, str], limits: ProcessLimits
) -> Finished:
    """What the program wrote; TimeoutError, LimitExceededError or OSError when it got no chance to finish.

    Whatever happens, cancellation included, the program and all its descendants are gone afterwards.
    """
    mark, began = uuid4().hex, _ticks_now()
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env={**environment, MARK: mark},
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(limits.seconds):
            return await _communicate(process, mark, stdin, limits)
    finally:
        end_all(process.pid, mark, began)
        # The pipes first: with one of them full, waiting for the end of the process would never end. Not the whole
        # transport: closing that takes the news of the end from whoever waits for it.
        for pipe in map(process._transport.get_pipe_transport, range(3)):  # type: ignore[attr-defined]  # noqa: SLF001
            if pipe is not None:
                pipe.close()
        await process.wait()


async def _communicate(process: asyncio.subprocess.Process, mark: str, stdin: bytes, limits: ProcessLimits) -> Finished:
    watcher = asyncio.create_task(_watch(mark, limits))
    work = asyncio.create_task(_exchange(process, stdin, limits))
    try:
        done, _ = await asyncio.wait({watcher, work}, return_when=asyncio.FIRST_COMPLETED)
        # A limit that was crossed explains whatever else happened.
        return await (watcher if watcher in done else work)
    finally:
        for task in (watcher, work):
            task.cancel()
        await asyncio.gather(watcher, work, return_exceptions=True)


async def _exchange(process: asyncio.subprocess.Process, stdin: bytes, limits: ProcessLimits) -> Finished:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_feed(process, stdin))
            out = group.create_task(_read(process.stdout, limits.output_bytes))
            err = group.create_task(_read(process.stderr, limits.output_bytes))
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    code = await process.wait()
    return Finished(code, out.result(), err.result())


async def _feed(process: asyncio.subprocess.Process, stdin: bytes) -> None:
    assert process.stdin is not None  # noqa: S101 - a pipe was asked for
    # A program may answer without reading its whole prompt.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(stdin)
        await process.stdin.drain()
        process.stdin.close()


async def _read(stream: asyncio.StreamReader | None, most: int) -> bytes:
    assert stream is not None  # noqa: S101 - a pipe was asked for
    parts, size = [], 0
    while chunk := await stream.read(65536):
        size += len(chunk)
        if size > most:
            raise LimitExceededError(f"wrote more than {most // 2**20} MB")
        parts.append(chunk)
    return b"".join(parts)


async def _watch(mark: str, limits: ProcessLimits) -> Finished:
    """Look every moment at what the program's processes use together; never returns."""
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        pids = list(await asyncio.to_thread(lambda: list(_marked(mark))))
        if len(pids) > limits.processes:
            raise LimitExceededError(f"started more than {limits.processes} processes")
        used = sum(_resident(pid) for pid in pids)
        if used > limits.memory_mb * 2**20:
            raise LimitExceededError(f"used more than {limits.memory_mb} MB of memory")


def end_all(group: int, mark: str, began: int) -> None:
    """Kill the process group, and every descendant that left it; again, until none is left to fork another.

    `began` is when the program was started, in the kernel's ticks since boot.
    """
    killed: set[int] = set()
    latest = time.monotonic() + ENDING_SECONDS
    while True:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        found, is_starting = _descendants(mark, began)
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        # What was killed cannot fork any more, however long it takes to disappear.
        if (found <= killed and not is_starting) or time.monotonic() > latest:
            return
        if found <= killed:
            time.sleep(SWEEP_SECONDS)
        killed |= found


def _descendants(mark: str, began: int) -> tuple[set[int], bool]:
    """The processes that carry the mark, and whether one that may be about to show it is in the middle of exec.

    Each process is looked at once: one that was asked for its mark and then for its exec may end that in between.
    """
    found, is_starting = set(), False
    needle = _needle(mark)
    for name in _processes():
        try:
            variables = Path("/proc", name, "environ").read_bytes()
        except OSError:
            continue
        if needle in variables:
            found.add(int(name))
        elif not variables:
            is_starting = is_starting or _is_starting(name, began)
    return found, is_starting


def _is_starting(pid: str, began: int) -> bool:
    """Whether a process newer than the program had no environment yet: during exec its mark cannot be seen.

    It is asked after its environment was seen to be empty, and may have got one since: so one that is not known to have
    been without any from its start counts.
    """
    try:
        fields = Path("/proc", pid, "stat").read_text(errors="replace").rpartition(")")[2].split()
        state, started, first, last = fields[0], *map(int, (fields[19], fields[47], fields[48]))
    except (OSError, IndexError, ValueError):
        return False
    is_empty = first == last != 0
    # A kernel's thread and one that has just ended have no memory, and never will.
    return state not in "ZX" and started >= began and not is_empty and _resident(int(pid)) > 0


def _ticks_now() -> int:
    seconds = time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else 0.0
    return int(seconds * os.sysconf("SC_CLK_TCK"))


def _marked(mark: str) -> Iterator[int]:
    """The living processes that carry the mark; none on systems without /proc."""
    needle = _needle(mark)
    return (int(pid) for pid in _processes() if _carries(pid, needle))


def _needle(mark: str) -> bytes:
    return f"{MARK}={mark}".encode()


def _processes() -> list[str]:
    try:
        return [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - only names, for speed
    except FileNotFoundError:
        return []


def _carries(pid: str, needle: bytes) -> bool:
    try:
        return needle in Path("/proc", pid, "environ").read_bytes()
    except OSError:
        return False


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError, ValueError):
        return 0
