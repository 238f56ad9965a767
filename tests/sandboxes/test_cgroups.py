"""Control groups of both versions, on a folder that looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.sandboxes.inside.cgroups import Cgroup, sweep


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
    (folder / "memory.events").write_text("low 0\noom 2\noom_kill 3\n")
    (folder / "pids.events").write_text("max 4\n")
    (folder / "cpu.stat").write_text("usage_usec 1500000\n")
    assert (group.memory_kills(), group.refused_forks(), group.cpu_seconds()) == (3, 4, 1.5)


def test_the_first_version_is_used_where_it_is_mounted(tmp_path: Path) -> None:
    table, self_ = tmp_path / "mounts", tmp_path / "self"
    lines = []
    for name in ("memory", "pids", "cpuacct", "freezer"):
        (tmp_path / name).mkdir()
        lines.append(f"cgroup {tmp_path / name} cgroup rw,{name} 0 0\n")
    table.write_text("".join(lines))
    self_.write_text("4:memory:/\n")
    group = Cgroup("2-judge", table=table, own=self_)
    assert set(group.folders) == {"memory", "pids", "cpuacct"}
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
