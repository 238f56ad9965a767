"""Control groups of both versions, on a folder that looks like one, and on what this machine has."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from proctor.domain.sandbox import Program, SandboxResult
from proctor.sandboxes.inside.cgroups import Cgroup, sweep
from proctor.sandboxes.pool import SandboxPool
from sandboxes.conftest import SMALL, within


@pytest.fixture
def unified(tmp_path: Path) -> tuple[Path, Path, Path]:
    top = tmp_path / "cgroup"
    own = top / "user.slice"
    own.mkdir(parents=True)
    for folder in (top, own):
        (folder / "cgroup.controllers").write_text("cpu memory pids\n")
        (folder / "cgroup.subtree_control").write_text("")
    table, self_ = tmp_path / "mounts", tmp_path / "self"
    table.write_text(f"cgroup2 {top} cgroup2 rw 0 0\n")
    self_.write_text("0::/user.slice\n")
    return own, table, self_


def test_the_second_version_is_used_where_it_is_delegated(unified: tuple[Path, Path, Path]) -> None:
    own, table, self_ = unified
    group = Cgroup("1-candidate", table=table, own=self_)
    folder = own / "proctor-1-candidate"
    assert group.folders == {"unified": folder}
    assert (own / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"
    group.limit(1000, 7)
    assert (folder / "memory.max").read_text() == "1000"
    assert (folder / "memory.swap.max").read_text() == "0"
    assert (folder / "pids.max").read_text() == "7"
    assert (folder / "cpu.max").read_text() == "200000 100000"
    (folder / "cgroup.events").write_text("populated 1\nfrozen 1\n")
    assert group.freeze()
    assert (folder / "cgroup.freeze").read_text() == "1"
    group.thaw()
    assert (folder / "cgroup.freeze").read_text() == "0"
    (folder / "memory.events").write_text("low 0\noom 2\noom_kill 3\n")
    (folder / "pids.events").write_text("max 4\n")
    (folder / "cpu.stat").write_text("usage_usec 1500000\n")
    assert (group.memory_kills(), group.refused_forks(), group.cpu_seconds()) == (3, 4, 1.5)


def test_a_second_version_that_cannot_be_limited_is_not_relied_on(
    unified: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Controllers can be listed by a group whose files are not ours to write."""
    own, table, self_ = unified
    (tmp_path / "memory").mkdir()
    table.write_text(table.read_text() + f"cgroup {tmp_path / 'memory'} cgroup rw,memory 0 0\n")
    made = Path.mkdir

    def mkdir(path: Path, *args: Any, **kwargs: Any) -> None:
        made(path, *args, **kwargs)
        if path.parent == own:
            (path / "memory.max").mkdir()  # what cannot be written, whoever tries

    monkeypatch.setattr(Path, "mkdir", mkdir)
    group = Cgroup("1-candidate", table=table, own=self_)
    assert not group.is_unified
    assert set(group.folders) == {"memory"}


def test_a_group_made_by_somebody_else_is_read_and_left_alone(unified: tuple[Path, Path, Path]) -> None:
    own, table, self_ = unified
    (own / "memory.events").write_text("oom_kill 2\n")
    (own / "pids.events").write_text("max 1\n")
    (own / "cpu.stat").write_text("usage_usec 250000\n")
    group = Cgroup.of(0, table=table, own=self_)
    assert (group.memory_kills(), group.refused_forks(), group.cpu_seconds()) == (2, 1, 0.25)
    group.forget()
    assert own.is_dir()
    assert not Cgroup.of(0, table=table, own=own / "nobody").has_memory


def test_a_group_of_the_first_version_made_by_somebody_else_is_found(tmp_path: Path) -> None:
    table, self_ = tmp_path / "mounts", tmp_path / "self"
    (tmp_path / "memory" / "engine" / "one").mkdir(parents=True)
    (tmp_path / "memory" / "engine" / "one" / "memory.oom_control").write_text("oom_kill 3\n")
    table.write_text(f"cgroup {tmp_path / 'memory'} cgroup rw,memory 0 0\n")
    self_.write_text("4:memory:/engine/one\n0::/\n")
    group = Cgroup.of(0, table=table, own=self_)
    assert group.memory_kills() == 3
    assert group.cpu_seconds() is None
    group.forget()


