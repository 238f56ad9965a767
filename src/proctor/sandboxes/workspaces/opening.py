"""Opens a workspace, given how its runner starts an agent."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import asdict

from proctor.domain.errors import SandboxError
from proctor.domain.message import Json
from proctor.domain.workspace import Reach, WorkspaceLimits
from proctor.sandboxes.namespaces import ENVIRONMENT
from proctor.sandboxes.workspaces.bundle import READER, bundle
from proctor.sandboxes.workspaces.connection import AgentConnection, WorkspaceLostError
from proctor.sandboxes.workspaces.launch import SupervisedWorkspace
from proctor.sandboxes.workspaces.workspace import OpenWorkspace, Reacher

_OPEN_SECONDS = 60.0
_OWNING_USER_NAMESPACE = 0xB701
WORKSPACE_ENVIRONMENT = {**ENVIRONMENT, "HOME": "/tmp"}  # noqa: S108  the workspace's own

Network = Literal["joined", "tunnelled", "host"]
"""How a service inside is reached: by joining its network, through the agent (slower), or as any on this machine."""


class Launch(Struct, frozen=True):
    """How a runner starts an agent, and what holds its limits."""

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
    """Whether the user a program runs as is this workspace's alone, so that the kernel counts its processes."""
    is_using_cgroups: bool = True
    is_seeing_cgroup: bool = False
    """Whether the workspace shows its own control group, whose count of the killed nobody outside can read."""
    is_telling_pid: bool = False
    asking_pid: tuple[str, ...] = ()
    """A command that prints the number of the first process, once there is one."""
    data: Mapping[str, str] = field(default_factory=dict)
    """Texts for the tool to read: `{data:name}` stands for a descriptor."""
    enforced_by: Mapping[str, str] = field(default_factory=dict)
    explaining: tuple[str, ...] = ()
    """A command that prints `OOMKilled` when the workspace ended because its memory was used up."""
    after: tuple[tuple[str, ...], ...] = ()
    """Commands that remove what the tool may leave."""
    kept: tuple[int, ...] = ()
    """Descriptors the supervisor holds for as long as the workspace is there."""
    network: Network = "joined"
    path: str = ENVIRONMENT["PATH"]
    notes: Mapping[str, Json] = field(default_factory=dict)
    supervisor_environment: Mapping[str, str] = field(default_factory=dict)


