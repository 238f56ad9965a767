"""The warm backend: Linux namespaces, system call filter and control groups, without any tool to install."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from proctor.domain.errors import SandboxError
from proctor.domain.sandbox import Check, Ending, Execution, Program, SandboxLimits, Verdict
from proctor.sandboxes.orders import check_order, execution_of, program_order, verdict_of
from proctor.sandboxes.slot import Slot, cores

FIRST_UID = 60_001
INSIDE_UID = 1_000
_SYSTEM = ("/usr", "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
_TOP = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_BASES = ("/mnt", "/media", "/srv", "/opt", "/run", "/tmp")  # noqa: S108  only a place to mount over, in a namespace of its own
_PRIVATE = ("/home", "/root", "/var", "/etc", "/work")
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/tmp/work",
    "TMPDIR": "/tmp",
    "PYTHONHASHSEED": "0",  # the same program gets the same verdict every time
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
}


def layout() -> dict[str, Any]:
    """What a sandbox sees of this machine: the system and this interpreter, read-only, and nothing of anyone's own."""
    binds = [path for path in _SYSTEM if Path(path).exists()]
    links: list[tuple[str, str]] = []
    for top in _TOP:
        path = Path(top)
        if path.is_symlink():
            links.append((top, str(path.readlink())))
        elif path.is_dir():
            binds.append(top)
    prefix = str(Path(sys.base_prefix).resolve())
    if not prefix.startswith("/usr"):
        binds.append(prefix)
    base = next((at for at in _BASES if Path(at).is_dir() and not any(f"{bind}/".startswith(f"{at}/") for bind in binds)), None)
    if base is None:
        raise SandboxError("No folder to build the sandbox's file system on: create /mnt.")
    return {"base": base, "binds": [(path, path) for path in binds], "links": links, "uid": INSIDE_UID}


def interpreter() -> str:
    return os.path.realpath(sys.executable)


class NamespaceSandbox:
    """Thousands of small executions: per core a supervisor, and warm parents that fork inside the sandbox."""

    name = "namespaces"
    is_isolated = True

    def __init__(self, *, parallel: int | None = None, is_using_cgroups: bool = True, is_notifying: bool = True) -> None:
        self.parallel = parallel or cores()
        self._options = {"is_using_cgroups": is_using_cgroups, "is_notifying": is_notifying}
        self._idle: list[tuple[int, Slot]] = []
        self._numbers = list(range(self.parallel))
        self._gate = asyncio.Semaphore(self.parallel)
        self._described: dict[str, Any] | None = None
        self._is_closed = False

    def _config(self, number: int) -> dict[str, Any]:
        return {
            "layout": layout(),
            "environment": ENVIRONMENT,
            "host_uid": FIRST_UID + 2 * number,
            **self._options,
        }

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[Slot]:
        """A slot for one run; one that failed or was interrupted is closed, never used again."""
        async with self._gate:
            if self._is_closed:
                raise SandboxError("The sandbox is closed.")
            number, slot = self._idle.pop() if self._idle else (self._numbers.pop(), None)
            try:
                slot = slot or await Slot.open(self._config(number))
                yield slot
            except BaseException:
                self._numbers.append(number)
                if slot is not None:
                    await slot.close()
                raise
            if self._is_closed:
                await slot.close()
            else:
                self._idle.append((number, slot))

    async def _ask(self, order: Mapping[str, Any], limits: SandboxLimits) -> dict[str, Any]:
        async with self._slot() as slot:
            if self._described is None:
                self._described = await slot.ask({"op": "describe"}, timeout_seconds=0)
            return await slot.ask(order, timeout_seconds=limits.wall_seconds)

    def _record(self, limits: SandboxLimits) -> dict[str, Any]:
        return {"backend": self.name, "is_isolated": True, "enforced_by": self._described, "limits": asdict(limits)}

    async def run(self, program: Program, limits: SandboxLimits = SandboxLimits()) -> Execution:  # noqa: B008  frozen
        answer = await self._ask(program_order(program, limits, interpreter()), limits)
        return execution_of(answer, self._record(limits))

    async def check(self, check: Check, limits: SandboxLimits = SandboxLimits()) -> Verdict:  # noqa: B008  frozen
        order = check_order(check, limits)
        answer = await self._ask(order, limits)
        if answer["judge_is_lost"]:
            # Once may be the machine; twice is the submission's answers, and those are its own.
            answer = await self._ask(order, limits)
            if answer["judge_is_lost"]:
                answer["ending"] = Ending.VIOLATION
        return verdict_of(answer, check, self._record(limits))

    async def close(self) -> None:
        self._is_closed = True
        slots, self._idle = self._idle, []
        for _, slot in slots:
            await slot.close()
