"""Where a whole program lives while it is marked: files, processes and a network of its own, and no others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from proctor.domain.message import Json
from proctor.domain.sandbox import MIB, SandboxLimits, SandboxResult, Spent

APP = "/app"
"""The program's files; what it is started from."""
WORK = "/work"
"""Where it works: empty at first, and whenever a check asks for a fresh one."""


class WorkspaceLimits(Struct, frozen=True):
    """What everything in a workspace may use together; one command's own limits are SandboxLimits."""

    memory_bytes: int = 1024 * MIB
    processes: int = 128
    disk_bytes: int = 512 * MIB
    seconds: float = 900.0
    """From opening to closing; whoever is left is ended then."""


class Reach(Struct, frozen=True):
    """How a process outside gets to a service inside: started with this command in front, it finds this address."""

    prefix: tuple[str, ...]
    host: str
    port: int


class Seen(Struct, frozen=True):
    """What the workspace saw so far, whoever did it."""

    violations: Mapping[str, int] = field(default_factory=dict)
    """Forbidden system calls and how often they were tried."""
    peak_memory_bytes: int | None = None
    cpu_seconds: float | None = None
    egress: Mapping[str, int] = field(default_factory=dict)
    """Addresses outside the workspace that were tried, and how often; nobody gets there."""
    writes: Mapping[str, int] | None = None
    """Files outside its folders that a program tried to change, and how often; None where this cannot be seen."""


def together(several: Sequence[Seen]) -> Seen:
    """What several workspaces of one program saw: attempts add up, the highest memory counts; unknown stays unknown."""

    def added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
        return dict(sum(map(Counter, counts), Counter[str]()))

    writes = [one.writes for one in several if one.writes is not None]
    cpu = [one.cpu_seconds for one in several if one.cpu_seconds is not None]
    return Seen(
        violations=added(one.violations for one in several),
        peak_memory_bytes=max((one.peak_memory_bytes for one in several if one.peak_memory_bytes), default=None),
        cpu_seconds=sum(cpu) if len(cpu) == len(several) else None,
        egress=added(one.egress for one in several),
        writes=added(writes) if len(writes) == len(several) else None,
    )


class Process(Protocol):
    """A long-running program in a workspace."""

    @property
    def is_running(self) -> bool: ...

    async def send(self, data: bytes) -> None:
        """To its standard input."""
        ...

    async def signal(self, number: int) -> None:
        """To the process and everyone it started."""
        ...

    async def wait(self, timeout_seconds: float) -> SandboxResult | None:
        """How it ended and what it printed; None when it has not ended by then."""
        ...

    async def logs(self) -> tuple[bytes, bytes]:
        """What it printed until now, to standard output and standard error; capped, the end is kept."""
        ...

    async def spent(self) -> Spent:
        """What the process and its children have used until now."""
        ...


class Workspace(Protocol):
    """One program's own workspace. Everything in it is gone once it is closed."""

    @property
    def record(self) -> Mapping[str, Json]:
        """The runner, its version and the limits in force, as kept in every scorecard."""
        ...

    async def write(self, files: Mapping[str, bytes], *, under: str = APP) -> None:
        """Lay files out below a folder; paths that lead out of it are refused."""
        ...

    async def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """Those of the files that are there; regular files only, links are not followed."""
        ...

    async def list(self, under: str) -> Mapping[str, int]:
        """Regular files below a folder, and their sizes."""
        ...

    async def left_out(self, under: str) -> Mapping[str, str]:
        """What `list` leaves out below a folder, and why: links, names that cannot be shown; where much, some of it."""
        ...

    async def empty(self, folder: str = WORK) -> None:
        """Remove everything in a folder."""
        ...

    async def execute(
        self,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        folder: str = WORK,
        limits: SandboxLimits = ...,
    ) -> SandboxResult:
        """Run a command to its end; whatever it left running is ended too, services apart."""
        ...

    async def start(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        folder: str = WORK,
        limits: SandboxLimits = ...,
    ) -> Process:
        """Start a command and go on; `wall_seconds` is its whole life."""
        ...

    async def reach(self, port: int) -> Reach:
        """How to get to what listens on this port of the workspace's own loopback."""
        ...

    async def seen(self) -> Seen: ...

    async def freeze(self) -> bool:
        """Stop every process until `thaw`, so that none can go on by itself; False where this machine cannot.

        Nothing but `cpu_seconds`, `thaw` and `close` is answered meanwhile.
        """
        ...

    async def thaw(self) -> None:
        """Let every process go on; harmless where none was stopped."""
        ...

    async def cpu_seconds(self) -> float | None:
        """What all that ever ran in the workspace has used together; None where nobody counts that."""
        ...

    async def close(self) -> None:
        """End every process and remove every trace; calling it twice is harmless."""
        ...


class Runner(Protocol):
    """Opens workspaces. The same contract for a sandbox on this machine, a container and a pod."""

    @property
    def name(self) -> str: ...

    @property
    def is_isolated(self) -> bool:
        """False only where the user asked for no sandbox at all."""
        ...

    async def open(self, limits: WorkspaceLimits = ...) -> Workspace:
        """A new, empty workspace; raises SandboxError when it cannot be had."""
        ...

    async def close(self) -> None: ...
