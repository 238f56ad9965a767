"""Runs every hostile program and every forgery in one backend, and says what was not contained."""

from __future__ import annotations

import asyncio
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.domain.sandbox import Case, Check, Execution, Program, Verdict
from proctor.sandboxes.pool import Pool
from sandboxes.conftest import SMALL, processes_with, within
from sandboxes.forgeries import FORGERIES, PARTLY_RIGHT, RIGHT, TESTS
from sandboxes.hostile import OUTPUTS, PROGRAMS, Hostile

CASES = tuple(Case(f"test {number}", source) for number, source in enumerate(TESTS, 1))


ENGINES = "proctor-engine-"


@dataclass(frozen=True)
class Suite:
    backend: str
    results: dict[str, Execution | Exception]
    before: dict[str, Any]
    after: dict[str, Any]


def mounts() -> list[str]:
    return Path("/proc/self/mounts").read_text().splitlines()


def traces() -> dict[str, Any]:
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


async def _run_all(sandbox: Pool, head: str) -> dict[str, Execution | Exception]:
    async def one(hostile: Hostile) -> tuple[str, Execution | Exception]:
        try:
            return hostile.name, await sandbox.run(Program(head + hostile.program, collect=hostile in OUTPUTS), SMALL)
        except Exception as error:  # noqa: BLE001  shown by the test of that program
            return hostile.name, error

    return dict(await asyncio.gather(*map(one, PROGRAMS)))


def run_suite(backend: str, folder: Path, **options: Any) -> Suite:
    secret = folder / "secret.txt"
    secret.write_text("hunter2")
    os.environ["PROCTOR_TEST_SECRET"] = "hunter2"
    name = f"proctor-test-{os.getpid()}"
    before = traces()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as quiet:
        quiet.bind(f"\0{name}")
        quiet.listen()
        head = f"SECRET_PATH={str(secret)!r}; TCP_PORT={server.getsockname()[1]}; ABSTRACT_NAME={name!r}\n"
        try:
            results = within(backend, lambda sandbox: _run_all(sandbox, head), **options)
        finally:
            del os.environ["PROCTOR_TEST_SECRET"]
    return Suite(backend, results, before, traces())


def escape(hostile: Hostile, done: Execution | Exception) -> str | None:
    """What got through, or why it says nothing; None when the program was contained."""
    if not isinstance(done, Execution):
        return repr(done)
    if not done.stdout.startswith(b"ran"):
        return f"it never ran: {done.stderr[-500:]!r}"
    if b"BREACH" in done.stdout:
        return repr(done.stdout)
    if done.ending not in hostile.endings:
        return f"ended as {done.ending} ({done.exit_code}): {done.stderr[-300:]!r}"
    return None


async def judge_all(sandbox: Pool) -> dict[str, Verdict | Exception]:
    async def one(name: str, source: str) -> tuple[str, Verdict | Exception]:
        try:
            return name, await sandbox.check(Check(source, CASES), SMALL)
        except Exception as error:  # noqa: BLE001  shown by the test of that forgery
            return name, error

    first = dict([await one("right before", RIGHT)])
    forged = dict(await asyncio.gather(*(one(*item) for item in FORGERIES.items())))
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
