"""The code that runs inside, in forked children of this process: what it does there can be seen from here."""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import signal
import socket
import struct
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.sandboxes.inside import children, confinement, forking, kernel, script, tool_init, zygote
from proctor.sandboxes.inside import container_init as init
from proctor.sandboxes.inside.frames import Channel, ChannelClosedError
from proctor.sandboxes.inside.warm import spawned
from proctor.sandboxes.inside.watching import order_for
from sandboxes.conftest import made
from sandboxes.measuring import in_child

LIMITS = {
    "wall_seconds": 60,
    "cpu_seconds": 30,
    "memory_bytes": 64 << 30,  # the forked test process has mapped gigabytes before it is limited
    "processes": 4_000,
    "file_bytes": 4 << 20,
    "disk_bytes": 16 << 20,
    "output_bytes": 1 << 20,
    "open_files": 1_024,
}
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@contextlib.contextmanager
def served(work: Any) -> Iterator[socket.socket]:
    """A parent in a forked child, at the other end of a socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ended: list[int] = []

    def child() -> None:
        ours.close()
        theirs.send(b"forked")
        work(theirs)

    thread = threading.Thread(target=lambda: ended.append(in_child(child)))
    thread.start()
    assert ours.recv(64) == b"forked"  # what is opened from here on is not inherited
    try:
        yield ours
    finally:
        theirs.close()
        ours.close()
        thread.join()
    assert ended == [0]


def ran(
    control: socket.socket, role: str, payload: dict[str, Any], extra: dict[str, Any], **options: Any
) -> tuple[bytes, bytes, int]:
    """Standard output, what came over the child's own control channel, and how it ended."""
    ours, theirs = socket.socketpair()
    with contextlib.ExitStack() as kept:
        kept.enter_context(ours)
        if role == "program":
            read, write = os.pipe()
            null = os.open(os.devnull, os.O_RDWR)
            fds = [theirs.fileno(), null, write, null]
        else:
            peer, other = socket.socketpair()
            kept.enter_context(peer)
            fds = [theirs.fileno(), other.fileno()]
        pidfd = spawned(control, order_for(role, LIMITS, {**extra, **options}), fds)
        os.close(pidfd)
        theirs.close()
        with contextlib.suppress(ChannelClosedError):  # a child that cannot begin leaves without its work
            Channel(ours.fileno()).send(json.dumps(payload).encode())
        out = b""
        if role == "program":
            os.close(write)
            os.close(null)
            with os.fdopen(read, "rb") as file:
                out = file.read()
        else:
            other.close()
            peer.close()
        status = forking.REPORT.unpack(control.recv(64))[0]
        said = _all_of(ours)
    return out, said, status


def _all_of(channel: socket.socket) -> bytes:
    found = b""
    # A child that ends without reading its work resets the channel; what it said comes first.
    with contextlib.suppress(ConnectionResetError):
        while data := channel.recv(1 << 16):
            found += data
    return found


SCRIPT = {"mode": "script", "source": "import sys\nprint('in', sys.argv)", "arguments": ["a"], "files": {}}


@pytest.fixture
def stubbed() -> dict[str, Any]:
    return {"has_memory_cgroup": True, "has_process_cgroup": True, "is_notifying": False, "is_filtered": True}


def test_a_parent_forks_children_that_confine_themselves_and_tells_their_ends(
    stubbed: dict[str, Any], tmp_path: Path
) -> None:
    class Bare(forking.Forker):
        def confine(self, order: dict[str, Any], control: socket.socket) -> None:
            tool_init.confine(order, control)

    extra = {**stubbed, "work": str(tmp_path / "work")}
    with served(lambda control: Bare(control).serve()) as control:
        out, said, status = ran(control, "program", SCRIPT, extra, is_folder_wanted=True)
        assert out == b"in ['main.py', 'a']\n"
        assert said.startswith(b"ready")
        assert struct.unpack("=i", said[-4:]) == (0,)
        assert status == 0
        failing = {**SCRIPT, "source": "raise SystemExit(3)"}
        assert os.waitstatus_to_exitcode(struct.unpack("=i", ran(control, "program", failing, extra)[1][-4:])[0]) == 3
        command = {"mode": "exec", "command": ["/bin/echo", "out"], "files": {"sub/x": "aGk="}}
        assert ran(control, "program", command, extra)[0] == b"out\n"
        assert (tmp_path / "work/sub/x").read_bytes() == b"hi"
        missing = {"mode": "exec", "command": ["/no/such/program"], "files": {}}
        assert os.waitstatus_to_exitcode(struct.unpack("=i", ran(control, "program", missing, extra)[1][-4:])[0]) == 127
        _, said, status = ran(control, "judge", _judge_payload(), extra)
        assert b'"ready"' in said
        assert b'"lost"' in said
        assert os.waitstatus_to_exitcode(status) == 3
        _, said, status = ran(control, "candidate", {"module": "m", "submission": "x = 1", "files": {}}, extra)
        assert os.waitstatus_to_exitcode(status) == 0


