"""Hostile programs in one place after another: none gets out, none gets at the agent, and the workspace goes on."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from proctor.domain.sandbox import MIB, Ending, SandboxResult
from proctor.domain.workspace import Seen, Workspace
from sandboxes.hostile import PROGRAMS, Hostile, _one
from sandboxes.suites import _private_paths, escape
from sandboxes.workspaces.conftest import SMALL, TRUE, WORKSPACE, fetch, python, within

pytestmark = [pytest.mark.usefixtures("nothing_left"), pytest.mark.timeout(600)]

# Sockets are allowed within a workspace's own network: these take that for a breach, and have a counterpart below.
_ALLOWED_HERE = {"sends_datagrams", "opens_odd_sockets", "binds_the_pair_it_may_have"}
OWN = [
    _one(
        "sends_out_of_the_place",
        r"""
def send(address):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); sock.sendto(b"x", address); return "sent"
def message(address):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); sock.sendmsg([b"x"], [], 0, address); return "sent"
attempt("udp", lambda: send(("8.8.8.8", 999)))
attempt("udp message", lambda: message(("8.8.8.8", 999)))
attempt("tcp", lambda: socket.create_connection(("93.184.216.34", 80), 2))
attempt("tcp6", lambda: socket.create_connection(("2606:2800:220:1::1", 80), 2))
attempt("metadata", lambda: socket.create_connection(("169.254.169.254", 80), 2))
attempt("lookup", lambda: socket.getaddrinfo("example.com", 80))
""",
    ),
    _one(
        "opens_sockets_that_lead_past_the_network",
        "for family, kind, protocol in ((17, 3, 0), (38, 5, 0), (40, 1, 0), (44, 3, 0), (2, 3, 1)):\n"
        "    attempt(str(family), lambda: socket.socket(family, kind, protocol))",
    ),
    _one(
        "starves_the_agent",
        r"""
import resource
attempt("cpu", lambda: resource.prlimit(1, resource.RLIMIT_CPU, (1, 1)))
attempt("files", lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0)))
attempt("memory", lambda: resource.prlimit(1, resource.RLIMIT_AS, (1 << 20, 1 << 20)))
attempt("nice", lambda: os.setpriority(os.PRIO_PROCESS, 1, 19))
attempt("processors", lambda: os.sched_setaffinity(1, {0}) or "bound")
attempt("nice user", lambda: os.setpriority(os.PRIO_USER, 0, 19))
attempt("oom", lambda: write("/proc/1/oom_score_adj", b"1000"))
""",
    ),
    _one(
        "signals_the_agent",
        r"""
for number in range(1, 65):
    for _ in range(20):
        try: os.kill(1, number)
        except OSError: pass
""",
    ),
    _one(
        "calls_itself_what_the_kernel_says_of_others",
        r"""
for name in (b"\x0bPPid:", b"\x0cThreads:x", b"\rVmHWM:", b"\x1cRssAnon:", b"\x0bThreads:9999", b") 1 2 (", b"\xff\n"):
    libc.prctl(15, name, 0, 0, 0); time.sleep(0.15)
""",
    ),
    _one(
        "looks_into_the_agent",
        r"""
for name in ("mem", "environ", "maps", "fd", "fdinfo", "cwd", "root", "exe", "ns/net", "stack", "syscall", "auxv"):
    path = f"/proc/1/{name}"
    attempt(path, lambda: os.listdir(path) if name.startswith("fd") else read(path))
""",
    ),
    _one(
        "changes_its_filters",
        r"""
program = (ctypes.c_char * 8)(6, 0, 0, 0, 0, 0, 0xff, 0x7f)
class Filter(ctypes.Structure): _fields_ = [("count", ctypes.c_ushort), ("at", ctypes.c_void_p)]
given = Filter(1, ctypes.addressof(program))
attempt("seccomp", lambda: call(number(317, 277), 1, 0, ctypes.byref(given)))
attempt("prctl", lambda: call(number(157, 167), 22, 2, ctypes.byref(given), 0, 0))
attempt("strict", lambda: call(number(157, 167), 22, 1, 0, 0, 0))
""",
    ),
]


def _limits(hostile: Hostile) -> object:
    return replace(SMALL, wall_seconds=2 if hostile.endings == {"timeout"} else 30, cpu_seconds=3)


@pytest.fixture
def head(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Real things to get at: a file, a port, a socket, a secret in the environment."""
    secret = tmp_path / "secret.txt"
    secret.write_text("hunter2")
    monkeypatch.setenv("TESTS_SECRET", "hunter2")
    name = f"proctor-test-workspace-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as quiet:
        quiet.bind(f"\0{name}")
        quiet.listen()
        yield (
            f"SECRET_PATH={str(secret)!r}; TCP_PORT={server.getsockname()[1]}; ABSTRACT_NAME={name!r}\n"
            f"PRIVATE_PATHS={_private_paths()!r}\n"
        )


def test_no_hostile_program_gets_out_of_a_place_or_at_its_agent(isolated: str, head: str) -> None:
    # Whole where a sandbox differs in kind; elsewhere the agent and the filter are the same, and a part will do.
    some = PROGRAMS if isolated in ("bubblewrap", "docker") else PROGRAMS[::3]
    programs = [one for one in (*some, *OWN) if one.name not in _ALLOWED_HERE]

    async def work(workspace: Workspace) -> dict[str, str]:
        escaped: dict[str, str] = {}
        for hostile in programs:
            done = await python(workspace, head + hostile.program, limits=_limits(hostile))
            why = escape(hostile, done)
            after = await workspace.execute(TRUE, limits=SMALL)
            if why or not after.succeeded:
                escaped[hostile.name] = why or f"nothing runs after it: {after}"
            for folder in ("/work", "/tmp", "/data"):
                await workspace.empty(folder)
        return escaped

    assert within(isolated, work) == {}


