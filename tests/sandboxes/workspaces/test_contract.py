"""One suite for every runner: what a caller may rely on, whoever isolates."""

from __future__ import annotations

import asyncio
import signal

import pytest
from msgspec.structs import replace

from proctor.domain.errors import SandboxError, UserError, WorkspaceSpentError
from proctor.domain.sandbox import MIB, Ending, SandboxResult
from proctor.domain.workspace import WORK, Workspace, WorkspaceLimits
from sandboxes.workspaces.conftest import SLEEP, SMALL, TRUE, WORKSPACE, fetch, made, python, within

pytestmark = pytest.mark.usefixtures("nothing_left")

SERVER = """
import http.server, os, pathlib, sys
data = pathlib.Path(os.environ["DATA_DIR"])
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.startswith("/keep/"): (data / "kept").write_text(self.path[6:])
        body = (data / "kept").read_bytes() if (data / "kept").exists() else b"nothing"
        self.send_response(200); self.send_header("content-length", str(len(body))); self.end_headers()
        self.wfile.write(body)
        print("served", self.path, flush=True)
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""


def test_a_program_is_built_executed_and_its_files_are_brought_back(name: str) -> None:
    async def work(workspace: Workspace) -> None:
        await workspace.write(
            {
                "main.py": b"import helper; helper.do()",
                "helper.py": b"def do(): open('out.txt', 'w').write('42'); print('done')",
            }
        )
        built = await workspace.execute(["python3", "-m", "py_compile", "/app/main.py"], limits=SMALL)
        assert built.succeeded, built
        done = await workspace.execute(["python3", "/app/main.py"], environment={"COLOUR": "blue"}, limits=SMALL)
        assert (done.ending, done.exit_code, done.stdout, done.stderr) == (Ending.EXITED, 0, b"done\n", b"")
        assert await workspace.read([f"{WORK}/out.txt", f"{WORK}/other.txt"]) == {f"{WORK}/out.txt": b"42"}
        assert await workspace.list("/work") == {"out.txt": 2}
        await workspace.empty()
        assert await workspace.list("/work") == {}
        assert {"main.py", "helper.py"} <= set(await workspace.list("/app"))

    within(name, work)


def test_environment_and_folder_are_as_asked(name: str) -> None:
    async def work(workspace: Workspace) -> SandboxResult:
        await workspace.write({"sub/x": b""}, under="/data")
        source = (
            "import os; print(os.environ['COLOUR'], os.path.basename(os.getcwd()), 'PYTEST_CURRENT_TEST' in os.environ)"
        )
        return await python(workspace, source, environment={"COLOUR": "blue"}, folder="/data/sub")

    assert within(name, work).stdout == b"blue sub False\n"


def test_exit_codes_and_signals_are_the_real_ones(name: str) -> None:
    async def work(workspace: Workspace) -> list[tuple[str, int | None, int | None]]:
        commands = (
            TRUE,
            ["sh", "-c", "exit 7"],
            ["sh", "-c", "kill -SEGV $$"],
            ["sh", "-c", "kill -KILL $$"],
            ["no-such-program"],
        )
        found = [await workspace.execute(command, limits=SMALL) for command in commands]
        return [(done.ending, done.exit_code, done.signal) for done in found]

    assert within(name, work) == [
        ("exited", 0, None),
        ("exited", 7, None),
        ("crashed", None, signal.SIGSEGV),
        ("crashed", None, signal.SIGKILL),
        ("exited", 127, None),
    ]


def test_standard_input_arrives_whole(name: str) -> None:
    text = b"line\n" * 400_000

    async def work(workspace: Workspace) -> None:
        source = "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
        done = await python(workspace, source, stdin=text)
        import hashlib

        assert done.stdout.strip() == hashlib.sha256(text).hexdigest().encode()
        ignoring = await workspace.execute(TRUE, stdin=text, limits=SMALL)
        assert ignoring.succeeded

    within(name, work)


def test_standard_input_can_be_sent_line_by_line(name: str) -> None:
    async def work(workspace: Workspace) -> None:
        await workspace.write(
            {"main.py": b"import sys\nfor line in sys.stdin: print(line.strip().upper(), flush=True)\nprint('end')"}
        )
        process = await workspace.start(["python3", "/app/main.py"], limits=SMALL)
        await process.send(b"one\n")
        while b"ONE" not in (await process.logs())[0]:
            await asyncio.sleep(0.02)
        assert process.is_running
        assert await process.wait(0.01) is None
        await process.send(b"two\n")
        await process.send(b"")
        done = await process.wait(60)
        assert done is not None
        assert (done.ending, done.exit_code, done.stdout) == (Ending.EXITED, 0, b"ONE\nTWO\nend\n")
        assert not process.is_running
        assert await process.wait(0) == done
        assert (await process.logs())[0] == done.stdout
        await process.send(b"into the void")
        await process.signal(signal.SIGTERM)

    within(name, work)


def test_a_service_is_reached_from_outside_and_keeps_its_data_over_a_kill(name: str) -> None:
    async def work(workspace: Workspace) -> None:
        await workspace.write({"main.py": SERVER.encode()})
        environment = {"PORT": "18400", "DATA_DIR": "/data"}
        limits = replace(SMALL, wall_seconds=120)
        service = await workspace.start(["python3", "/app/main.py"], environment=environment, limits=limits)
        reach = await workspace.reach(18400)
        assert await fetch(reach, "/") == b"nothing"
        assert await fetch(reach, "/keep/blue") == b"blue"
        # Other commands come and go; whatever they leave running is ended, and the service is not.
        left = f"import subprocess; subprocess.Popen({SLEEP!r}, start_new_session=True)"
        assert (await workspace.execute(["python3", "-c", left], limits=SMALL)).succeeded
        assert (await workspace.execute(TRUE, limits=SMALL)).succeeded
        assert service.is_running
        assert await fetch(reach) == b"blue"
        assert b"served /keep/blue" in (await service.logs())[0]
        spent = await service.spent()
        assert spent.cpu_seconds
        assert spent.peak_memory_bytes
        assert 4 * MIB < spent.peak_memory_bytes < SMALL.memory_bytes
        await service.signal(signal.SIGKILL)
        killed = await service.wait(60)
        assert killed is not None
        assert (killed.ending, killed.signal) == (Ending.EXITED, signal.SIGKILL)
        with pytest.raises(ConnectionError):
            await fetch(await workspace.reach(18400), seconds=0)
        again = await workspace.start(["python3", "/app/main.py"], environment=environment, limits=limits)
        assert await fetch(await workspace.reach(18400)) == b"blue"
        await again.signal(signal.SIGTERM)
        ended = await again.wait(60)
        assert ended is not None
        assert (ended.ending, ended.signal) == (Ending.EXITED, signal.SIGTERM)

    within(name, work)


def test_a_signal_reaches_everyone_a_service_started(name: str) -> None:
    source = """
