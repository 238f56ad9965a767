"""Where untrusted code runs, what it may use, and how a run ended."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct, field

from proctor.domain.message import Json

MIB = 1 << 20


class SandboxLimits(Struct, frozen=True):
    """What one run may use; passing a limit ends the run, and the ending names the limit."""

    wall_seconds: float = 10.0
    cpu_seconds: float = 10.0
    memory_bytes: int = 512 * MIB
    processes: int = 32
    file_bytes: int = 16 * MIB
    disk_bytes: int = 64 * MIB
    output_bytes: int = MIB
    """Of standard output and standard error, each."""
    open_files: int = 256


class Ending(StrEnum):
    """How a run ended. Every one of them is the program's own doing: a fault of the sandbox is a SandboxError."""

    EXITED = "exited"
    CRASHED = "crashed"
    """Ended by a signal nobody of ours sent."""
    TIMEOUT = "timeout"
    CPU = "cpu"
    MEMORY = "memory"
    PROCESSES = "processes"
    FILE_SIZE = "file_size"
    DISK = "disk"
    OUTPUT = "output"
    OPEN_FILES = "open_files"
    VIOLATION = "violation"
    """So many forbidden system calls, or such answers to the judge, that the run was ended."""


class Program(Struct, frozen=True):
    """A whole program: its text, what it reads, and which of its files are wanted afterwards."""

    source: str
    language: str = "python"
    arguments: tuple[str, ...] = ()
    stdin: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Laid out in the working folder before the start; relative paths."""
    collect: bool = False
    """Bring back the regular files the program left in its working folder."""
    loopback: bool = False
    """Allow sockets, in a network of its own that leads nowhere."""


class Spent(Struct, frozen=True):
    """What a run cost; None where the backend cannot tell."""

    seconds: float = 0.0
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None


class SandboxResult(Struct, frozen=True):
    """What happened to a program."""

    ending: Ending
    exit_code: int | None = None
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    spent: Spent = Spent()
    violations: Mapping[str, int] = field(default_factory=dict)
    """Forbidden system calls and how often they were tried."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    refused_files: Mapping[str, str] = field(default_factory=dict)
    """Files that were not brought back, and why."""
    sandbox: Mapping[str, Json] = field(default_factory=dict)
    """The backend and the limits in force, as recorded in every result."""

    @property
    def succeeded(self) -> bool:
        return self.ending is Ending.EXITED and self.exit_code == 0


class Case(Struct, frozen=True):
    """One test: trusted Python source that passes when it runs to its end."""

    name: str
    source: str


class Check(Struct, frozen=True):
    """A submission, and trusted tests that judge it from another process."""

    submission: str
    cases: tuple[Case, ...]
    prelude: str = ""
    """Trusted source the tests need, run on the judge's side; what it defines is never taken from the submission."""
    remote: Mapping[str, str] = field(default_factory=dict)
    """Names the tests use -> the submission's names; these come from the submission even if the prelude has them."""
    is_closed: bool = False
    """Nothing but the names in `remote` comes from the submission; else also what the tests use and nobody defines."""
    module: str = "solution"
    """The tests may also import the submission under this name."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Laid out in the submission's working folder before it is loaded."""
    is_fail_fast: bool = False
    is_collecting: bool = False
    """The cases are test files: run the test functions and unittest classes they define, one by one."""
    is_live: bool = False
    """Let the submission's objects answer comparisons with the tests' values: needed to test operators; forgeable."""


class CaseStatus(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    """An assertion did not hold."""
    ERROR = "error"
    """Something else was raised."""
    NOT_RUN = "not_run"


class CaseResult(Struct, frozen=True):
    name: str
    status: CaseStatus
    message: str = ""


class Verdict(Struct, frozen=True):
    """The judge's decision; `passed` only when every test ran to its end on the judge's side."""

    passed: bool
    ending: Ending
    cases: tuple[CaseResult, ...] = ()
    message: str = ""
    spent: Spent = Spent()
    violations: Mapping[str, int] = field(default_factory=dict)
    sandbox: Mapping[str, Json] = field(default_factory=dict)
    is_forgeable: bool = False


class Sandbox(Protocol):
    """Runs untrusted code within limits; raises SandboxError when it could not."""

    @property
    def name(self) -> str: ...

    @property
    def is_isolated(self) -> bool:
        """False only where the user asked for no sandbox at all."""
        ...

    async def run(self, program: Program, limits: SandboxLimits = ...) -> SandboxResult: ...

    async def check(self, check: Check, limits: SandboxLimits = ...) -> Verdict: ...

    async def close(self) -> None:
        """End every process and remove every trace; calling it twice is harmless."""
        ...