def test_a_command_cannot_be_looked_into_before_it_is_the_program_it_will_be(isolated: str) -> None:
    """Between fork and exec a process holds the agent's memory and descriptors, and is the same user."""
    source = """
import os
print("up", flush=True)
tried = 0
while True:
    for name in os.listdir("/proc"):
        if not name.isdigit() or name in ("1", str(os.getpid())): continue
        try:
            before = open(f"/proc/{name}/cmdline", "rb").read()
            if b"marshal" not in before: continue
            tried += 1
            memory = os.open(f"/proc/{name}/mem", os.O_RDWR)
        except OSError: continue
        # What was opened is the agent's copy only if it has not become something else meanwhile.
        if b"marshal" in open(f"/proc/{name}/cmdline", "rb").read(): print("BREACH", name, flush=True)
        os.close(memory)
    if tried: print("tried", flush=True); tried = 0
"""

    async def work(workspace: Workspace) -> bytes:
        await workspace.write({"main.py": source.encode()})
        service = await workspace.start(
            ["python3", "/app/main.py"], limits=replace(SMALL, wall_seconds=100, cpu_seconds=100)
        )
        while b"up" not in (await service.logs())[0]:
            await asyncio.sleep(0.02)
        for _ in range(200):
            await workspace.execute(TRUE, limits=SMALL)
            if b"tried" in (await service.logs())[0]:
                break
        for _ in range(30):
            await workspace.execute(TRUE, limits=SMALL)
        return (await service.logs())[0]

    said = within(isolated, work)
    assert b"tried" in said
    assert b"BREACH" not in said


def test_attempts_to_get_out_are_counted(isolated: str) -> None:
    source = """
import os, socket
for address in (("93.184.216.34", 80), ("10.0.0.1", 22)):
    try: socket.create_connection(address, 2)
    except OSError as error: print(error.errno)
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try: sock.sendto(b"x", ("8.8.4.4", 9))
except OSError as error: print(error.errno)
try: socket.getaddrinfo("example.com", 80)
except OSError: print("name")
for _ in range(3):
    try: os.setuid(0)
    except OSError: pass
listening = socket.create_server(("127.0.0.1", 0))
socket.create_connection(listening.getsockname(), 2).close()
socket.create_connection(("localhost", listening.getsockname()[1]), 2).close()
left, right = socket.socketpair(); left.send(b"x"); assert right.recv(1) == b"x"
"""

    async def work(workspace: Workspace) -> tuple[SandboxResult, SandboxResult, Seen]:
        done = await python(workspace, source)
        return done, await python(workspace, "print('calm')"), await workspace.seen()

    done, calm, seen = within(isolated, work)
    assert done.succeeded, done.stderr
    assert done.stdout.split() == [b"101", b"101", b"101", b"name"]
    assert {"93.184.216.34:80": 1, "10.0.0.1:22": 1, "8.8.4.4:9": 1}.items() <= seen.egress.items()
    assert seen.egress["a name server"] >= 1
    assert done.violations["setuid"] == 3
    assert calm.violations == {}
    assert seen.violations == done.violations
    assert seen.peak_memory_bytes
    assert seen.peak_memory_bytes > 4 * MIB


def test_a_service_listens_on_no_port_but_the_places_own(isolated: str) -> None:
    source = """
import http.server
http.server.ThreadingHTTPServer(("0.0.0.0", 18411), http.server.SimpleHTTPRequestHandler).serve_forever()
"""

    async def work(workspace: Workspace) -> None:
        await workspace.write({"main.py": source.encode()})
        await workspace.start(["python3", "/app/main.py"], limits=SMALL)
        assert b"Directory listing" in await fetch(await workspace.reach(18411))
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", 18411), 2)
        with pytest.raises(ConnectionError):
            await fetch(await workspace.reach(18412), seconds=0)

    within(isolated, work)


def test_what_is_written_outside_the_places_folders_is_refused(isolated: str) -> None:
    source = """
import os
for path in ("/x", "/usr/x", "/etc/x", "/dev/x", "/run/x", "/var/x", "/home/x"):
    try: open(path, "w").close(); print("BREACH", path)
    except OSError: pass
for folder in ("/app", "/work", "/data", "/tmp"): open(folder + "/x", "w").close()
"""
    done = within(isolated, lambda workspace: python(workspace, source))
    assert (done.exit_code, done.stdout) == (0, b"")


def test_memory_used_up_by_services_together_is_their_end_and_not_a_fault(isolated: str) -> None:
    """The workspace's own limit, which no single command passes."""
    source = "import time\nkept = bytearray(b'x' * (150 << 20))\nprint('full', flush=True)\ntime.sleep(100)"
    limits = replace(SMALL, memory_bytes=200 * MIB, wall_seconds=60)

    async def work(workspace: Workspace) -> list[SandboxResult | None]:
        await workspace.write({"main.py": source.encode()})
        started = [await workspace.start(["python3", "/app/main.py"], limits=limits) for _ in range(6)]
        await asyncio.wait([asyncio.ensure_future(one.wait(30)) for one in started], return_when="FIRST_COMPLETED")
        ended = [await one.wait(0) for one in started]
        return [done for done in ended if done is not None]

    ended = within(isolated, work, replace(WORKSPACE, memory_bytes=256 * MIB))
    assert ended
    assert {done.ending for done in ended if done is not None} == {Ending.MEMORY}
