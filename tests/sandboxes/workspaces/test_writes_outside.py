"""Attempts to change files outside a workspace's folders: each is seen and named, and nothing ordinary is."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from proctor.domain.sandbox import SandboxResult
from proctor.domain.workspace import Seen, Workspace
from sandboxes.workspaces.conftest import SMALL, TRUE, WORKSPACE, python, within

pytestmark = [pytest.mark.usefixtures("nothing_left"), pytest.mark.timeout(300)]

HEAD = """
import ctypes, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
is_intel = os.uname().machine == "x86_64"
def attempt(function, *arguments, **options):
    try: function(*arguments, **options)
    except OSError: pass
def call(intel, *arguments):
    if is_intel: libc.syscall(intel, *arguments)
def stay(folder, path, how):
    libc.syscall(437, folder, path, struct.pack("QQQ", os.O_WRONLY | os.O_CREAT, 0o644, how), 24)
"""
# Each tries one path of its own, named as the agent is to name it.
BY_NAME = {
    "/etc/open": 'attempt(open, "/etc/open", "w")',
    "/etc/append": 'attempt(open, "/etc/append", "a")',
    "/etc/update": 'attempt(open, "/etc/update", "r+")',
    "/etc/emptied": 'attempt(os.open, "/etc/emptied", os.O_RDONLY | os.O_TRUNC)',
    "/etc/nameless": 'attempt(os.open, "/etc/nameless", os.O_TMPFILE | os.O_RDWR)',
    "/etc/passwd": 'attempt(os.chmod, "/etc/passwd", 0o666)',
    "/etc/dots": 'attempt(open, "/work/../etc/dots", "w")',
    "/etc/up": 'os.chdir("/work"); attempt(open, "../../../etc/up", "w")',
    "/etc/here": 'os.chdir("/etc"); attempt(open, "here", "w")',
    "/etc/here-by-proc": 'os.chdir("/etc"); attempt(open, "/proc/self/cwd/here-by-proc", "w")',
    "/etc/root-by-proc": 'attempt(open, "/proc/self/root/etc/root-by-proc", "w")',
    "/etc/dangling": 'os.symlink("/etc/dangling", "/work/l1"); attempt(open, "/work/l1", "w")',
    "/etc/linked": 'os.symlink("../etc", "/work/l2"); attempt(open, "/work/l2/linked", "w")',
    "/etc/unlinked-through": 'os.symlink("/etc", "/work/l3"); attempt(os.unlink, "/work/l3/unlinked-through")',
    "/etc/at": 'attempt(os.open, "at", os.O_WRONLY | os.O_CREAT, dir_fd=os.open("/etc", os.O_RDONLY))',
    "/etc/kept": 'os.makedirs("/work/x (deleted)"); os.chdir("/work/x (deleted)"); os.symlink("/etc", "l")\n'
    'attempt(open, "l/kept", "w")',
    "/usr/work/stays": 'stay(os.open("/usr", os.O_RDONLY), b"/work/stays", 0x10)',
    "/usr/stays-below": 'stay(os.open("/usr", os.O_RDONLY), b"../stays-below", 0x10)',
    "/usr": 'attempt(os.fchmod, os.open("/usr", os.O_RDONLY), 0o777)',
    "/usr/bin": 'attempt(os.utime, os.open("/usr/bin", os.O_RDONLY))',
    "/usr/lib": 'fd = os.open("/usr/lib", os.O_RDONLY); attempt(os.open, f"/proc/self/fd/{fd}", os.O_RDWR)',
    "/etc/renamed-out": 'open("/work/f1", "w").close(); attempt(os.rename, "/work/f1", "/etc/renamed-out")',
    "/etc/renamed-in": 'attempt(os.rename, "/etc/renamed-in", "/work/f2")',
    "/etc/made": 'attempt(os.mkdir, "made", dir_fd=os.open("/etc", os.O_RDONLY))',
    "/etc/first": 'attempt(os.makedirs, "/etc/first/second/third")',
    "/etc/removed": 'attempt(os.rmdir, "/etc/removed")',
    "/etc/unlinked": 'attempt(os.unlink, "unlinked", dir_fd=os.open("/etc", os.O_RDONLY))',
    "/etc/link": 'open("/work/f3", "w").close(); attempt(os.link, "/work/f3", "/etc/link")',
    "/etc/symlink": 'attempt(os.symlink, "x", "symlink", dir_fd=os.open("/etc", os.O_RDONLY))',
    "/etc/owned": 'attempt(os.chown, "/etc/owned", 1, 1)',
    "/etc/owned-behind": 'os.symlink("/etc/owned-behind", "/work/l4"); attempt(os.chown, "/work/l4", 1, 1)',
    "/dev": 'attempt(os.fchown, os.open("/dev", os.O_RDONLY), 1, 1)',
    "/etc/truncated": 'attempt(os.truncate, "/etc/truncated", 0)',
    "/etc/touched": 'attempt(os.utime, "/etc/touched")',
    "/etc/socket": 'attempt(socket.socket(socket.AF_UNIX).bind, "/etc/socket")',
    "/etc/openat2": 'libc.syscall(437, -100, b"/etc/openat2", struct.pack("QQQ", os.O_WRONLY, 0, 0), 24)',
    "/proc/1/oom_score_adj": 'attempt(open, "/proc/1/oom_score_adj", "w")',
    "/proc/sys/kernel/hostname": 'attempt(open, "/proc/sys/kernel/hostname", "w")',
    "/dev/kmsg": 'attempt(open, "/dev/kmsg", "w")',
    "/nowhere/at/all": 'attempt(open, "/nowhere/at/all", "w")',
    r"/etc/\xff\x1b[31m\n\u202e": r'attempt(open, b"/etc/\xff\x1b[31m\n\xe2\x80\xae", "w")',
    "/etc/" + "y" * 195 + "…": 'attempt(open, "/etc/" + "y" * 250, "w")',
}
# The calls that today's C library does not use any more, by their numbers.
BY_NUMBER = {
    "/etc/open2": 'call(2, b"/etc/open2", os.O_WRONLY, 0)',
    "/etc/creat85": 'call(85, b"/etc/creat85", 0o644)',
    "/etc/rename82": 'call(82, b"/etc/rename82", b"/work/f4")',
    "/etc/rename82-to": 'call(82, b"/work/none", b"/etc/rename82-to")',
    "/etc/renameat264": 'call(264, -100, b"/work/none", -100, b"/etc/renameat264")',
    "/etc/renameat316": 'call(316, -100, b"/work/none", -100, b"/etc/renameat316", 0)',
    "/etc/mkdir83": 'call(83, b"/etc/mkdir83", 0o755)',
    "/etc/rmdir84": 'call(84, b"/etc/rmdir84")',
    "/etc/link86": 'call(86, b"/work/none", b"/etc/link86")',
    "/etc/unlink87": 'call(87, b"/etc/unlink87")',
    "/etc/symlink88": 'call(88, b"x", b"/etc/symlink88")',
    "/etc/chmod90": 'call(90, b"/etc/chmod90", 0)',
    "/etc/utime132": 'call(132, b"/etc/utime132", None)',
    "/etc/utimes235": 'call(235, b"/etc/utimes235", None)',
    "/etc/futimesat261": 'call(261, -100, b"/etc/futimesat261", None)',
    "/etc/fchmodat268": 'call(268, -100, b"/etc/fchmodat268", 0)',
    "/usr/lib": 'call(280, os.open("/usr/lib", os.O_RDONLY), b"", None, 0x1000)',
    "/t": "one = socket.socket(socket.AF_UNIX)\n"
    'call(49, one.fileno(), struct.pack("H", 1) + b"/tmp/x\\0", ctypes.c_long(2**32 + 4))',
}
# What programs do without meaning any harm, and what means nothing to the kernel either.
HARMLESS = """
import errno, fcntl, subprocess, tempfile, threading
for path in (os.__file__, "/proc/1/stat", "/proc/self/mounts", "/dev/urandom"): open(path, "rb").read(1)
os.listdir("/etc"); os.stat("/usr"); os.access("/etc", os.W_OK)
for path in ("/dev/null", "/dev/zero", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/shm/x", "/dev/tty",
             "/proc/self/comm", "/proc/thread-self/comm", f"/proc/{os.getpid()}/comm"): attempt(open, path, "w")