import os, signal, sys, time
def stop(*_): print("ended", os.getpid(), flush=True); os._exit(0)
signal.signal(signal.SIGTERM, stop)
children = [os.fork() for _ in range(2)]
print("up", flush=True)
if 0 not in children:
    [os.waitpid(pid, 0) for pid in children]; print("all", flush=True)
while True: time.sleep(1)
"""

    async def work(workspace: Workspace) -> SandboxResult | None:
        await workspace.write({"main.py": source.encode()})
        process = await workspace.start(["python3", "/app/main.py"], limits=SMALL)
        while (await process.logs())[0].count(b"up") < 3:
            await asyncio.sleep(0.02)
        await process.signal(signal.SIGTERM)
        return await process.wait(60)

    done = within(name, work)
    assert done.exit_code == 0
    assert 1 <= done.stdout.count(b"ended") <= 4


BREACHES = {
    "timeout": ("import time; time.sleep(100)", {"wall_seconds": 1}),
    "cpu": ("while True: pass", {"cpu_seconds": 1}),
    "memory": ("kept = []\nwhile True: kept.append(bytearray(b'x' * (4 << 20)))", {}),
    "processes": (
        "import os, time\nfor _ in range(40):\n    if os.fork() == 0: time.sleep(50); os._exit(0)\ntime.sleep(50)",
        {},
    ),
    "file_size": ("open('big', 'wb').write(bytes(12 << 20))", {}),
    "disk": ("for n in range(60): open(f'f{n}', 'wb').write(bytes(1 << 20))\nimport time; time.sleep(50)", {}),
    "output": ("import os\nwhile True: os.write(1, b'x' * 65536)", {}),
    "open_files": ("kept = [open('/dev/null') for _ in range(200)]", {}),
}


@pytest.mark.parametrize("ending", BREACHES)
def test_a_limit_that_was_passed_is_named(name: str, ending: str) -> None:
    source, limits = BREACHES[ending]

    async def work(workspace: Workspace) -> tuple[SandboxResult, SandboxResult]:
        return await python(workspace, source, limits=replace(SMALL, **limits)), await workspace.execute(
            TRUE, limits=SMALL
        )

    done, after = within(name, work)
    assert done.ending == ending, (done.ending, done.exit_code, done.signal, done.stderr[-500:])
    assert after.succeeded
    assert len(done.stdout) <= SMALL.output_bytes


def test_node_programs_run_and_their_limits_are_named(name: str) -> None:
    async def work(workspace: Workspace) -> tuple[SandboxResult, SandboxResult]:
        runs = await workspace.execute(
            ["node", "-e", "console.log(6 * 7)"], limits=replace(SMALL, memory_bytes=256 * MIB)
        )
        bomb = "const a = []; for (;;) a.push(Buffer.alloc(4 << 20, 1))"
        return runs, await workspace.execute(["node", "-e", bomb], limits=SMALL)

    runs, bomb = within(name, work)
    assert (runs.stdout, runs.ending) == (b"42\n", Ending.EXITED)
    assert bomb.ending == Ending.MEMORY


def test_an_endless_log_fills_neither_memory_nor_disk_and_its_end_is_kept(name: str) -> None:
    source = """
