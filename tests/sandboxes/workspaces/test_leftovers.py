"""However it ends, nothing is left: no process, container, pod, mount, control group or folder."""

from __future__ import annotations

import asyncio
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proctor.domain.errors import SandboxError
from proctor.domain.workspace import Workspace
from proctor.sandboxes.inside.cgroups import Cgroup
from proctor.sandboxes.inside.frames import Channel
from proctor.sandboxes.inside.workspace_supervisor import WorkspaceSupervisor
from proctor.sandboxes.workspaces.bundle import start_command
from proctor.sandboxes.workspaces.opening import Launch, open_workspace
from sandboxes.conftest import processes_with
from sandboxes.traces import leaving
from sandboxes.workspaces.conftest import SLEEP, SMALL, TRUE, WORKSPACE, left_behind, made, within

MARK = "proctor-leftover-mark"
_GONE_SECONDS = 10.0
# A program that would outlive anything, and tells the world it is there by its command line.
PROGRAM = f"""
import os, signal, subprocess, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
subprocess.Popen(["python3", "-c", "import time; time.sleep(300)  # {MARK}"], start_new_session=True)
print("up", flush=True)
time.sleep(300)
"""
HARNESS = """
import asyncio, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had us ignore it
from proctor.domain.workspace import WorkspaceLimits
from proctor.sandboxes.workspaces.runners import create
async def main():
    limits = WorkspaceLimits(memory_bytes=256 << 20, processes=32, disk_bytes=16 << 20, seconds=100)
    workspace = await create(sys.argv[1]).open(limits)
    await workspace.write({"main.py": sys.argv[2].encode()})
    process = await workspace.start(["python3", "/app/main.py", sys.argv[3]])
    while not (await process.logs())[0]: await asyncio.sleep(0.02)
    print("ready", flush=True)
    await asyncio.sleep(300)
asyncio.run(main())
"""


def containers_and_pods(name: str) -> list[str]:
    """Workspaces as the engine or the cluster lists them."""
    if name in ("docker", "podman"):
        command = [name, "ps", "--all", "--filter", "name=proctor-workspace", "--format", "{{.Names}}"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    if name == "kubernetes":
        command = ["kubectl", "--namespace", "proctor-workspaces", "get", "pods", "--output", "json"]
        done = subprocess.run(command, check=True, capture_output=True)
        return [pod["metadata"]["name"] for pod in json.loads(done.stdout)["items"]]
    return []


def within_seconds(condition: Callable[[], bool], seconds: float = _GONE_SECONDS) -> bool:
    """Whether it comes true in that time; on a busy machine time passes differently, so a little more is given."""
    deadline = time.monotonic() + 4 * seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def harness(name: str, mark: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HARNESS, name, PROGRAM.replace(MARK, mark), mark],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def guards_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_when_the_harness_is_killed(name: str, number: int) -> None:
    mark = f"{MARK}-{os.getpid()}-{number}"
    before = left_behind()
    process = harness(name, mark)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert processes_with(mark)
        process.send_signal(number)
        process.wait(30)
        assert within_seconds(lambda: not processes_with(mark)), processes_with(mark)
        assert within_seconds(lambda: left_behind() <= before), left_behind() - before
        assert within_seconds(lambda: not containers_and_pods(name)), containers_and_pods(name)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture
def is_leaving() -> Iterator[None]:
    with leaving():
        yield


@pytest.mark.usefixtures("is_leaving")
def test_no_process_is_left_when_harness_and_guard_are_killed_at_once(isolated: str) -> None:
    """A control group, and a pod that has ended, may stay then: the next workspace removes them."""
    mark = f"{MARK}-{os.getpid()}-both"
    process = harness(isolated, mark)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert processes_with(mark)
        guards = guards_of(process.pid)
        assert guards
        os.killpg(process.pid, signal.SIGSTOP)
        for pid in (*guards, process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait(30)
        assert within_seconds(lambda: not processes_with(mark)), processes_with(mark)
        # A dead supervisor whose end nobody has taken note of yet still counts as there.
        assert within_seconds(lambda: not any(Path("/proc", str(pid)).exists() for pid in guards))
        within(isolated, lambda workspace: workspace.execute(TRUE, limits=SMALL))
        assert within_seconds(lambda: not left_behind() and not containers_and_pods(isolated)), left_behind()
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.usefixtures("nothing_left")
def test_a_place_that_is_closed_in_the_middle_of_everything_leaves_nothing(name: str) -> None:
    mark = f"{MARK}-{os.getpid()}-close"

    async def work(workspace: Workspace) -> None:
        await workspace.write({"main.py": PROGRAM.replace(MARK, mark).encode()})
        process = await workspace.start(["python3", "/app/main.py"], limits=SMALL)
        while not (await process.logs())[0]:
            await asyncio.sleep(0.02)
        running = asyncio.create_task(workspace.execute(SLEEP, limits=SMALL))
        sending = asyncio.create_task(process.send(bytes(8 << 20)))
        await asyncio.sleep(0.1)
        await workspace.close()
        for task in (running, sending):
            with pytest.raises(SandboxError):
                await task
        with pytest.raises(SandboxError):
            await process.wait(1)

    within(name, work)
    assert not processes_with(mark)
    assert not containers_and_pods(name)


@pytest.mark.usefixtures("nothing_left")
def test_opening_that_is_cancelled_leaves_nothing(name: str) -> None:
    runner = made(name)

    async def run() -> None:
        for seconds in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4):
            opening = asyncio.create_task(runner.open(WORKSPACE))
            await asyncio.sleep(seconds)
            opening.cancel()
            try:
                workspace = await opening
            except asyncio.CancelledError:
                continue
            await workspace.close()
        await runner.close()

    asyncio.run(run())
    assert within_seconds(lambda: not containers_and_pods(name)), containers_and_pods(name)


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("/no/such/tool",), "No such file"),
        (("sh", "-c", "echo it went wrong >&2; exit 3"), "it went wrong"),
        (("sh", "-c", "cat >/dev/null & echo nonsense nonsense; wait"), "nonsense"),
    ],
)
def test_a_tool_that_fails_is_a_fault_that_says_what_the_tool_said(command: tuple[str, ...], said: str) -> None:
    async def run() -> None:
        with pytest.raises(SandboxError, match=said):
            await open_workspace(Launch("broken", "1", command), WORKSPACE)

    asyncio.run(run())


