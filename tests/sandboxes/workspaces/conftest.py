"""Runners that this machine really has; a missing one is skipped by name and reason."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fakes.kubernetes import cluster
from proctor.domain.sandbox import MIB, SandboxLimits
from proctor.domain.workspace import Reach, Runner, Workspace, WorkspaceLimits
from proctor.sandboxes.workspaces.runners import create
from sandboxes.engines import engine, skip_unless_engines_are_wanted
from sandboxes.presence import skip_unless_installed
from sandboxes.traces import looking

GONE_SECONDS = 60
# Small, so that a bomb that got through would still be a small one.
SMALL = SandboxLimits(
    wall_seconds=20,
    cpu_seconds=10,
    memory_bytes=160 * MIB,
    processes=24,
    file_bytes=8 * MIB,
    disk_bytes=24 * MIB,
    output_bytes=256 * 1024,
    open_files=64,
)
WORKSPACE = WorkspaceLimits(memory_bytes=512 * MIB, processes=64, disk_bytes=48 * MIB, seconds=240)
NAMES = ("none", "bubblewrap", "docker", "podman", "kubernetes")
# Programs that every workspace has: an image has Python, Node.js and a shell, and nothing else.
TRUE = ["sh", "-c", "true"]
SLEEP = ["python3", "-c", "import time; time.sleep(1000)"]


@pytest.fixture(scope="session", params=NAMES)
def name(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every runner in turn; engines are real ones, started for these tests and ended after them, the cluster is not."""
    with _ready(request.param):
        yield request.param


@contextmanager
def _ready(name: str) -> Iterator[None]:
    if name in ("none", "bubblewrap"):
        yield
        return
    skip_unless_engines_are_wanted(name)
    folder = Path(tempfile.mkdtemp(prefix="pe-"))  # short, for the path of a socket may have a hundred characters
    try:
        with pytest.MonkeyPatch.context() as patch:
            if name == "kubernetes":
                if os.geteuid() != 0:
                    pytest.skip("kubernetes: the stand-in cluster's node needs root")
                patch.setenv("KUBECONFIG", str(folder / "kubeconfig"))
                patch.setenv("KUBECACHEDIR", str(folder / "cache"))
            with cluster(folder) if name == "kubernetes" else engine(name, folder, patch):
                yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def isolated(name: str) -> str:
    """Every runner that isolates."""
    if name == "none":
        pytest.skip("the runner 'none' isolates nothing, and says so")
    return name


def made(name: str) -> Runner:
    """The runner, or a visible skip where it is not installed."""
    skip_unless_installed(name)
    return create(name)


def within(name: str, work: Callable[[Workspace], Awaitable[Any]], limits: WorkspaceLimits = WORKSPACE) -> Any:
    """Do this in a new workspace of that kind, and close it."""
    runner = made(name)

    async def run() -> Any:
        workspace = await runner.open(limits)
        try:
            return await work(workspace)
        finally:
            await workspace.close()
            await runner.close()

    return asyncio.run(run())


async def python(workspace: Workspace, source: str, *arguments: str, **options: Any) -> Any:
    """Run this text as a program; limits are SMALL unless given."""
    await workspace.write({"main.py": source.encode()})
    return await workspace.execute(["python3", "/app/main.py", *arguments], **{"limits": SMALL, **options})


async def fetch(reach: Reach, path: str = "/", *, seconds: float = 60) -> bytes:
    """What a process outside gets from a service inside; tries until it listens."""
    text = (
        "import sys, time, urllib.request, urllib.error\n"
        "end = time.monotonic() + float(sys.argv[2])\n"
        "while True:\n"
        "    try: sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1], timeout=5).read()); break\n"
        "    except OSError:\n"
        "        if time.monotonic() > end: raise\n"
        "        time.sleep(0.05)\n"
    )
    url = f"http://{reach.host}:{reach.port}{path}"
    process = await asyncio.create_subprocess_exec(
        *reach.prefix, "/usr/bin/python3", "-I", "-c", text, url, str(seconds),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, error = await process.communicate()
    if process.returncode:
        raise ConnectionError(error.decode()[-300:])
    return out


def left_behind() -> set[str]:
    """Control groups, folders and mounts of workspaces whose supervisor is gone: named after it."""
    groups = {
        os.path.join(top, name): name.split("-")[1]  # noqa: PTH118
        # Unlike a glob, this does not mind a folder that goes while it looks.
        for top, names, _ in os.walk("/sys/fs/cgroup")
        for name in names
        if name.startswith("proctor-") and name.endswith("-workspace")
    }
    folders = {str(path): path.name.split("-")[2] for path in Path("/tmp").glob("proctor-workspace-*")}
    mounted = {line for line in Path("/proc/mounts").read_text().splitlines() if "proctor-workspace" in line}
    orphaned = [what for what, supervisor in {**groups, **folders}.items() if not Path("/proc", supervisor).exists()]
    # A supervisor of another test may have gone, with all it made, while we were looking.
    return {what for what in orphaned if Path(what).exists()} | mounted


def descendants() -> set[int]:
    """Processes below this one."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            rows = dict(row.split(":\t", 1) for row in path.read_text(errors="replace").splitlines() if ":\t" in row)
        except (FileNotFoundError, ProcessLookupError):
            continue  # gone meanwhile
        parents[int(rows["Pid"])] = int(rows["PPid"])
    found, waiting = set(), [os.getpid()]
    while waiting:
        above = waiting.pop()
        below = [pid for pid, parent in parents.items() if parent == above]
        found |= set(below)
        waiting += below
    return found


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """After the test: no process, mount, control group or folder that was not there before."""
    with looking():
        before = left_behind(), descendants()
        yield
        until = time.monotonic() + GONE_SECONDS
        # What was killed is gone when the kernel and its parent have seen to it: on a busy machine, in a moment.
        while (left := (left_behind() - before[0], descendants() - before[1])) != (set(), set()):
            assert time.monotonic() < until, f"left behind: {left[0]}, {[_command_of(pid) for pid in left[1]]}"
            time.sleep(0.1)


def _command_of(pid: int) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return f"{pid} {command or Path(f'/proc/{pid}/stat').read_text()}"
    except (FileNotFoundError, ProcessLookupError):
        return f"{pid} (gone)"
