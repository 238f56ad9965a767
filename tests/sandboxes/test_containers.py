"""docker and podman, with an engine of our own: the same suite and the same promises as every other backend."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.domain.sandbox import Execution, Verdict
from sandboxes.conftest import processes_with, within
from sandboxes.engines import engine
from sandboxes.forgeries import FORGERIES
from sandboxes.hostile import PROGRAMS
from sandboxes.suites import ENGINES, escape, forged, judge_all, mounts, run_suite

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short, for the path of a socket may have a hundred characters and no more."""
    made = Path(tempfile.mkdtemp(prefix=ENGINES))
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
        assert suite.after == suite.before
        assert _mounts(folder) == []
        links = suite.results["leaves_links"]
        assert isinstance(links, Execution)
        assert links.files == {"fine.txt": b"fine"}
        calls = suite.results["calls_dangerous_system_calls"]
        assert isinstance(calls, Execution)
        assert {"bpf", "perf_event_open", "keyctl", "init_module", "memfd_create"} <= set(calls.violations)
        verdicts: dict[str, Verdict | Exception] = within(name, judge_all, parallel=2)
        gained = {key: forged(key, verdicts[key]) for key in FORGERIES}
        assert {key: why for key, why in gained.items() if why} == {}
        for key in ("right before", "right after"):
            right = verdicts[key]
            assert isinstance(right, Verdict), right
            assert right.passed, right
        _killing_the_harness_leaves_nothing(name, tmp_path)
        assert not _listed(name)
    assert not [line for line in mounts() if str(folder) in line]
    assert not processes_with(str(folder))


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
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and _listed(name):
        time.sleep(0.2)
    assert not _listed(name)
