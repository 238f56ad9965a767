"""Hostile programs in every backend there is: contained, reported as what they were, nothing left behind."""

from __future__ import annotations

import asyncio
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from proctor.domain.sandbox import Execution, Program
from proctor.sandboxes.pool import Pool
from sandboxes.conftest import SMALL, processes_with, within
from sandboxes.hostile import OUTPUTS, PROGRAMS, Hostile

BACKENDS = ("namespaces", "bubblewrap", "firejail", "nsjail")
pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True)
class Suite:
    backend: str
    results: dict[str, Execution | Exception]
    before: dict[str, Any]
    after: dict[str, Any]


def _traces() -> dict[str, Any]:
    """What a run could leave on this machine; groups count whose supervisor is gone, for others may be at work."""
    groups = [path for path in Path("/sys/fs/cgroup").glob("**/proctor-*") if path.is_dir()]
    written = ("/tmp/work", "/tmp/.shm", "/tmp/0", "/dev/shm/0", "/x", "/usr/bin/x", "/etc/x", "/dev/x", "/bin/x")
    return {
        "mounts": Path("/proc/self/mounts").read_text(),
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


@pytest.fixture(scope="module", params=BACKENDS)
def suite(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    secret = tmp_path_factory.mktemp("harness") / "secret.txt"
    secret.write_text("hunter2")
    os.environ["PROCTOR_TEST_SECRET"] = "hunter2"
    name = f"proctor-test-{os.getpid()}"
    before = _traces()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as quiet:
        quiet.bind(f"\0{name}")
        quiet.listen()
        head = f"SECRET_PATH={str(secret)!r}; TCP_PORT={server.getsockname()[1]}; ABSTRACT_NAME={name!r}\n"
        try:
            results = within(request.param, lambda sandbox: _run_all(sandbox, head))
        finally:
            del os.environ["PROCTOR_TEST_SECRET"]
    return Suite(request.param, results, before, _traces())


def test_there_are_at_least_forty_programs() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS) >= 40


@pytest.mark.parametrize("hostile", PROGRAMS, ids=lambda hostile: hostile.name)
def test_a_hostile_program_is_contained(suite: Suite, hostile: Hostile) -> None:
    done = suite.results[hostile.name]
    assert isinstance(done, Execution), done
    assert done.stdout.startswith(b"ran"), f"it never ran: {done.stderr[-500:]!r}"
    assert b"BREACH" not in done.stdout, done.stdout
    assert done.ending in hostile.endings, (done.ending, done.exit_code, done.stderr[-300:])


def test_nothing_is_left_behind(suite: Suite) -> None:
    assert suite.after == suite.before


def test_links_and_odd_files_are_not_brought_back(suite: Suite) -> None:
    done = suite.results["leaves_links"]
    assert isinstance(done, Execution)
    assert done.files == {"fine.txt": b"fine"}
    assert set(done.refused_files) == {"link", "root", "up", "good.txt", "twin.txt"}
    odd = suite.results["leaves_odd_files"]
    assert isinstance(odd, Execution)
    assert odd.files == {"fine.txt": b"fine"}
    many = suite.results["leaves_too_much"]
    assert isinstance(many, Execution)
    assert len(many.files) <= 500
    assert many.refused_files


def test_refused_system_calls_are_counted_by_name(suite: Suite) -> None:
    done = suite.results["calls_dangerous_system_calls"]
    assert isinstance(done, Execution)
    assert {"bpf", "perf_event_open", "keyctl", "init_module", "memfd_create"} <= set(done.violations)
    hammered = suite.results["hammers_refused_calls"]
    assert isinstance(hammered, Execution)
    assert hammered.violations.get("setuid", 0) > 1 or hammered.violations.get("setuid32", 0) > 1


def test_the_network_attempt_is_recorded(suite: Suite) -> None:
    done = suite.results["connects_to_the_host"]
    assert isinstance(done, Execution)
    assert done.violations.get("socket", 0) >= 2