def _joining(pid: int) -> tuple[Reacher, tuple[int, ...]] | None:
    """Reach by joining the network of the workspace's first process; None where this process cannot.

    A number given by an engine on another machine may be somebody else's here: only an agent is joined.
    """
    tool = shutil.which("nsenter", path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
    network = f"/proc/{pid}/ns/net"
    how = [f"--net={network}"]
    held: tuple[int, ...] = ()
    try:
        if tool is None or READER.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes():
            return None
        os.stat(network)  # noqa: PTH116  what nsenter will open
        if os.geteuid() != 0:
            owner = _owner(network)
            how, held = [f"--user=/proc/{os.getpid()}/fd/{owner}", "--preserve-credentials", *how], (owner,)
    except OSError:
        return None
    prefix = (tool, *how, "--")
    if held and subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:  # noqa: S603
        os.close(held[0])
        return None

    async def reach(port: int) -> Reach:
        return Reach(prefix, "127.0.0.1", port)

    return reach, held


def _owner(network: str) -> int:
    """A descriptor of the user namespace a network belongs to: who joins that may join the network."""
    fd = os.open(network, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return fcntl.ioctl(fd, _OWNING_USER_NAMESPACE)
    finally:
        os.close(fd)


async def _on_the_host(port: int) -> Reach:
    return Reach((), "127.0.0.1", port)


def _reacher(launch: Launch, pid: int) -> tuple[Network, Reacher | None, tuple[int, ...]]:
    if launch.network == "host":
        return "host", _on_the_host, ()
    joined = _joining(pid) if launch.network == "joined" else None
    return ("joined", *joined) if joined is not None else ("tunnelled", None, ())


async def open_workspace(launch: Launch, limits: WorkspaceLimits) -> OpenWorkspace:
    """Started, spoken to and ready; on any failure, and on cancellation, everything started is ended."""
    ours, theirs = socket.socketpair()
    supervisor: SupervisedWorkspace | None = None
    line: AgentConnection | None = None
    try:
        async with asyncio.timeout(_OPEN_SECONDS):
            with theirs:
                supervisor = await SupervisedWorkspace.start(
                    _supervisor_config(launch, limits), theirs, list(launch.kept)
                )
            reader, writer = await asyncio.open_connection(sock=ours, limit=1 << 20)
            line = AgentConnection(reader, writer)
            launched = await _launched(supervisor, launch)
            writer.write(bundle(_agent_config(launch, limits, launched["root"])))
            ready, _ = await line.ready
        network, reach, held = _reacher(launch, launched["pid"])
        record = {**_record(launch, limits, launched["enforced_by"]), "network": network}
        return OpenWorkspace(line, supervisor, limits, record, reach, ready["cluster"], held)
    except BaseException as error:
        reason = await _undo(supervisor, line, ours)
        if isinstance(error, WorkspaceLostError | TimeoutError | OSError):
            raise SandboxError(
                f"{launch.runner} could not open a workspace: {reason or str(error) or 'no answer'}."
            ) from error
        raise


async def _launched(supervisor: SupervisedWorkspace, launch: Launch) -> dict[str, Any]:
    done, _ = await asyncio.wait({supervisor.launched, supervisor.ended}, return_when=asyncio.FIRST_COMPLETED)
    if supervisor.launched in done:
        return supervisor.launched.result()
    raise SandboxError(
        f"{launch.runner} could not open a workspace: {supervisor.ended.result()['said'].strip()[-500:]}."
    )


async def _undo(supervisor: SupervisedWorkspace | None, line: AgentConnection | None, ours: socket.socket) -> str:
    """What the tool said of its end, after everything is removed."""
    said = ""
    if supervisor is not None and line is not None and line.is_lost:
        await asyncio.wait({supervisor.ended}, timeout=2)
    if supervisor is not None and supervisor.ended.done():
        said = supervisor.ended.result()["said"].strip()[-500:]
    if line is not None:
        said = said or line.fault or ""
        await line.close()
    else:
        ours.close()
    if supervisor is not None:
        await supervisor.close()
    return said


def _supervisor_config(launch: Launch, limits: WorkspaceLimits) -> dict[str, Any]:
    return {
        "command": list(launch.command),
        "environment": {"PATH": ENVIRONMENT["PATH"], "LANG": "C.UTF-8", **launch.supervisor_environment},
        "limits": asdict(limits),
        "is_hosted": launch.is_hosted,
        "is_using_cgroups": launch.is_using_cgroups,
        "is_telling_pid": launch.is_telling_pid,
        "asking_pid": list(launch.asking_pid),
        "explaining": list(launch.explaining),
        "data": dict(launch.data),
        "enforced_by": dict(launch.enforced_by),
        "after": [list(command) for command in launch.after],
    }


def _agent_config(launch: Launch, limits: WorkspaceLimits, root: str) -> dict[str, Any]:
    return {
        "root": root,
        "environment": {**WORKSPACE_ENVIRONMENT, "PATH": launch.path},
        "disk_bytes": limits.disk_bytes,
        "is_filtered": launch.is_filtered,
        "is_notifying": launch.is_notifying,
        "is_counting_users": launch.is_counting_users,
        "is_seeing_cgroup": launch.is_seeing_cgroup,
    }


def _record(launch: Launch, limits: WorkspaceLimits, enforced_by: Mapping[str, str]) -> dict[str, Json]:
    syscalls = "allowed" if not launch.is_filtered else "counted" if launch.is_notifying else "refused"
    return {
        "runner": launch.runner,
        "version": launch.version,
        "is_isolated": launch.is_isolated,
        "limits": asdict(limits),
        "enforced_by": {"cpu": "supervision", "disk": "supervision", "syscalls": syscalls, **enforced_by},
        **launch.notes,
    }