thread = threading.Thread(target=lambda: [attempt(open, f"/proc/{os.getpid()}/comm", "w")]); thread.start()
thread.join()
for folder in ("/app", "/work", "/data", "/tmp"):
    os.makedirs(folder + "/a/b"); open(folder + "/a/b/c", "w").close(); os.rename(folder + "/a/b/c", folder + "/d")
    os.chmod(folder + "/d", 0o600); os.utime(folder + "/d"); os.truncate(folder + "/d", 0)
    os.symlink(folder + "/d", folder + "/e"); open(folder + "/e", "a").close()
    os.chdir(folder); open("f", "w").close(); os.link("f", "../" + folder + "/g"); os.unlink("./g"); os.rmdir("a/b")
    attempt(os.mkdir, folder); socket.socket(socket.AF_UNIX).bind(folder + "/socket")
os.symlink("/etc/link-text", "/work/a-link"); os.unlink("/work/a-link")
with tempfile.TemporaryFile() as file, tempfile.NamedTemporaryFile(): file.write(b"x")
socket.socket(socket.AF_UNIX).bind("\\0/etc/abstract"); socket.create_server(("127.0.0.1", 0)).close()
subprocess.run(["sh", "-c", "echo x > /dev/null 2>&1; echo y > /work/z; echo z >> z"], check=True)
attempt(os.mkdir, "/dev"); attempt(os.mkdir, "/usr/lib"); attempt(os.mkdir, "/nowhere/yet")
attempt(os.mkdir, "/usr/lib/__pycache__"); attempt(open, "/usr/lib/__pycache__/x.cpython-311.pyc.140", "wb")
os.symlink("loop", "/work/loop"); attempt(open, "/work/loop", "w"); attempt(open, "x" * 5000, "w")
attempt(os.open, "/etc/only-named", os.O_PATH | os.O_CREAT)
for bad in (None, 8, 1 << 46, 0xffff_8000_0000_0000, 2**64 - 1): libc.syscall(437, -100, ctypes.c_void_p(bad), 8, 24)
for bad in (8, 1 << 46, 0xffff_8000_0000_0000, 2**64 - 1): call(2, ctypes.c_void_p(bad), os.O_WRONLY)
call(257, 999, b"relative", os.O_WRONLY); call(49, 999, ctypes.c_void_p(8), 110)
os.mkdir("/work/own"); work = os.open("/work/own", os.O_RDONLY); os.symlink("/etc", "/work/own/away")
for path in (b"/etc/stays", b"../../etc/stays", b"away/stays"): stay(work, path, 0x10); stay(work, path, 0x08)
call(280, work, b"", None, 0x1000); os.fchmod(work, 0o755)
os.lchown("/work/own/away", os.getuid(), os.getgid()); os.chown(work, os.getuid(), os.getgid()); os.sync()
for copy in (open("/work/copy", "wb"), open("/work/copied", "wb")): attempt(fcntl.ioctl, copy, 0x40049409, work)
try: os.setxattr("/work/copy", "user.x", b"1")
except OSError as error: assert error.errno == errno.ENOTSUP, error
call(452, -100, b"/work/copy", 0o600, 0x100)
for path in ("/work/" + "x" * 300, "/work/" + "x" * 300 + "/y"): attempt(open, path, "w")
"""


def _watched(name: str, source: str) -> tuple[SandboxResult, Seen]:
    async def work(workspace: Workspace) -> tuple[SandboxResult, Seen]:
        return await python(workspace, HEAD + source), await workspace.seen()

    done, seen = within(name, work)
    assert done.succeeded, done.stderr.decode()
    return done, seen


def test_every_way_to_change_a_file_outside_is_seen_and_named(isolated: str) -> None:
    _, seen = _watched(isolated, "\n".join(BY_NAME.values()))
    assert seen.writes == dict.fromkeys(BY_NAME, 1)
    assert seen.violations == {}


def test_the_calls_of_old_are_seen_as_well(isolated: str) -> None:
    done, seen = _watched(isolated, "\n".join(BY_NUMBER.values()) + "\nprint(is_intel)")
    assert seen.writes == (dict.fromkeys(BY_NUMBER, 1) if b"True" in done.stdout else {})


def test_reading_outside_and_writing_inside_are_nothing_to_report(isolated: str) -> None:
    _, seen = _watched(isolated, HARMLESS)
    assert seen.writes == {}
    assert seen.violations == {}


def test_runtimes_that_only_start_try_nothing(isolated: str) -> None:
    async def work(workspace: Workspace) -> Seen:
        limits = replace(SMALL, memory_bytes=400 << 20)
        await workspace.write(
            {"a.py": b"import sqlite3, ssl, json, multiprocessing\nsqlite3.connect('x').execute('create table t(x)')"}
        )
        for words in (["python3", "/app/a.py"], ["node", "-e", "require('fs').writeFileSync('x', 'y')"], TRUE):
            done = await workspace.execute(words, limits=limits, environment={"PYTHONDONTWRITEBYTECODE": ""})
            assert done.succeeded, done
        return await workspace.seen()

    assert within(isolated, work).writes == {}


def test_everyday_tools_do_their_work_and_nothing_forbidden() -> None:
    source = """
