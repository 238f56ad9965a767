"""docker and podman, with an engine of our own: the same suite and the same promises as every other backend."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from proctor.cli.sandbox import sandbox
from proctor.domain.errors import SandboxError
from proctor.domain.sandbox import MIB, Case, Check, Program, SandboxResult, Verdict
from proctor.sandboxes.backends import create
from proctor.sandboxes.images import IMAGE
from proctor.sandboxes.orders import program_order
from sandboxes.conftest import SMALL, processes_with, within
from sandboxes.engines import engine
from sandboxes.forgeries import FORGERIES
from sandboxes.hostile import PROGRAMS
from sandboxes.suites import escape, forged, judge_all, mounts, run_suite
from sandboxes.supervisors import supervisor

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short, for the path of a socket may have a hundred characters and no more."""
    made = Path(tempfile.mkdtemp(prefix="pe-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.mark.parametrize("name", ["docker", "podman"])
def test_an_engine_contains_every_program_and_believes_no_forgery(
    name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One test, because an engine takes seconds to start and is started once."""
    with engine(name, folder, monkeypatch):
        suite = run_suite(name, tmp_path, parallel=3)
        escaped = {one.name: escape(one, suite.results[one.name]) for one in PROGRAMS}
        assert {key: why for key, why in escaped.items() if why} == {}
        assert not any(suite.left.values()), suite.left
        assert _mounts(folder) == []
        links = suite.results["leaves_links"]
        assert isinstance(links, SandboxResult)
        assert links.files == {"fine.txt": b"fine"}
        calls = suite.results["calls_dangerous_system_calls"]
        assert isinstance(calls, SandboxResult)
        assert {"bpf", "perf_event_open", "keyctl", "init_module", "memfd_create"} <= set(calls.violations)
        # The engine has no part in a verdict: one of the two is asked about every forgery, the other about some.
        every = 1 if name == "docker" else 4
        verdicts: dict[str, Verdict | Exception] = within(name, lambda made: judge_all(made, every), parallel=2)
        gained = {key: forged(key, verdicts[key]) for key in verdicts if key in FORGERIES}
        assert len(gained) >= 10
        assert {key: why for key, why in gained.items() if why} == {}
        for key in ("right before", "right after"):
            right = verdicts[key]
            assert isinstance(right, Verdict), right
            assert right.passed, right
        _a_supervisor_reuses_and_replaces(name)
        _killing_the_harness_leaves_nothing(name, tmp_path)
        _image_can_be_seen_and_is_missed(name)
        assert not _listed(name)
    assert not [line for line in mounts() if str(folder) in line]
    assert not processes_with(str(folder))


def _a_supervisor_reuses_and_replaces(name: str) -> None:
    """Nothing of one run is there for the next, and a container that ran out of memory is not used again."""
    limits = replace(SMALL, wall_seconds=60)
    leave = "import os\nopen('/tmp/left', 'w'); os.mkdir('/tmp/work/x'); print(os.getuid())"
    look = "import os\nprint(os.listdir('/tmp'), os.listdir('.'), os.getppid() > 1)"
    with supervisor(create(name)) as asked:
        assert int(asked.run(Program(leave), limits).stdout) >= 60_001
        assert asked.run(Program(look), limits).stdout == b"['work'] [] True\n"
        eaten = asked.run(Program("kept = []\nwhile True: kept.append(bytearray(8 << 20))"), limits)
        assert eaten.ending == "memory"
        talked = asked.run(Program("import socket\nsocket.socket().bind(('127.0.0.1', 7000))", loopback=True), limits)
        assert talked.succeeded, talked.stderr
        check = Check("def f(x): return x + 1", (Case("one", "assert f(1) == 2"),))
        assert asked.check(check, limits).passed
        assert asked.check(check, replace(limits, memory_bytes=200 * MIB)).passed
        slept = asked.run(Program("import time; time.sleep(60)"), replace(limits, wall_seconds=1))
        assert slept.ending == "timeout"
    broken = create(name)
    broken.config["contained"]["candidate"][-1] = "/no/such/file"
    with supervisor(broken) as asked:
        assert "ended at once" in asked.ask(program_order(Program("print(1)"), limits, "python3"))["fault"]
    broken.config["contained"]["candidate"][1] = "no-such-command"
    with supervisor(broken) as asked:
        assert "no container" in asked.ask(program_order(Program("print(1)"), limits, "python3"))["fault"]


def _image_can_be_seen_and_is_missed(name: str) -> None:
    there = CliRunner().invoke(sandbox, ["image", "status", "--engine", name, "--json"])
    assert there.exit_code == 0, there.output
    assert json.loads(there.stdout)["size_bytes"] > 1 << 20
    subprocess.run([name, "image", "rm", "--force", IMAGE], check=True, capture_output=True)
    assert CliRunner().invoke(sandbox, ["image", "status", "--engine", name]).exit_code == 1
    with pytest.raises(SandboxError, match=f"image build --engine {name}"):
        create(name)


def _mounts(folder: Path) -> list[str]:
    """File systems of containers of this engine; an engine takes a moment to unmount what it has removed."""
    deadline = time.monotonic() + 10
    while found := [line for line in mounts() if str(folder) in line and line.startswith(("overlay", "shm", "nsfs"))]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.2)
    return found


def _listed(name: str) -> list[str]:
    return subprocess.run([name, "ps", "-aq"], capture_output=True, text=True, check=True).stdout.split()


def _killing_the_harness_leaves_nothing(name: str, tmp_path: Path) -> None:
    script = tmp_path / "harness.py"
    script.write_text(
        f"""
import asyncio
from proctor.domain.sandbox import Program, SandboxLimits
from proctor.sandboxes.backends import create
async def main():
    sandbox = create({name!r}, parallel=1)
    limits = SandboxLimits(wall_seconds=300, cpu_seconds=300)
    await sandbox.run(Program("print(1)"), limits)
    task = asyncio.create_task(sandbox.run(Program("import time; time.sleep(300)"), limits))
    await asyncio.sleep(1)
    print("running", flush=True)
    await task
asyncio.run(main())
"""
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, start_new_session=True) as harness:
        assert harness.stdout is not None
        assert harness.stdout.readline() == b"running\n"
        assert _listed(name)
        harness.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and _listed(name):
        time.sleep(0.2)
    assert not _listed(name)
