"""What a backend really holds on this machine: every probe must be able to succeed where there is no sandbox."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.errors import SandboxError
from proctor.domain.sandbox import MIB, Case, Check, Ending, Program, Sandbox, SandboxLimits

ASPECTS = (
    "runs",
    "network",
    "files",
    "environment",
    "processes",
    "memory",
    "cpu",
    "time",
    "output",
    "disk",
    "syscalls",
    "verdict",
)
_SMALL = SandboxLimits(
    wall_seconds=8,
    cpu_seconds=2,
    memory_bytes=128 * MIB,
    processes=8,
    file_bytes=4 * MIB,
    disk_bytes=16 * MIB,
    output_bytes=64 * 1024,
)
_SECRET = "PROCTOR_PROBE_SECRET"  # noqa: S105  the name of a decoy


class ProbeFinding(Struct, frozen=True):
    """`holds` is None where the backend does not offer the thing at all."""

    aspect: str
    holds: bool | None
    detail: str


class _Probe(Struct, frozen=True):
    """A program that prints LEAK when it gets through, and the endings that count as being stopped."""

    aspect: str
    source: str
    endings: frozenset[Ending] = frozenset({Ending.EXITED})
    limits: SandboxLimits = _SMALL


# What it imports no warm parent has imported before: the standard library must be there in the run itself.
_RUNS = "import colorsys, wave\nopen('x', 'w').write(str(6 * 7))\nassert open('x').read() == '42'\nprint('sound')"
_NETWORK = """
import socket
for target in (("127.0.0.1", {port}), "\\0{abstract}"):
    try:
        family = socket.AF_UNIX if isinstance(target, str) else socket.AF_INET
        sock = socket.socket(family); sock.settimeout(2); sock.connect(target)
    except OSError: continue
    print("LEAK", target)
"""
_FILES = """
import os
reads, writes = ({secret!r}, "/etc/shadow"), ("/usr/proctor-probe", "/etc/proctor-probe", {beside!r})
for path, mode in [(path, "r") for path in reads] + [(path, "w") for path in writes]:
    try: open(path, mode).close()
    except OSError: continue
    print("LEAK", mode, path)
    if mode == "w": os.unlink(path)
"""
_ENVIRONMENT = """
import glob, os
texts = [str(dict(os.environ)).encode()]
for path in glob.glob("/proc/*/environ"):
    try: texts.append(open(path, "rb").read())
    except OSError: pass
if any({value!r}.encode() in text for text in texts): print("LEAK")
"""
_PROCESSES = """
import os, time
children = 0
for _ in range(64):
    try: pid = os.fork()
    except OSError: break
    if pid == 0: time.sleep(3); os._exit(0)
    children += 1
if children >= 32: print("LEAK", children, "processes")
others = [p for p in os.listdir("/proc") if p.isdigit()] if os.path.isdir("/proc") else []
if len(others) > 40: print("LEAK sees", len(others), "processes")
"""
_MEMORY = "kept = []\nfor _ in range(80):\n    kept.append(bytearray(8 << 20))\nprint('LEAK', len(kept) * 8, 'MiB')"
_CPU = "import time\nwhile time.process_time() < 20: pass\nprint('LEAK')"
_OUTPUT = "import os\nfor _ in range(64): os.write(1, b'x' * 65536)\nprint('LEAK')"
_DISK = (
    "for n in range(64):\n    with open(f'f{n}', 'wb') as file: file.write(bytes(1 << 20))\nprint('LEAK', 64, 'MiB')"
)
_SYSCALLS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000) == 0: print("LEAK unshare")
if libc.ptrace(0, 0, 0, 0) == 0: print("LEAK ptrace")
if "Seccomp:\\t2" not in open("/proc/self/status").read(): print("LEAK no filter")
"""


@contextmanager
def _bait() -> Iterator[dict[str, object]]:
    """Real things to get at: a file, a listening port, an abstract socket, a secret in the environment."""
    abstract, value = f"proctor-probe-{os.getpid()}-{secrets.token_hex(4)}", secrets.token_hex(16)
    with (
        tempfile.TemporaryDirectory(prefix="proctor-probe-") as folder,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as quiet,
    ):
        Path(folder).chmod(0o777)
        secret = Path(folder, "secret")
        secret.write_text(value)
        secret.chmod(0o644)
        quiet.bind(f"\0{abstract}")
        quiet.listen()
        os.environ[_SECRET] = value
        try:
            yield {
                "port": server.getsockname()[1],
                "abstract": abstract,
                "secret": str(secret),
                "beside": f"{folder}/written",
                "value": value,
            }
        finally:
            del os.environ[_SECRET]


