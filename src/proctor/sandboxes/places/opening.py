"""Opens a place, given how its runner starts a keeper."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from proctor.domain.errors import SandboxError
from proctor.domain.message import Json
from proctor.domain.place import PlaceLimits, Reach
from proctor.sandboxes.namespaces import ENVIRONMENT
from proctor.sandboxes.places.bundle import bundle
from proctor.sandboxes.places.launch import Guarded
from proctor.sandboxes.places.line import Line, PlaceLostError
from proctor.sandboxes.places.place import KeptPlace, Reacher

_OPEN_SECONDS = 60.0
PLACE_ENVIRONMENT = {**ENVIRONMENT, "HOME": "/tmp"}  # noqa: S108  the place's own


@dataclass(frozen=True, slots=True)
class Launch:
    """How a runner starts a keeper, and what holds its limits."""

    runner: str
    version: str
    command: tuple[str, ...]
    """`{info}` stands for a descriptor on which the tool tells the first process's number."""
    is_isolated: bool = True
    is_hosted: bool = False
    """No folders of its own: in a temporary one of the host's."""
    is_filtered: bool = True
    is_notifying: bool = True
    is_counting_users: bool = False
    """Whether the user a program runs as is this place's alone, so that the kernel counts its processes."""
    is_using_cgroups: bool = True
    is_telling_pid: bool = False
    asking_pid: tuple[str, ...] = ()
    """A command that prints the number of the first process, once there is one."""
    data: Mapping[str, str] = field(default_factory=dict)
    """Texts for the tool to read: `{data:name}` stands for a descriptor."""
    enforced_by: Mapping[str, str] = field(default_factory=dict)
    after: tuple[tuple[str, ...], ...] = ()
    """Commands that remove what the tool may leave."""
    kept: tuple[int, ...] = ()
    """Descriptors the guard holds for as long as the place is there."""
    path: str = ENVIRONMENT["PATH"]
    notes: Mapping[str, Json] = field(default_factory=dict)
    guard_environment: Mapping[str, str] = field(default_factory=dict)


Reaching = Callable[[int], Reacher]
"""How to reach a place whose first process has this number."""


def namespace_reach(pid: int) -> Reacher:
    """Reach by joining the network namespace of the place's first process."""

    async def reach(port: int) -> Reach:
        tool = shutil.which("nsenter", path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
        if tool is None:
            raise SandboxError("nsenter is not installed (util-linux): nobody outside can reach the place's network.")
        if os.geteuid() == 0:
            return Reach((tool, f"--net=/proc/{pid}/ns/net", "--"), "127.0.0.1", port)
        user = ("--user", "--preserve-credentials", "--net", "--target", str(pid))
        return Reach((tool, *user, "--"), "127.0.0.1", port)

    return reach


async def open_place(launch: Launch, limits: PlaceLimits, reach: Reaching = namespace_reach) -> KeptPlace:
    """Started, spoken to and ready; on any failure, and on cancellation, everything started is ended."""
    ours, theirs = socket.socketpair()
    guard: Guarded | None = None
    line: Line | None = None
    try:
        async with asyncio.timeout(_OPEN_SECONDS):
            with theirs:
                guard = await Guarded.start(_guard_config(launch, limits), theirs, list(launch.kept))
            reader, writer = await asyncio.open_connection(sock=ours, limit=1 << 20)
            line = Line(reader, writer)
            launched = await _launched(guard, launch)
            writer.write(bundle(_keeper_config(launch, limits, launched["root"])))
            await line.ready
        record = _record(launch, limits, launched["enforced_by"])
        return KeptPlace(line, guard, limits, record, reach(launched["pid"]))
    except BaseException as error:
        reason = await _undo(guard, line, ours)
        if isinstance(error, PlaceLostError | TimeoutError | OSError):
            raise SandboxError(
                f"{launch.runner} could not open a place: {reason or str(error) or 'no answer'}."
            ) from error
        raise


async def _launched(guard: Guarded, launch: Launch) -> dict[str, Any]:
    done, _ = await asyncio.wait({guard.launched, guard.ended}, return_when=asyncio.FIRST_COMPLETED)
    if guard.launched in done:
        return guard.launched.result()
    raise SandboxError(f"{launch.runner} could not open a place: {guard.ended.result()['said'].strip()[-500:]}.")


async def _undo(guard: Guarded | None, line: Line | None, ours: socket.socket) -> str:
    """What the tool said of its end, after everything is removed."""
    said = ""
    if guard is not None and line is not None and line.is_lost:
        await asyncio.wait({guard.ended}, timeout=2)
    if guard is not None and guard.ended.done():
        said = guard.ended.result()["said"].strip()[-500:]
    if line is not None:
        said = said or line.fault or ""
        await line.close()
    else:
        ours.close()
    if guard is not None:
        await guard.close()
    return said


def _guard_config(launch: Launch, limits: PlaceLimits) -> dict[str, Any]:
    return {
        "command": list(launch.command),
        "environment": {"PATH": ENVIRONMENT["PATH"], "LANG": "C.UTF-8", **launch.guard_environment},
        "limits": asdict(limits),
        "is_hosted": launch.is_hosted,
        "is_using_cgroups": launch.is_using_cgroups,
        "is_telling_pid": launch.is_telling_pid,
        "asking_pid": list(launch.asking_pid),
        "data": dict(launch.data),
        "enforced_by": dict(launch.enforced_by),
        "after": [list(command) for command in launch.after],
    }


def _keeper_config(launch: Launch, limits: PlaceLimits, root: str) -> dict[str, Any]:
    return {
        "root": root,
        "environment": {**PLACE_ENVIRONMENT, "PATH": launch.path},
        "disk_bytes": limits.disk_bytes,
        "is_filtered": launch.is_filtered,
        "is_notifying": launch.is_notifying,
        "is_counting_users": launch.is_counting_users,
    }


def _record(launch: Launch, limits: PlaceLimits, enforced_by: Mapping[str, str]) -> dict[str, Json]:
    syscalls = "allowed" if not launch.is_filtered else "counted" if launch.is_notifying else "refused"
    return {
        "runner": launch.runner,
        "version": launch.version,
        "is_isolated": launch.is_isolated,
        "limits": asdict(limits),
        "enforced_by": {"cpu": "supervision", "disk": "supervision", "syscalls": syscalls, **enforced_by},
        **launch.notes,
    }