@pytest.mark.usefixtures("nothing_left")
def test_an_agent_that_dies_is_a_fault_and_never_a_programs_failure() -> None:
    async def run() -> None:
        launch = Launch(
            "plain", "1", tuple(start_command(shutil.which("python3") or "")), is_hosted=True, is_filtered=False
        )
        others = set(guards_of(os.getpid()))  # servers that other tests have started
        workspace = await open_workspace(launch, WORKSPACE)
        try:
            running = asyncio.create_task(workspace.execute(SLEEP, limits=SMALL))
            await asyncio.sleep(0.5)
            mine = set(guards_of(os.getpid())) - others
            (agent,) = [pid for supervisor in mine for pid in guards_of(supervisor)]
            os.kill(agent, signal.SIGKILL)
            with pytest.raises(SandboxError, match="gone"):
                await running
            with pytest.raises(SandboxError, match="gone"):
                await workspace.execute(TRUE)
        finally:
            await workspace.close()

    asyncio.run(run())


def test_a_group_that_an_engine_has_removed_is_not_the_guards_end(tmp_path: Path) -> None:
    (tmp_path / "self").write_text("1:memory:/gone\n")
    (tmp_path / "mounts").write_text(f"cgroup {tmp_path} cgroup rw,memory 0 0\n")
    limits = {"memory_bytes": 1, "disk_bytes": 1, "processes": 1, "seconds": 1}
    ours, theirs = socket.socketpair()
    with ours, theirs:
        supervisor = WorkspaceSupervisor(
            theirs.fileno(), {"agent": -1, "is_hosted": False, "is_using_cgroups": False, "limits": limits}
        )
        supervisor._counting = Cgroup.of(0, table=tmp_path / "mounts", own=tmp_path / "self")
        assert supervisor._counting.has_memory
        Channel(ours.fileno()).send(b"{}")
        supervisor._answer(select.POLLIN)
        assert select.select([ours], [], [], 0)[0] == []