def _quick(bait: dict[str, object]) -> list[_Probe]:
    return [
        _Probe("network", _NETWORK.format(**bait)),
        _Probe("files", _FILES.format(**bait)),
        _Probe("environment", _ENVIRONMENT.format(**bait)),
        _Probe("syscalls", _SYSCALLS),
    ]


def _thorough() -> list[_Probe]:
    return [
        _Probe("processes", _PROCESSES, frozenset({Ending.EXITED, Ending.PROCESSES, Ending.MEMORY})),
        _Probe("memory", _MEMORY, frozenset({Ending.MEMORY})),
        _Probe("cpu", _CPU, frozenset({Ending.CPU, Ending.TIMEOUT}), replace(_SMALL, cpu_seconds=1)),
        _Probe(
            "time",
            "import time\ntime.sleep(60)\nprint('LEAK')",
            frozenset({Ending.TIMEOUT}),
            replace(_SMALL, wall_seconds=1),
        ),
        _Probe("output", _OUTPUT, frozenset({Ending.OUTPUT})),
        _Probe("disk", _DISK, frozenset({Ending.DISK, Ending.MEMORY}), replace(_SMALL, memory_bytes=48 * MIB)),
    ]


async def _try(sandbox: Sandbox, probe: _Probe) -> ProbeFinding:
    try:
        done = await sandbox.run(Program("print('started', flush=True)\n" + probe.source), probe.limits)
    except SandboxError as error:
        return ProbeFinding(probe.aspect, False, str(error))
    text = done.stdout.decode(errors="replace")
    if not text.startswith("started"):
        return ProbeFinding(probe.aspect, False, f"nothing ran: {done.stderr[-200:].decode(errors='replace')}")
    if "LEAK" in text:
        return ProbeFinding(probe.aspect, False, text[text.index("LEAK") :].strip()[:200])
    if done.ending not in probe.endings:
        return ProbeFinding(probe.aspect, False, f"ended as {done.ending}")
    return ProbeFinding(probe.aspect, True, str(done.ending))


async def _runs(sandbox: Sandbox) -> ProbeFinding:
    """The positive control: a sandbox in which nothing works holds everything."""
    try:
        done = await sandbox.run(Program(_RUNS), _SMALL)
    except SandboxError as error:
        return ProbeFinding("runs", False, str(error))
    is_sound = done.succeeded and done.stdout.strip() == b"sound"
    return ProbeFinding("runs", is_sound, "ok" if is_sound else done.stderr[-200:].decode(errors="replace"))


async def _verdict(sandbox: Sandbox) -> ProbeFinding:
    cases = (Case("test", "assert f(1) == 2"),)
    forger = "class A:\n    def __eq__(self, other): return True\ndef f(x): return A()\n"
    try:
        right = await sandbox.check(Check("def f(x): return x + 1", cases), _SMALL)
        wrong = await sandbox.check(Check(forger, cases), _SMALL)
    except SandboxError as error:
        return ProbeFinding("verdict", None if "whole programs" in str(error) else False, str(error))
    return ProbeFinding(
        "verdict", right.passed and not wrong.passed, "ok" if right.passed and not wrong.passed else "forged or broken"
    )


async def self_test(sandbox: Sandbox) -> list[str]:
    """What does not hold, told in a fraction of a second; empty when the sandbox may be used."""
    control = await _runs(sandbox)
    if not control.holds:
        return [control.detail]
    with _bait() as bait:
        findings = [await _try(sandbox, probe) for probe in _quick(bait)]
    return [f"{finding.aspect}: {finding.detail}" for finding in findings if not finding.holds]


async def probe(sandbox: Sandbox) -> list[ProbeFinding]:
    """Every aspect, in the order of the table; takes a few seconds."""
    control = await _runs(sandbox)
    if not control.holds:
        return [control]
    with _bait() as bait:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_try(sandbox, one)) for one in (*_quick(bait), *_thorough())]
            verdict = group.create_task(_verdict(sandbox))
    found = [control, *(task.result() for task in tasks), verdict.result()]
    return sorted(found, key=lambda finding: ASPECTS.index(finding.aspect))