def test_this_machines_groups_hold_a_run_and_are_gone_afterwards() -> None:
    """No fake: whatever version this machine lets us write is really used, with the limit that was asked for."""
    probe = Cgroup(f"{os.getpid()}-probe")
    has_memory, tops = probe.has_memory, [folder.parent for folder in probe.folders.values()]
    probe.remove()
    if not has_memory:
        pytest.skip("no memory controller to write here")

    def groups() -> list[Path]:
        mine = {str(pid) for pid in Path(f"/proc/{os.getpid()}/task").glob("*/children")}
        children = "".join(Path(path).read_text() for path in mine).split()
        return [folder for top in tops for pid in children for folder in top.glob(f"proctor-{pid}-*")]

    async def look(sandbox: SandboxPool) -> tuple[SandboxResult, list[str], list[Path]]:
        done = await sandbox.run(Program("print(open('/proc/self/cgroup').read())"), SMALL)
        limits = [
            (folder / name).read_text()
            for folder in groups()
            for name in ("memory.limit_in_bytes", "memory.max")
            if (folder / name).exists()
        ]
        return done, limits, groups()

    done, limits, used = within("namespaces", look, parallel=1)
    assert done.sandbox["enforced_by"]["memory"] == "cgroup"
    assert any(SMALL.memory_bytes <= int(limit) < 2 * SMALL.memory_bytes for limit in limits if limit.strip() != "max")
    assert used
    assert not [folder for folder in used if folder.exists()]


def test_the_first_version_is_used_where_it_is_mounted(tmp_path: Path) -> None:
    table, self_ = tmp_path / "mounts", tmp_path / "self"
    lines = []
    for name in ("memory", "pids", "cpu,cpuacct", "freezer", "blkio"):
        (tmp_path / name).mkdir()
        lines.append(f"cgroup {tmp_path / name} cgroup rw,{name} 0 0\n")
    table.write_text("".join(lines))
    self_.write_text("4:memory:/\n")
    group = Cgroup("2-judge", table=table, own=self_)
    assert set(group.folders) == {"memory", "pids", "cpu", "cpuacct", "freezer"}
    assert (group.folders["cpu"] / "cpu.cfs_quota_us").read_text() == "200000"
    (group.folders["memory"] / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 5\n")
    (group.folders["cpuacct"] / "cpuacct.usage").write_text("2500000000\n")
    assert group.memory_kills() == 5
    assert group.cpu_seconds() == 2.5


def test_without_control_groups_nothing_is_promised(tmp_path: Path) -> None:
    table = tmp_path / "mounts"
    table.write_text("proc /proc proc rw 0 0\n")
    group = Cgroup("3-x", table=table)
    assert not group.has_memory
    assert not group.has_processes
    assert group.cpu_seconds() is None
    assert not group.freeze()
    group.thaw()
    group.limit(1, 1)
    group.remove()


def test_groups_of_a_dead_supervisor_are_swept(tmp_path: Path) -> None:
    table = tmp_path / "mounts"
    table.write_text(f"cgroup {tmp_path} cgroup rw,memory 0 0\n")
    dead, alive = tmp_path / "proctor-4194305-judge", tmp_path / "proctor-1-judge"
    dead.mkdir()
    alive.mkdir()
    sweep(table)
    assert not dead.exists()
    assert alive.exists()


def test_a_group_is_frozen_whole_and_goes_on() -> None:
    group = Cgroup(f"{os.getpid()}-frozen")
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            group.attach(process.pid)
            if not group.freeze():
                pytest.skip("no freezer to write here")
            before = group.cpu_seconds()
            process.send_signal(signal.SIGCONT)
            time.sleep(0.3)
            assert group.cpu_seconds() == before
            group.thaw()
            while group.cpu_seconds() == before:
                time.sleep(0.01)
        finally:
            group.thaw()
            process.kill()
    group.remove()


def test_a_group_we_are_in_ourselves_is_never_frozen() -> None:
    group = Cgroup.of(os.getpid())
    assert not group.freeze()
    group.forget()
