"""What processes count of themselves: sandboxes and faults as they happened, kept when a process is killed."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from proctor.domain.errors import SandboxError
from proctor.domain.measuring import is_measured, listen, measure, stop_listening
from proctor.domain.sandbox import Program, SandboxLimits
from proctor.domain.workspace import Workspace
from proctor.sandboxes.backends import choose
from proctor.telemetry.process_metrics import FOLDER_VARIABLE, ProcessesCollector, ProcessMetrics, WorkerFiles
from sandboxes.workspaces.conftest import SMALL, TRUE, within

COUNTING = """
import os, sys, time
from proctor.domain.measuring import measure
from proctor.telemetry.process_metrics import measure_worker
measure_worker()
measure("chunk_seconds", 0.4, pool="default", end="finished")
measure("breaker_opened", provider="openai")
measure("breakers_open", 1.0, provider="openai")
print("ready", flush=True)
time.sleep(600)
"""


def series(registry: CollectorRegistry) -> dict[tuple[str, ...], float]:
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {
        (one.name, *(one.labels[name] for name in sorted(one.labels))): one.value
        for family in families
        for one in family.samples
    }


@pytest.fixture
def counted() -> Iterator[CollectorRegistry]:
    registry = CollectorRegistry()
    metrics = ProcessMetrics(registry, "proctor_worker")
    listen(metrics.take)
    yield registry
    stop_listening(metrics.take)
    assert not is_measured()


def test_time_and_violations_of_a_real_sandbox_are_counted(counted: CollectorRegistry) -> None:
    async def run() -> tuple[str, int]:
        sandbox = await choose(parallel=1)
        try:
            limits = SandboxLimits(wall_seconds=20, cpu_seconds=20)
            good = await sandbox.run(Program("print(1)"), limits)
            assert good.succeeded
            bad = await sandbox.run(Program("import socket\nsocket.socket(socket.AF_INET, socket.SOCK_RAW)"), limits)
            return sandbox.name, sum(bad.violations.values())
        finally:
            await sandbox.close()

    try:
        name, violations = asyncio.run(run())
    except SandboxError as error:
        pytest.skip(f"no sandbox here: {error}")
    found = series(counted)
    endings = {key[2]: value for key, value in found.items() if key[0] == "proctor_worker_sandbox_seconds_count"}
    assert endings["exited"] >= 2
    assert {key[1] for key in found if key[0] == "proctor_worker_sandbox_seconds_count"} == {name}
    assert found.get(("proctor_worker_sandbox_violations_total", name), 0.0) >= violations


def test_commands_in_the_workspace_of_a_program_are_counted(counted: CollectorRegistry) -> None:
    async def work(workspace: Workspace) -> None:
        assert (await workspace.execute(TRUE, limits=SMALL)).succeeded
        assert not (await workspace.execute(["sh", "-c", "exit 3"], limits=SMALL)).succeeded

    within("bubblewrap", work)
    assert series(counted)["proctor_worker_sandbox_seconds_count", "bubblewrap", "exited"] == 2


def test_what_a_killed_process_counted_stays_and_its_breakers_do_not(tmp_path: Path) -> None:
    files = WorkerFiles.within(tmp_path)
    registry = CollectorRegistry()
    registry.register(files.collector())
    assert series(registry) == {}
    environment = {**os.environ, **files.environment()}
    processes = [
        subprocess.Popen([sys.executable, "-c", COUNTING], env=environment, stdout=subprocess.PIPE) for _ in range(2)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        registry.register(ProcessesCollector(lambda: [process.pid for process in processes]))
        found = series(registry)
        assert found["proctor_worker_chunk_seconds_count", "finished", "default"] == 2
        assert found["proctor_worker_breakers_open", "openai"] == 2
        assert found["proctor_worker_processes",] == 2
        assert found["proctor_worker_resident_memory_bytes",] > 1e7
        processes[0].kill()
        processes[0].wait(30)
        found = series(registry)
        assert found["proctor_worker_chunk_seconds_count", "finished", "default"] == 2
        assert found["proctor_worker_breaker_opened_total", "openai"] == 2
        assert found["proctor_worker_breakers_open", "openai"] == 1
        assert found["proctor_worker_processes",] == 1
    finally:
        for process in processes:
            process.kill()
            process.wait(30)
            if process.stdout is not None:
                process.stdout.close()
    files.close()
    assert series(CollectorRegistry()) == {}
    assert list(tmp_path.iterdir()) == []


def test_folders_of_processes_that_are_gone_are_removed(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait(30)
    for name in (f"metrics-{gone.pid}", f"metrics-{os.getppid()}", "metrics-of-mine"):
        (tmp_path / name).mkdir()
    files = WorkerFiles.within(tmp_path)
    assert not (tmp_path / f"metrics-{gone.pid}").exists()
    assert (tmp_path / f"metrics-{os.getppid()}").exists()
    assert (tmp_path / "metrics-of-mine").exists()
    files.close()


def test_nothing_is_counted_where_nobody_listens() -> None:
    assert FOLDER_VARIABLE not in os.environ
    measure("chunk_seconds", 1.0, pool="default", end="finished")
    assert not is_measured()
