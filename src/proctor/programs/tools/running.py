"""Runs a tool outside the workspace on files nobody executes: limits, a deadline, no configuration but ours."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from proctor.domain.message import Json
from proctor.programs.tools.scratch import scratch

TOOL_SECONDS = 60.0
MAX_FINDINGS = 100
MEMORY_BYTES = 2 << 30
_MAX_OUTPUT = 16 << 20
_PIECE = 1 << 16
_LAST_SECONDS = 5.0
# A tool ends with whoever started it, even by kill -9; one whose starter is gone already does not begin.
_LIMITED = """
import ctypes, os, resource, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit("whoever wanted this has ended")
memory = int(sys.argv[2])
if memory:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
os.execv(sys.argv[3], sys.argv[3:])
"""
_SEVERITIES = ("CRITICAL", "HIGH", "MEDIUM", "LOW")


@dataclass(frozen=True, slots=True)
class Copy:
    """A program's own source files, alone in a folder: no settings of its own came along."""

    folder: Path
    files: Mapping[str, bytes]
    lines: int
    """Lines of code, without empty ones and comments."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Each file for a command line: tools leave folders of some names out, and a name may begin like an option."""
        return tuple(f"./{path}" for path in self.files)

    def only(self, paths: Iterable[str]) -> Copy:
        """Some of the files, in the same folder."""
        files = {path: self.files[path] for path in paths}
        return Copy(self.folder, files, _lines(files))


class ToolError(Exception):
    """A tool that did not do its work, and why."""


@contextlib.contextmanager
def copied(files: Mapping[str, bytes]) -> Iterator[Copy]:
    with scratch() as folder:
        for path, content in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        yield Copy(folder, dict(files), _lines(files))


def _lines(files: Mapping[str, bytes]) -> int:
    return sum(map(code_lines, files.values()))


def code_lines(content: bytes) -> int:
    lines = (line.strip() for line in content.splitlines())
    return sum(bool(line) and not line.startswith((b"#", b"//", b"*", b"/*")) for line in lines)


def installed(package: str) -> str | None:
    """The version of a tool that is a Python package; None when it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


async def run_tool(
    command: Sequence[str],
    folder: Path,
    seconds: float = TOOL_SECONDS,
    *,
    environment: Mapping[str, str] = MappingProxyType({}),
    memory_bytes: int | None = MEMORY_BYTES,
) -> tuple[int, bytes, bytes]:
    """Exit code, standard output and standard error; ToolError when it took too long, said too much or was ended.

    It sees nothing of our environment but what is given here. Without `memory_bytes` it may take what it likes:
    Node.js reserves far more addresses than it uses.
    """
    plain = {"PATH": os.defpath, "HOME": str(folder), "LANG": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", "-c", _LIMITED, str(os.getpid()), str(memory_bytes or 0)),
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env={**plain, **environment},
        start_new_session=True,
    )
    said = [asyncio.create_task(_heard(stream, process)) for stream in (process.stdout, process.stderr)]
    try:
        async with asyncio.timeout(seconds):
            out, err = await asyncio.gather(*said)
            await process.wait()
    except TimeoutError:
        raise ToolError(f"it took longer than {seconds:g} s") from None
    finally:
        _kill(process)
        await asyncio.wait(said, timeout=_LAST_SECONDS)  # a pipe that nobody empties may keep its process from ending
        for one in said:
            one.cancel()
        await process.wait()
    if len(out) > _MAX_OUTPUT or len(err) > _MAX_OUTPUT:
        raise ToolError(f"it printed more than {_MAX_OUTPUT} bytes")
    if process.returncode is None or process.returncode < 0:
        raise ToolError(f"it was ended by signal {-(process.returncode or 0)}")
    return process.returncode, out, err


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)


async def _heard(stream: asyncio.StreamReader | None, process: asyncio.subprocess.Process) -> bytes:
    """All it says there; one that says too much is ended: of hostile files there may be no end to say."""
    data = bytearray()
    while stream is not None and (part := await stream.read(_PIECE)):
        if len(data) <= _MAX_OUTPUT:
            data += part
        else:
            _kill(process)
    return bytes(data)


def module(name: str, *arguments: str) -> tuple[str, ...]:
    """A Python tool, seeing neither the working folder nor the user's settings."""
    return (sys.executable, "-I", "-B", "-m", name, *arguments)


def script(name: str, *arguments: str) -> tuple[str, ...]:
    """A reader of our own, from the folder of this file."""
    return (sys.executable, "-I", "-B", str(Path(__file__).with_name(name)), *arguments)


def ran(version: str | None, **fields: Any) -> dict[str, Json]:
    return {"status": "ran", "version": version, **fields}


def not_run(reason: str, version: str | None = None) -> dict[str, Json]:
    """The tool would have served, and did not: stated, and unscored."""
    return {"status": "not run", "version": version, "reason": reason}


def not_applicable(reason: str) -> dict[str, Json]:
    """There is nothing for the tool to read."""
    return {"status": "not applicable", "reason": reason}


def absent(package: str) -> dict[str, Json]:
    return not_run(f"{package} is not installed; it comes with proctor[problems]")


def found(findings: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """How many there are, and the worst of them: harmless ones, however many, crowd no dangerous one out."""
    ordered = sorted(findings, key=lambda one: (_rank(one), str(one["file"]), int(one.get("line") or 0)))
    return {"count": len(ordered), "findings": [dict(one) for one in ordered[:MAX_FINDINGS]]}


def _rank(finding: Mapping[str, Json]) -> int:
    severity = finding.get("severity")
    return _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES)


def relative(path: str, folder: Path) -> str:
    """A tool's way of naming a file, as the program's author knows it."""
    plain = Path(path)
    with contextlib.suppress(ValueError):
        plain = plain.relative_to(folder)
    return str(plain).removeprefix("./")