def _judge_payload() -> dict[str, Any]:
    return {
        "cases": [],
        "prelude": "",
        "remote": {},
        "module": "m",
        "is_fail_fast": False,
        "is_closed": False,
        "is_live": False,
        "collect": False,
        "files": {},
    }


def test_a_child_that_cannot_confine_itself_says_why(stubbed: dict[str, Any]) -> None:
    class Broken(forking.Forker):
        def confine(self, order: dict[str, Any], control: socket.socket) -> None:
            raise OSError("no way in")

    with served(lambda control: Broken(control).serve()) as control:
        _, said, status = ran(control, "program", SCRIPT, stubbed)
        assert said == b"fault:OSError: no way in"
        assert os.waitstatus_to_exitcode(status) == 70
        _, said, _ = ran(control, "judge", _judge_payload(), stubbed)
        assert b'"fault"' in said


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Where every user can write; pytest's own folders are open to nobody else."""
    with tempfile.TemporaryDirectory(prefix="proctor-open-") as name:
        Path(name).chmod(0o777)
        yield Path(name)


@ROOT
def test_the_first_process_of_a_container_ends_what_a_run_leaves_and_empties_its_folders(
    stubbed: dict[str, Any], open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a process namespace of its own, because it ends every process it can see."""
    top = open_folder
    monkeypatch.setattr(init, "_WRITABLE", (str(top),))
    extra = {**stubbed, "work": str(top / "work"), "uid": 57_001}

    def first(control: socket.socket) -> None:
        kernel.unshare(kernel.NEWPID)
        pid = os.fork()
        if pid == 0:
            init.ContainerInit(control).serve()
        control.close()
        os.waitpid(pid, 0)

    with served(first) as control:
        left = {
            **SCRIPT,
            "source": "import os, time\nif os.fork() == 0: os.close(1); time.sleep(300)\nprint(os.getuid())",
        }
        out, _, _ = ran(control, "program", left, extra)
        assert out == b"57001\n"
        control.send(json.dumps({"role": "wipe", "uid": 57_001}).encode())
        assert control.recv(64) == b"clean"
        assert list(top.iterdir()) == []
        (top / "not-its-own").mkdir(mode=0o755)
        (top / "not-its-own" / "file").touch()
        control.send(json.dumps({"role": "wipe", "uid": 57_001}).encode())
        assert control.recv(64) == b"dirty"


def test_a_zygote_enters_its_namespaces_and_forks_there() -> None:
    layout = made("namespaces").config["layout"]
    config = {"layout": layout, "host_uid": 57_003, "role": "candidate", "is_notifying": True}

    def work() -> None:
        # It dies with its parent, which is this fork and not the test.
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            ours.close()
            zygote.main(theirs.fileno())
        theirs.close()
        ours.send(json.dumps({**config, "parent": os.getpid(), "has_memory_cgroup": True}).encode())
        answer = json.loads(ours.recv(4096))
        assert "ready" in answer, answer
        look = "import os\nprint(os.getpid() < 4, os.path.exists('/root'), os.listdir('/tmp'))"
        out, said, _ = ran(ours, "program", {**SCRIPT, "source": look}, {}, is_folder_wanted=True, loopback=True)
        assert out.split(b" ", 1)[0] == b"True", out
        assert struct.unpack("=i", said[-4:]) == (0,)
        assert ran(ours, "judge", _judge_payload(), {})[2] == 3 << 8
        ours.close()
        os.waitpid(pid, 0)

    assert in_child(work) == 0


@pytest.mark.parametrize(
    ("source", "code", "out", "err"),
    [
        ("print(input())", 0, "line\n", ""),
        ("import sys; sys.exit('bye')", 1, "", "bye\n"),
        ("import sys; sys.exit()", 0, "", ""),
        ("import sys; sys.exit(300)", 44, "", ""),
        ("1 / 0", 1, "", "ZeroDivisionError: division by zero\n"),
        ("import atexit; atexit.register(print, 'late')", 0, "late\n", ""),
        ("import threading as t\nt.Timer(0.1, print, ['thread']).start()", 0, "thread\n", ""),
        ("def f(:", 1, "", "SyntaxError: invalid syntax\n"),
    ],
)  # fmt: skip
def test_a_script_runs_as_the_interpreter_would_run_it(source: str, code: int, out: str, err: str) -> None:
    streams = [os.memfd_create(name) for name in ("in", "out", "err")]
    os.write(streams[0], b"line\n")
    os.lseek(streams[0], 0, os.SEEK_SET)

    def work() -> None:
        for number, fd in enumerate(streams):
            os.dup2(fd, number)
        os._exit(script.run(source, []))

    assert os.waitstatus_to_exitcode(in_child(work)) == code
    texts = [os.pread(fd, 1 << 16, 0).decode() for fd in streams]
    for fd in streams:
        os.close(fd)
    assert texts[1] == out
    assert texts[2].endswith(err)


def test_limits_are_set_where_they_may_be_and_never_raised() -> None:
    def work() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
        confinement.be_killed_first(b"900")
        order = {**LIMITS, "open_files": 200, "cpu_seconds": 7}
        confinement.limit(order, is_address_space_limited=True)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (100, 100)
        assert resource.getrlimit(resource.RLIMIT_CPU)[0] in (7, 8)
        assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == LIMITS["file_bytes"]
        assert resource.getrlimit(resource.RLIMIT_AS)[0] > LIMITS["memory_bytes"]
        assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)
        assert Path("/proc/self/oom_score_adj").read_text() == "900\n"

    assert in_child(work) == 0


def test_a_process_whose_parent_is_gone_does_not_go_on() -> None:
    assert os.waitstatus_to_exitcode(in_child(lambda: kernel.die_with_parent(1 << 22))) == 1


def test_kernel_calls_that_fail_say_what_failed() -> None:
    for call, text in (
        (lambda: kernel.mount("x", "/no/such/folder", "tmpfs"), "mount tmpfs on /no/such/folder"),
        (lambda: kernel.unmount("/no/such/folder"), "umount /no/such/folder"),
        (lambda: kernel.setns(99_999, 0), "setns"),
        (lambda: kernel.prctl(9_999), "prctl"),
        (lambda: kernel.pivot_root("/no", "/no"), "pivot_root"),
    ):
        with pytest.raises(OSError, match=text):
            call()


def test_the_stub_does_what_it_is_told_over_its_descriptors(stubbed: dict[str, Any], tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    out = os.memfd_create("out")
    order = order_for("program", LIMITS, {**stubbed, "work": str(tmp_path), "is_filtered": False})

    def work() -> None:
        os.dup2(out, 1)
        sys.stdout = io.StringIO()
        signal.alarm(60)
        tool_init.main(theirs.fileno())

    channel = Channel(ours.fileno())
    channel.send(json.dumps(order).encode())
    channel.send(json.dumps(SCRIPT).encode())
    assert in_child(work) == 0
    theirs.close()
    said = _all_of(ours)
    ours.close()
    assert said.startswith(b"ready")
    assert os.pread(out, 100, 0) == b"in ['main.py', 'a']\n"
    os.close(out)


def test_descriptors_are_put_where_they_belong_and_the_rest_is_closed() -> None:
    def work() -> None:
        read, write = os.pipe()
        other = os.open(os.devnull, os.O_RDONLY)
        children.place("candidate", [read, write])
        os.fstat(3)
        os.fstat(4)
        with contextlib.suppress(OSError):
            os.fstat(other)
            assert other in (3, 4)
        assert os.path.realpath("/proc/self/fd/1") == os.devnull

    assert in_child(work) == 0
