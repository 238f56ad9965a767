"""Control groups, first or second version, as far as this machine lets us write them."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

_CONTROLLERS = ("memory", "pids", "cpu", "cpuacct", "freezer")
_PREFIX = "proctor-"
CPUS = 2
"""How many processors a group may keep busy at a time."""
_PERIOD_MICROSECONDS = 100_000
_PASSES, _PAUSE_SECONDS = 400, 0.02
"""How often and how long a group is waited for whose last members are dying: on a busy machine that takes a while."""


def _mounts(table: Path) -> tuple[Path | None, dict[str, Path]]:
    """Where the second version is mounted, and the first version's controllers."""
    unified: Path | None = None
    legacy: dict[str, Path] = {}
    for line in table.read_text().splitlines():
        _, point, kind, options, *_ = line.split()
        if kind == "cgroup2":
            unified = Path(point)
        elif kind == "cgroup":
            legacy.update({name: Path(point) for name in options.split(",") if name in _CONTROLLERS})
    return unified, legacy


def _unified_parent(mount: Path, own: Path) -> Path | None:
    """A folder whose children get memory and pids: our own group where it is delegated to us, else the top."""
    relative = next((line[3:] for line in own.read_text().splitlines() if line.startswith("0::")), "/")
    for parent in (mount / relative.lstrip("/"), mount):
        with contextlib.suppress(OSError):
            if not {"memory", "pids"} <= set((parent / "cgroup.controllers").read_text().split()):
                continue
            (parent / "cgroup.subtree_control").write_text("+memory +pids +cpu")
            return parent
    return None


