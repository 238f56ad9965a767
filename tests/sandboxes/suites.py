"""Runs every hostile program and every forgery in one backend, and says what was not contained."""

from __future__ import annotations

import asyncio
import os
import pwd
import socket
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from proctor.domain.sandbox import Case, Check, Program, SandboxLimits, SandboxResult, Verdict
from proctor.sandboxes.pool import SandboxPool
from sandboxes.conftest import SMALL, processes_with, within
from sandboxes.forgeries import FORGERIES, PARTLY_RIGHT, RIGHT, TESTS
from sandboxes.hostile import OUTPUTS, PROGRAMS, Hostile
from sandboxes.traces import looking

CASES = tuple(Case(f"test {number}", source) for number, source in enumerate(TESTS, 1))


_OTHERS_SECONDS = 60.0
ENGINES = f"{tempfile.gettempdir()}/pe-"


@dataclass(frozen=True)
class Suite:
    backend: str
    results: dict[str, SandboxResult | Exception]
    left: dict[str, list[str]]
    """What is on this machine after the suite and was not before; what others take away meanwhile is theirs."""


def mounts() -> list[str]:
    return Path("/proc/self/mounts").read_text().splitlines()


def traces() -> dict[str, list[str]]:
    """What a run could leave on this machine; groups count whose supervisor is gone, for others may be at work.

    Mounts of container engines are another test's: they come and go while this one runs.
    """
    groups = [path for path in Path("/sys/fs/cgroup").glob("**/proctor-*") if path.is_dir()]
    written = ("/tmp/work", "/tmp/.shm", "/tmp/0", "/dev/shm/0", "/x", "/usr/bin/x", "/etc/x", "/dev/x", "/bin/x")
    return {
        "mounts": [line for line in mounts() if ENGINES not in line],
        "cgroups": [str(path) for path in groups if not Path("/proc", path.name.split("-")[1]).exists()],
        "daemons": processes_with("PROCTOR_HOSTILE_DAEMON"),
        "files": [path for path in written if Path(path).exists()],
    }


def _limits(hostile: Hostile) -> SandboxLimits:
    """The clock ends only those that nothing else would: on a busy machine every other limit is reached late."""
    return replace(SMALL, wall_seconds=2 if hostile.endings == {"timeout"} else 30)


async def _run_all(sandbox: SandboxPool, head: str) -> dict[str, SandboxResult | Exception]:
    async def one(hostile: Hostile) -> tuple[str, SandboxResult | Exception]:
        program = Program(head + hostile.program, collect=hostile in OUTPUTS)
        try:
            return hostile.name, await sandbox.run(program, _limits(hostile))
        except Exception as error:  # noqa: BLE001  shown by the test of that program
            return hostile.name, error

    return dict(await asyncio.gather(*map(one, PROGRAMS)))


def _private_paths() -> list[str]:
    """What belongs to somebody on this machine: homes, this project, and whatever is no part of the system."""
    system = "bin boot dev etc lib lib32 lib64 libx32 lost+found proc run sbin sys tmp usr"
    others = [path for path in Path("/").iterdir() if path.is_dir() and path.name not in system.split()]
    shown = Path(sys.base_prefix).resolve()  # the interpreter itself is there for every program to use
    found = []
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)  # the session has one of its own
    for folder in (home, Path(__file__).resolve().parents[2], *others):
        entries = [path for path in sorted(folder.iterdir()) if path not in (shown, *shown.parents)]
        found += entries[:5]
    return [str(path) for path in found]


def run_suite(backend: str, folder: Path, **options: Any) -> Suite:
    with looking():
        return _suite(backend, folder, **options)


def _suite(backend: str, folder: Path, **options: Any) -> Suite:
    secret = folder / "secret.txt"
    secret.write_text("hunter2")
    os.environ["TESTS_SECRET"] = "hunter2"
    name = f"proctor-test-{os.getpid()}"
    before = traces()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as quiet:
        quiet.bind(f"\0{name}")
        quiet.listen()
        head = f"SECRET_PATH={str(secret)!r}; TCP_PORT={server.getsockname()[1]}; ABSTRACT_NAME={name!r}\n"
        head += f"PRIVATE_PATHS={_private_paths()!r}\n"
        try:
            results = within(backend, lambda sandbox: _run_all(sandbox, head), **options)
        finally:
            del os.environ["TESTS_SECRET"]
    return Suite(backend, results, _lasting(before))


def _lasting(before: dict[str, list[str]]) -> dict[str, list[str]]:
    """What came and stays: other tests have mounts and processes of their own, which go within a moment."""
    left = {kind: set(found) - set(before[kind]) for kind, found in traces().items()}
    deadline = time.monotonic() + _OTHERS_SECONDS
    while any(left.values()) and time.monotonic() < deadline:
        time.sleep(0.2)
        left = {kind: left[kind] & set(found) for kind, found in traces().items()}
    return {kind: sorted(found) for kind, found in left.items()}


def escape(hostile: Hostile, done: SandboxResult | Exception) -> str | None:
    """What got through, or why it says nothing; None when the program was contained."""
    if not isinstance(done, SandboxResult):
        return repr(done)
    if not done.stdout.startswith(b"ran"):
        return f"it never ran: {done.stderr[-500:]!r}"
    if b"BREACH" in done.stdout:
        return repr(done.stdout)
    if done.ending not in hostile.endings:
        return f"ended as {done.ending} ({done.exit_code}): {done.stderr[-300:]!r}"
    return None


async def judge_all(sandbox: SandboxPool, every: int = 1) -> dict[str, Verdict | Exception]:
    async def one(name: str, source: str) -> tuple[str, Verdict | Exception]:
        limits = replace(SMALL, wall_seconds=30 if source == RIGHT else 2)  # some wait for ever
        try:
            return name, await sandbox.check(Check(source, CASES), limits)
        except Exception as error:  # noqa: BLE001  shown by the test of that forgery
            return name, error

    first = dict([await one("right before", RIGHT)])
    forged = dict(await asyncio.gather(*(one(*item) for item in list(FORGERIES.items())[::every])))
    return first | forged | dict([await one("right after", RIGHT)])


def forged(name: str, verdict: Verdict | Exception) -> str | None:
    """How the wrong solution gained something, or None."""
    # An exception would take the answer out of the score: as good as a forgery for a wrong one.
    if not isinstance(verdict, Verdict):
        return repr(verdict)
    gained = [case.name for case in verdict.cases if case.status == "passed"]
    if verdict.passed or (gained and name not in PARTLY_RIGHT):
        return f"passed {gained or 'all'}"
    if not verdict.message or len(verdict.cases) != len(CASES):
        return "no evidence"
    return None