import os, time
line = b"x" * 65535 + b"\\n"
for _ in range(8000): os.write(1, line)
print("the end", flush=True)
time.sleep(100)
"""

    async def work(workspace: Workspace) -> None:
        await workspace.write({"main.py": source.encode()})
        limits = replace(SMALL, cpu_seconds=100, wall_seconds=100)
        process = await workspace.start(["python3", "/app/main.py"], limits=limits)
        while not (await process.logs())[0].endswith(b"the end\n"):
            assert process.is_running
            await asyncio.sleep(0.05)
        out, error = await process.logs()
        assert len(out) == SMALL.output_bytes
        assert error == b""
        assert (await workspace.execute(TRUE, limits=SMALL)).succeeded
        assert sum((await workspace.list("/work")).values()) == 0
        await process.signal(signal.SIGKILL)
        done = await process.wait(60)
        assert done is not None
        assert done.stdout.endswith(b"the end\n")

    within(name, work)


def test_daemons_do_not_outlive_their_command(name: str) -> None:
    source = """
import os, sys, time
for session in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid() if session else None
            for fd in range(3): os.close(fd)
            while True:
                open("beat", "a").write("x"); time.sleep(0.005)
        os._exit(0)
while not os.path.exists("beat"): time.sleep(0.01)
"""

    async def work(workspace: Workspace) -> None:
        async def beats() -> int:
            return (await workspace.list("/work"))["beat"]

        service = await workspace.start(SLEEP, limits=replace(SMALL, wall_seconds=100))
        assert (await python(workspace, source)).succeeded
        first = await beats()
        await asyncio.sleep(0.3)
        assert await beats() == first
        assert service.is_running

    within(name, work)


def test_a_fork_bomb_ends_and_the_place_goes_on(name: str) -> None:
    source = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"

    async def work(workspace: Workspace) -> tuple[SandboxResult, SandboxResult]:
        return await python(workspace, source, limits=replace(SMALL, wall_seconds=8)), await python(
            workspace, "print('on')"
        )

    bomb, after = within(name, work)
    assert bomb.ending in (Ending.PROCESSES, Ending.TIMEOUT, Ending.CPU)
    assert after.stdout == b"on\n"


def test_the_memory_of_a_whole_tree_of_processes_is_counted(name: str) -> None:
    source = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        kept = bytearray(b"x" * (40 << 20)); time.sleep(60)
time.sleep(60)
"""
    assert within(name, lambda workspace: python(workspace, source)).ending == Ending.MEMORY