class Cgroup:
    """One group for one warm parent; every child is born into it, so an execution attaches nothing."""

    def __init__(
        self,
        name: str,
        *,
        is_used: bool = True,
        table: Path = Path("/proc/mounts"),
        own: Path = Path("/proc/self/cgroup"),
    ) -> None:
        self.folders: dict[str, Path] = {}
        self._is_shared = False
        """Whether this very process is a member: what stops the group would stop us."""
        unified, legacy = _mounts(table) if is_used else (None, {})
        parent = _unified_parent(unified, own) if unified else None
        self.is_unified = parent is not None and self._make("unified", parent, name) and self._can_limit()
        for controller, top in legacy.items() if not self.is_unified else ():
            self._make(controller, top, name)
        self._limit_cpus()
        self._limits: dict[str, int] = {}
        self._open: dict[Path, int] = {}

    def _make(self, controller: str, top: Path, name: str) -> bool:
        folder = top / f"{_PREFIX}{name}"
        try:
            if folder not in self.folders.values():  # controllers may be mounted together
                folder.mkdir()
        except OSError:
            return False
        self.folders[controller] = folder
        return True

    def _can_limit(self) -> bool:
        """The second version's controllers may be listed and still not be ours to set: tried, not assumed."""
        folder = self.folders["unified"]
        try:
            for file in ("memory.max", "pids.max"):
                (folder / file).write_text("max")
        except OSError:
            with contextlib.suppress(OSError):
                folder.rmdir()
            del self.folders["unified"]
            return False
        return True

    @classmethod
    def of(cls, pid: int, *, table: Path = Path("/proc/mounts"), own: Path | None = None) -> Cgroup:
        """The group somebody else made for this process, to be read and not to be removed; empty where it is unseen."""
        group = cls("", is_used=False)
        try:
            lines = (own or Path(f"/proc/{pid}/cgroup")).read_text().splitlines()
        except OSError:
            return group
        unified, legacy = _mounts(table)
        for line in lines:
            _, names, path = line.split(":", 2)
            for name in names.split(","):
                if name in legacy:
                    group.folders[name] = legacy[name] / path.lstrip("/")
            if not names and unified and (unified / path.lstrip("/") / "memory.events").exists():
                group.folders, group.is_unified = {"unified": unified / path.lstrip("/")}, True
                break
        ours = {line.split(":", 2)[2] for line in Path("/proc/self/cgroup").read_text().splitlines()}
        theirs = {line.split(":", 2)[2].rstrip("/") for line in lines}
        group._is_shared = any(f"{one}/".startswith(f"{other}/") for one in ours for other in theirs if other)
        return group

    def _read(self, file: Path) -> str:
        """The file's text; it is kept open, because every run asks again."""
        fd = self._open.get(file)
        if fd is None:
            fd = self._open[file] = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        return os.pread(fd, 4096, 0).decode()

    @property
    def has_memory(self) -> bool:
        return self.is_unified or "memory" in self.folders

    @property
    def has_processes(self) -> bool:
        return self.is_unified or "pids" in self.folders

    def _file(self, controller: str, legacy: str, unified: str) -> Path | None:
        if self.is_unified:
            return self.folders["unified"] / unified
        return self.folders[controller] / legacy if controller in self.folders else None

    def attach(self, pid: int) -> None:
        for folder in self.folders.values():
            (folder / "cgroup.procs").write_text(str(pid))

    def members(self) -> list[int]:
        """Who lives in the group."""
        folder = next(iter(self.folders.values()), None)
        return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()] if folder else []

    def occupants(self) -> int:
        """How many count against the limit of processes: also those that have ended and nobody has waited for."""
        file = self._file("pids", "pids.current", "pids.current")
        return int(file.read_text()) if file else len(self.members())

    def used_bytes(self) -> int:
        file = self._file("memory", "memory.usage_in_bytes", "memory.current")
        return int(file.read_text()) if file else 0

    def limit(self, memory_bytes: int, processes: int) -> None:
        """Set what differs from the last time."""
        if self._limits.get("memory") != memory_bytes:
            self._limit_memory(memory_bytes)
            self._limits["memory"] = memory_bytes
        if self._limits.get("pids") != processes:
            file = self._file("pids", "pids.max", "pids.max")
            if file:
                file.write_text(str(processes))
            self._limits["pids"] = processes

    def _limit_memory(self, value: int) -> None:
        if self.is_unified:
            (self.folders["unified"] / "memory.max").write_text(str(value))
            with contextlib.suppress(OSError):
                (self.folders["unified"] / "memory.swap.max").write_text("0")
            return
        folder = self.folders.get("memory")
        if folder is None:
            return
        # With and without swap: the smaller must be lowered first and raised last.
        both = [folder / "memory.limit_in_bytes", folder / "memory.memsw.limit_in_bytes"]
        for file in both if value < self._limits.get("memory", 1 << 62) else reversed(both):
            with contextlib.suppress(FileNotFoundError):
                file.write_text(str(value))

    def _limit_cpus(self) -> None:
        """Where there is a controller for it; a machine may have fewer processors than that."""
        quota = CPUS * _PERIOD_MICROSECONDS
        with contextlib.suppress(OSError):
            if self.is_unified:
                (self.folders["unified"] / "cpu.max").write_text(f"{quota} {_PERIOD_MICROSECONDS}")
            elif "cpu" in self.folders:
                (self.folders["cpu"] / "cpu.cfs_period_us").write_text(str(_PERIOD_MICROSECONDS))
                (self.folders["cpu"] / "cpu.cfs_quota_us").write_text(str(quota))

    def freeze(self) -> bool:
        """Stop everyone in the group, whatever signals they send or get; False where that cannot be done."""
        if self._is_shared or self._file("freezer", "freezer.state", "cgroup.freeze") is None:
            return False
        try:
            for _ in range(_PASSES):
                self._write_freezer(is_frozen=True)
                if self._is_frozen():
                    return True
                time.sleep(_PAUSE_SECONDS / 10)
        except OSError:
            pass  # not ours to write: said below
        self.thaw()
        return False

    def thaw(self) -> None:
        """Let everyone go on; harmless where nobody was stopped."""
        with contextlib.suppress(OSError):
            self._write_freezer(is_frozen=False)

    def _write_freezer(self, *, is_frozen: bool) -> None:
        file = self._file("freezer", "freezer.state", "cgroup.freeze")
        words = ("0", "1") if self.is_unified else ("THAWED", "FROZEN")
        if file is not None:
            file.write_text(words[is_frozen])

    def _is_frozen(self) -> bool:
        if self.is_unified:
            return "frozen 1" in (self.folders["unified"] / "cgroup.events").read_text()
        return (self.folders["freezer"] / "freezer.state").read_text().strip() == "FROZEN"

    def memory_kills(self) -> int:
        return self._count("memory", "memory.oom_control", "memory.events", "oom_kill")

    def refused_forks(self) -> int:
        return self._count("pids", "pids.events", "pids.events", "max")

    def _count(self, controller: str, legacy: str, unified: str, key: str) -> int:
        file = self._file(controller, legacy, unified)
        if file is None:
            return 0
        for line in self._read(file).splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
        return 0

    def cpu_seconds(self) -> float | None:
        """Time used by everything that ever lived in the group."""
        if self.is_unified:
            return self._count("", "", "cpu.stat", "usage_usec") / 1e6
        folder = self.folders.get("cpuacct")
        return int(self._read(folder / "cpuacct.usage")) / 1e9 if folder else None

    def forget(self) -> None:
        """Close what was kept open for reading."""
        for fd in self._open.values():
            os.close(fd)
        self._open = {}

    def remove(self) -> None:
        """Take the folders away; whoever is still inside gets a moment to die."""
        self.forget()
        for folder in self.folders.values():
            for _ in range(_PASSES):
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(_PAUSE_SECONDS)
                else:
                    break
        self.folders = {}


def sweep(table: Path = Path("/proc/mounts")) -> None:
    """Remove empty groups whose supervisor was killed before it could."""
    unified, legacy = _mounts(table)
    for top in {*legacy.values(), *([unified] if unified else [])}:
        for folder in top.glob(f"{_PREFIX}*"):
            owner = folder.name.removeprefix(_PREFIX).split("-")[0]
            if owner.isdigit() and not _is_alive(int(owner)):
                for file, word in (("freezer.state", "THAWED"), ("cgroup.freeze", "0")):
                    with contextlib.suppress(OSError):
                        if (folder / file).exists():  # whoever is frozen cannot even die
                            (folder / file).write_text(word)
                with contextlib.suppress(OSError):
                    folder.rmdir()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