set -e; umask 022; echo one > /tmp/a; cp /tmp/a b; cp -p /tmp/a c; cp -a b d; mv /tmp/a e; mv e /data/e
sed -i s/one/two/ b; install -m 600 b f; touch -r b f; chown "$(id -u):$(id -g)" f; ln -s f g; chown -h "$(id -u)" g
mkdir -p h/i; cp f h/i; tar cf j.tar h; mkdir k; tar xf j.tar -C k; rm -r h; sync; sync f; cat b c /data/e k/h/i/f
bash -c 'read line <<< three; (cat <(echo "$line")) & wait; four=$(echo four); echo "$four"'
"""

    async def work(workspace: Workspace) -> tuple[SandboxResult, Seen]:
        return await workspace.execute(["sh", "-c", source], limits=SMALL), await workspace.seen()

    done, seen = within("bubblewrap", work)
    assert (done.stdout, done.stderr, done.exit_code) == (b"two\none\none\ntwo\nthree\nfour\n", b"", 0)
    assert (seen.violations, seen.writes) == ({}, {})


def test_an_attempt_is_told_whoever_makes_it_and_how_often(isolated: str) -> None:
    source = """
import threading
def try_it(): attempt(open, "/etc/passwd", "a")
threads = [threading.Thread(target=try_it) for _ in range(5)]
for one in threads: one.start()
for one in threads: one.join()
if os.fork() == 0: try_it(); os._exit(0)
os.wait(); os.system("echo x >> /etc/passwd")
"""
    _, seen = _watched(isolated, source)
    assert seen.writes == {"/etc/passwd": 7}


def test_a_program_that_hides_its_memory_is_told_to_write_where_nobody_can_read(isolated: str) -> None:
    source = """