def test_memory_shared_by_a_tree_of_processes_is_counted_once(name: str) -> None:
    source = """
import os, time
kept = bytearray(b"x" * (60 << 20))
children = []
for _ in range(4):
    pid = os.fork()
    if pid == 0: time.sleep(0.5); os._exit(0)
    children.append(pid)
for pid in children: os.waitpid(pid, 0)
"""
    assert within(name, lambda workspace: python(workspace, source)).succeeded


def test_paths_that_lead_out_are_refused(name: str) -> None:
    async def work(workspace: Workspace) -> None:
        for path in ("../x", "/etc/x", "a/../../x", "", ".", "a/..", "nul\0"):
            with pytest.raises(UserError):
                await workspace.write({path: b"x"})
        for path in ("/etc/passwd", "relative", f"{WORK}/../etc/passwd"):
            with pytest.raises(UserError):
                await workspace.read([path])
        for folder in ("/", "/etc", f"{WORK}/below"):
            with pytest.raises(UserError):
                await workspace.empty(folder)
        with pytest.raises(UserError):
            await workspace.write({"x": b""}, under="/etc")
        assert (await workspace.execute(TRUE, limits=SMALL)).succeeded

    within(name, work)


def test_links_devices_and_pipes_among_a_programs_files_are_left_alone(name: str) -> None:
    source = """
import os
here = os.path.dirname(__file__)
os.symlink("/etc/passwd", "link"); os.symlink("/etc", "folder"); os.symlink(here, here + "/loop")
try: os.mkfifo("pipe")
except OSError: pass
os.makedirs("deep/" * 40); open("plain", "w").write("x")
os.chmod("deep", 0)
"""

    async def work(workspace: Workspace) -> None:
        assert (await python(workspace, source)).succeeded
        assert await workspace.list("/work") == {"plain": 1}
        left_out = await workspace.left_out("/work")
        assert {left_out["link"], left_out["folder"]} == {"it is a link"}
        paths = [f"{WORK}/link", f"{WORK}/folder/passwd", f"{WORK}/pipe", f"{WORK}/plain", WORK, f"{WORK}/deep"]
        assert await workspace.read(paths) == {f"{WORK}/plain": b"x"}
        with pytest.raises(WorkspaceSpentError, match="link"):
            await workspace.write({"folder/hosts": b"mine"}, under="/work")
        await workspace.write({"link": b"mine"}, under="/work")
        assert await workspace.read([f"{WORK}/link"]) == {f"{WORK}/link": b"mine"}
        await workspace.empty()
        assert await workspace.list("/work") == {}
        assert (await python(workspace, "import os; print(os.listdir('.'))")).stdout == b"[]\n"

    within(name, work)


def test_folders_too_deep_for_any_path_are_emptied(name: str) -> None:
    source = "import os\nfor _ in range(3000): os.mkdir('d' * 50); os.chdir('d' * 50)\nopen('x', 'w').close()"

    async def work(workspace: Workspace) -> None:
        assert (await python(workspace, source)).succeeded
        await workspace.empty()
        assert (await python(workspace, "import os; print(os.listdir('.'))")).stdout == b"[]\n"

    within(name, work)


def test_two_places_do_not_disturb_each_other(name: str) -> None:
    runner = made(name)

    async def run() -> None:
        first, second = await asyncio.gather(runner.open(WORKSPACE), runner.open(WORKSPACE))
        try:
            await first.write({"x": b"1"}, under="/data")
            assert await second.list("/data") == {}
            service = await first.start(SLEEP, limits=replace(SMALL, wall_seconds=100))
            bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
            await asyncio.gather(python(second, bomb, limits=replace(SMALL, wall_seconds=3)), python(first, "print(1)"))
            assert service.is_running, await service.wait(0)
            await second.close()
            await second.close()
            assert service.is_running, await service.wait(0)
            assert (await first.execute(TRUE, limits=SMALL)).succeeded
            with pytest.raises(SandboxError, match="closed"):
                await second.execute(TRUE)
        finally:
            await first.close()
            await second.close()
            await runner.close()

    asyncio.run(run())


def test_a_cancelled_command_is_ended_and_the_place_goes_on(name: str) -> None:
    async def work(workspace: Workspace) -> None:
        source = "import time\nwhile True: open('beat', 'a').write('x'); time.sleep(0.005)"
        await workspace.write({"main.py": source.encode()})
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.5):
                await workspace.execute(["python3", "/app/main.py"], limits=SMALL)
        assert (await workspace.execute(TRUE, limits=SMALL)).succeeded
        first = (await workspace.list("/work")).get("beat")
        await asyncio.sleep(0.3)
        assert (await workspace.list("/work")).get("beat") == first

    within(name, work)


def test_a_place_ends_when_its_time_is_over(name: str) -> None:
    async def work(workspace: Workspace) -> None:
        done = await workspace.execute(SLEEP, limits=SMALL)
        assert done.ending == Ending.TIMEOUT
        with pytest.raises(SandboxError, match="seconds are over"):
            await workspace.execute(TRUE)

    within(name, work, WorkspaceLimits(memory_bytes=256 * MIB, processes=32, disk_bytes=16 * MIB, seconds=3))


def test_the_record_names_the_runner_its_version_and_the_limits_in_force(name: str) -> None:
    async def work(workspace: Workspace) -> None:
        assert workspace.record["runner"] == name
        assert workspace.record["version"]
        assert workspace.record["is_isolated"] is (name != "none")
        assert workspace.record["limits"]["memory_bytes"] == WORKSPACE.memory_bytes  # type: ignore[index,call-overload]
        assert set(workspace.record["enforced_by"]) >= {"memory", "processes", "cpu", "disk", "syscalls"}  # type: ignore[arg-type]
        done = await workspace.execute(TRUE, limits=SMALL)
        assert done.sandbox["runner"] == name
        assert done.sandbox["command_limits"]["processes"] == SMALL.processes  # type: ignore[index,call-overload]

    within(name, work)


def test_many_commands_at_once_keep_their_output_apart(name: str) -> None:
    async def work(workspace: Workspace) -> None:
        found = await asyncio.gather(
            *(
                workspace.execute(["sh", "-c", f"read line; echo {number}; exit {number}"], stdin=b"go\n", limits=SMALL)
                for number in range(24)
            )
        )
        assert [(done.exit_code, done.stdout) for done in found] == [(n, f"{n}\n".encode()) for n in range(24)]

    within(name, work)


def test_what_cannot_be_a_command_is_refused(name: str) -> None:
    async def work(workspace: Workspace) -> None:
        for command, environment in (([], {}), (["a\0b"], {}), (TRUE, {"A=B": "c"})):
            with pytest.raises(UserError):
                await workspace.execute(command, environment=environment)

    within(name, work)