fd = os.open("/usr", os.O_RDONLY); libc.prctl(4, 0, 0, 0, 0)
attempt(open, "/etc/passwd", "w"); attempt(os.fchmod, fd, 0o777)
"""
    _, seen = _watched(isolated, source)
    assert seen.writes == {"a path that could not be read": 2}


def test_no_folder_is_so_deep_that_it_hides_an_attempt(isolated: str) -> None:
    """Paths that a program can take step by step, and that are longer than any that can be named."""
    source = """
name = "d" * 250
for depth in range(20):
    os.mkdir(name); os.chdir(name)
    if depth == 16: os.symlink("/etc", "l")
os.symlink("/etc", "l"); open("inside", "w").close(); os.rename("inside", "there"); os.chmod("there", 0o600)
fd = os.open("there", os.O_RDONLY); os.fchmod(fd, 0o644); os.utime(fd)
attempt(open, "l/by-link", "w"); attempt(open, "../" * 22 + "etc/by-dots", "w")
attempt(open, "/proc/self/cwd/l/by-proc", "w"); attempt(os.rename, "there", "l/by-name")
for _ in range(5): os.chdir("..")
attempt(open, f"{name}/{name}/l/from-above", "w")
"""
    _, seen = _watched(isolated, source)
    assert seen.writes == {"a path that could not be read": 5}


def test_no_flood_of_writes_hides_an_attempt_or_stops_other_commands(isolated: str) -> None:
    source = """
print("up", flush=True)
for number in range(8):
    if os.fork() == 0:
        while not os.path.exists("/data/stop"): os.close(os.open(f"/tmp/{number}", os.O_WRONLY | os.O_CREAT))
        attempt(open, f"/etc/{number}", "w"); os._exit(0)
for _ in range(8): os.wait()
"""

    async def work(workspace: Workspace) -> tuple[SandboxResult | None, Seen]:
        await workspace.write({"main.py": (HEAD + source).encode()})
        limits = replace(SMALL, wall_seconds=100, cpu_seconds=100)
        service = await workspace.start(["python3", "/app/main.py"], limits=limits)
        while b"up" not in (await service.logs())[0]:
            await asyncio.sleep(0.02)
        for _ in range(5):
            done = await workspace.execute(["sh", "-c", "echo x > /work/x && echo y"], limits=SMALL)
            assert done.stdout == b"y\n", done
        await workspace.write({"stop": b""}, under="/data")
        return await service.wait(60), await workspace.seen()

    flood, seen = within(isolated, work)
    assert flood is not None
    assert flood.succeeded, flood
    assert seen.writes == {f"/etc/{number}": 1 for number in range(8)}


def test_many_attempts_are_counted_and_a_few_are_named(isolated: str) -> None:
    _, seen = _watched(isolated, 'for number in range(1500): attempt(open, f"/etc/{number}", "w")')
    assert seen.writes is not None
    assert len(seen.writes) == 65
    assert seen.writes["others"] == 1500 - 64


def test_signals_in_the_middle_of_a_look_neither_fail_a_write_nor_count_it_twice(isolated: str) -> None:
    source = """
import signal
hits, count = [], 0
signal.signal(signal.SIGALRM, lambda *_: hits.append(1)); signal.siginterrupt(signal.SIGALRM, False)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
while len(hits) < 20: open("/work/x", "w").close(); attempt(open, "/etc/x", "w"); count += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print(count)
"""
    done, seen = _watched(isolated, source)
    assert seen.writes == {"/etc/x": int(done.stdout)}


def test_where_nobody_can_see_it_nothing_is_claimed() -> None:
    async def work(workspace: Workspace) -> Seen:
        assert (await python(workspace, "open('/proc/self/comm', 'w')")).succeeded
        return await workspace.seen()

    assert within("none", work, replace(WORKSPACE, seconds=60)).writes is None


def test_a_program_that_only_asks_is_ended_like_any_other(isolated: str) -> None:
    source = "while True: os.close(os.open('/tmp/x', os.O_WRONLY | os.O_CREAT))"

    async def work(workspace: Workspace) -> tuple[SandboxResult, SandboxResult]:
        done = await python(workspace, HEAD + source, limits=replace(SMALL, wall_seconds=1))
        return done, await workspace.execute(TRUE, limits=SMALL)

    done, after = within(isolated, work)
    assert str(done.ending) == "timeout"
    assert after.succeeded, after
