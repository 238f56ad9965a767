"""The agent's own parts: messages, paths, addresses, output and memory of a command, each taken by itself."""

from __future__ import annotations

import asyncio
import marshal
import os
import socket
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.domain.errors import UserError
from proctor.domain.workspace import WORK
from proctor.sandboxes.inside.agent_files import (
    FolderListing,
    Folders,
    PathRefusedError,
    empty,
    parts_of,
    read,
    sizes,
    write,
)
from proctor.sandboxes.inside.agent_frames import Unpacker, joined, packed, parted
from proctor.sandboxes.inside.agent_jobs import Output, RunningCommand
from proctor.sandboxes.inside.agent_notices import outside
from proctor.sandboxes.inside.agent_processes import Population, WorkspaceProcess
from proctor.sandboxes.inside.frames import FrameTooLargeError
from proctor.sandboxes.workspaces.bundle import bundle, start_command
from proctor.sandboxes.workspaces.connection import AgentConnection, WorkspaceLostError

_HEADS = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=10), max_size=4)


@given(st.lists(st.tuples(_HEADS, st.binary(max_size=200)), max_size=6), st.lists(st.integers(1, 40), max_size=50))
def test_messages_arrive_whole_however_they_are_cut(
    messages: list[tuple[dict[str, object], bytes]], cuts: list[int]
) -> None:
    stream, found, unpacker = b"".join(packed(*message) for message in messages), [], Unpacker()
    for length in [*cuts, len(stream)]:
        found += list(unpacker.feed(stream[:length]))
        stream = stream[length:]
    assert found == messages


def test_a_message_larger_than_allowed_is_not_waited_for() -> None:
    with pytest.raises(FrameTooLargeError):
        list(Unpacker(100).feed(struct.pack(">II", 101, 2)))
    with pytest.raises(FrameTooLargeError):
        list(Unpacker(100).feed(struct.pack(">II", 10, 11) + b"{}    "))
    with pytest.raises(ValueError, match="without a head"):
        list(Unpacker(100).feed(struct.pack(">I", 2) + b"{}"))


@given(st.dictionaries(st.text(), st.binary(max_size=50), max_size=5))
def test_files_come_back_as_they_were_joined(files: dict[str, bytes]) -> None:
    assert parted(*joined(files)) == files


@given(st.text(alphabet="ab./\0", max_size=12))
def test_a_path_below_a_folder_never_leaves_it(path: str) -> None:
    try:
        steps = parts_of(path)
    except PathRefusedError:
        return
    assert steps
    assert not path.startswith("/")
    assert os.path.normpath("/top/" + path) == "/top/" + "/".join(steps)


@settings(max_examples=30)
@given(st.dictionaries(st.text(alphabet="abc", min_size=1, max_size=3), st.binary(max_size=20), max_size=5))
def test_what_was_written_is_read_listed_and_emptied(files: dict[str, bytes]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as top:
        for name, data in files.items():
            write(top, f"x/{name}/file", data)
        assert sizes(top) == {f"x/{name}/file": len(data) for name, data in sorted(files.items())}
        assert all(read(top, f"x/{name}/file", 100) == data for name, data in files.items())
        empty(top)
        assert list(Path(top).iterdir()) == []


def test_a_file_over_the_limit_is_left_out(tmp_path: Path) -> None:
    write(str(tmp_path), "x", b"12345")
    assert read(str(tmp_path), "x", 5) == b"12345"
    assert read(str(tmp_path), "x", 4) is None


def test_writing_through_a_link_is_refused_and_over_one_replaces_it(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    (tmp_path / "out" / "kept").write_text("kept")
    (tmp_path / "in" / "over").symlink_to(tmp_path / "out" / "kept")
    with pytest.raises(PathRefusedError):
        write(str(tmp_path / "in"), "link/x", b"x")
    write(str(tmp_path / "in"), "over", b"new")
    assert (tmp_path / "out" / "kept").read_text() == "kept"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["kept"]
    empty(str(tmp_path / "in"))
    assert (tmp_path / "out" / "kept").exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/app", "/r/app"),
        ("/app/main.py", "/r/app/main.py"),
        ("/data", "/r/data"),
        (f"--root={WORK}/x", f"--root=/r{WORK}/x"),
        ("/app:/app/lib:/usr/lib", "/r/app:/r/app/lib:/usr/lib"),
        ("/application", "/application"),
        ("/usr/app/x", "/usr/app/x"),
        ("x/app", "x/app"),
        ("/tmp/x", "/tmp/x"),
        ("", ""),
    ],
)
def test_on_the_host_the_places_folders_have_other_names(text: str, expected: str) -> None:
    assert Folders("/r").translated(text) == expected
    assert Folders("").translated(text) == text


def _ipv4(host: str, port: int) -> bytes:
    return (
        struct.pack("=H", socket.AF_INET) + struct.pack(">H", port) + socket.inet_pton(socket.AF_INET, host) + bytes(8)
    )


def _ipv6(host: str, port: int) -> bytes:
    address = socket.inet_pton(socket.AF_INET6, host)
    return struct.pack("=H", socket.AF_INET6) + struct.pack(">HI", port, 0) + address + bytes(4)


@pytest.mark.parametrize(
    ("address", "target"),
    [
        (_ipv4("93.184.216.34", 80), "93.184.216.34:80"),
        (_ipv4("127.0.0.1", 80), None),
        (_ipv4("127.0.0.1", 53), "a name server"),
        (_ipv4("0.0.0.0", 80), None),
        (_ipv6("::1", 80), None),
        (_ipv6("::ffff:127.0.0.1", 80), None),
        (_ipv6("2606::1", 80), "[2606::1]:80"),
        (struct.pack("=H", socket.AF_UNIX) + b"/tmp/x", None),
        (struct.pack("=H", socket.AF_UNSPEC) + bytes(14), None),
        (b"", "unreadable"),
    ],
)
def test_who_is_meant_by_an_address(address: bytes, target: str | None) -> None:
    assert outside(address) == target


@given(st.binary(max_size=40))
def test_no_address_confuses_the_agent(address: bytes) -> None:
    found = outside(address)
    assert found is None or found.isprintable()


@given(st.lists(st.binary(max_size=300), max_size=30), st.integers(1, 500))
def test_of_a_services_output_the_end_is_kept_and_of_a_commands_the_beginning(parts: list[bytes], limit: int) -> None:
    end, beginning, whole = Output(limit, is_end_kept=True), Output(limit, is_end_kept=False), b"".join(parts)
    for part in parts:
        end.add(part)
        beginning.add(part)
    assert end.value() == whole[-limit:]
    assert beginning.value() == whole[:limit]
    assert beginning.is_full is (len(whole) > limit)
    assert end.is_full is False


def _job(**limits: float) -> RunningCommand:
    given = {"wall_seconds": 10, "cpu_seconds": 10, "memory_bytes": 1000, "processes": 4, "output_bytes": 10}
    return RunningCommand({"job": 1, "limits": {**given, **limits}, "is_service": False, "command": []}, 1, b"")


def _member(pid: int, **values: object) -> WorkspaceProcess:
    usual = {"parent": 1, "state": "R", "threads": 1, "memory": 0, "peak": 0, "cpu_seconds": 0.0, "filters": 1}
    return WorkspaceProcess(pid=pid, **{**usual, **values})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("members", "ending"),
    [
        ([{"memory": 1001}], "memory"),
        ([{"memory": 1000}], None),
        ([{"memory": 600}, {"memory": 600}], None),
        ([{"memory": 1800}, {"memory": 1800}], "memory"),
        ([{"threads": 2}, {"threads": 3}], "processes"),
        ([{"threads": 2}, {"threads": 2}], None),
        ([{"cpu_seconds": 6.0}, {"cpu_seconds": 5.0}], "cpu"),
    ],
)
def test_a_command_is_judged_by_all_its_processes_together(
    members: list[dict[str, object]], ending: str | None
) -> None:
    job = _job()
    # Half of every process's memory is shared with the other.
    job.observe(
        [_member(pid, **values) for pid, values in enumerate(members, 2)],
        lambda pid: int(members[pid - 2]["memory"]) // 2 if "memory" in members[pid - 2] else 0,
    )  # type: ignore[call-overload]
    assert job.ending == ending


def test_a_fork_bomb_is_ended_without_asking_what_its_processes_share() -> None:
    """That answer waits for every fork under way: an agent who asks a bomb for it comes too late for all limits."""

    def fair(pid: int) -> int:
        raise AssertionError(f"{pid} was asked")

    job = _job()
    for _ in range(2):  # the second look is the one before it is killed
        job.observe([_member(pid, memory=900) for pid in range(2, 8)], fair)
    assert job.ending == "processes"


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (b"Traceback\nMemoryError", "memory"),
        (b"MemoryError\nbut all is well", "exited"),
        (b"Error: ENOSPC: no space left on device, write\n    at x\n\nNode.js v20.20.2\n", "disk"),
        (b"OSError: [Errno 27] File too large", "file_size"),
        (b"OSError: [Errno 24] Too many open files", "open_files"),
        (b"", "exited"),
    ],
)
def test_a_limit_a_failed_program_told_of_last_is_named(error: bytes, ending: str) -> None:
    job = _job(output_bytes=1000)
    job.output["stderr"].add(error)
    job.status = 1 << 8
    assert job.result(is_disk_full=False)["ending"] == ending
    job.status = 0
    assert job.result(is_disk_full=False)["ending"] == "exited"


def test_an_interpreter_of_another_version_reads_the_text_instead_of_the_code() -> None:
    """An agent told of no harness ends at once, and did not stumble over its own code."""
    config = {"root": "", "environment": {}, "disk_bytes": 1, "is_filtered": False, "is_notifying": False,
              "is_counting_users": False, "is_seeing_cgroup": False}  # fmt: skip
    content = marshal.loads(bundle(config)[4:])
    content["magic"], content["code"] = b"other", {}
    body = marshal.dumps(content, 2)
    done = subprocess.run(
        start_command("/usr/bin/python3"), input=struct.pack(">I", len(body)) + body, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    ((head, _),) = Unpacker().feed(done.stdout)
    assert head["ready"] is True


def _line_with(answer: bytes, *, is_hanging_up: bool = True) -> tuple[type[Exception], str]:
    async def run() -> tuple[type[Exception], str]:
        ours, theirs = socket.socketpair()
        line = AgentConnection(*await asyncio.open_connection(sock=ours))
        theirs.sendall(answer)
        if is_hanging_up:
            theirs.shutdown(socket.SHUT_WR)
        try:
            await line.ask({"op": "list"})
        except Exception as error:  # noqa: BLE001  the test's own question
            return type(error), str(error)
        finally:
            await line.close()
            theirs.close()
        return Exception, "nothing was raised"

    return asyncio.run(run())


@pytest.mark.parametrize(
    "answer", [b"", b"\xff" * 64, packed({"fault": "it broke"}), struct.pack(">II", 4, 4) + b"nope"]
)
def test_an_agent_that_answers_nonsense_or_nothing_is_lost(answer: bytes) -> None:
    assert _line_with(answer)[0] is WorkspaceLostError


def test_a_fault_the_agent_reports_is_the_reason_given() -> None:
    assert "it broke" in _line_with(packed({"fault": "it broke"}))[1]


def test_what_an_agent_refuses_is_the_callers_mistake() -> None:
    kind, text = _line_with(packed({"id": 1, "refused": "'/etc' is not below"}), is_hanging_up=False)
    assert kind is UserError
    assert "/etc" in text


def test_a_command_that_is_still_being_started_is_not_taken_for_another() -> None:
    population = Population()
    starting = WorkspaceProcess(4242, os.getpid(), "R", 1, 0, 0, 0.0, (population.base or 0) + 3)
    assert population.tag(starting, {4242: 7, 4343: 3}) == 7
    assert population.tag(starting._replace(pid=4444), {4242: 7, 4343: 3}) == (3 if population.base is not None else 0)


def test_what_a_list_leaves_out_is_named_with_the_reason(tmp_path: Path) -> None:
    for name in (b"plain.py", b"odd\xff.py", b"bell\x07.py", b"deep\nline"):
        Path(os.fsdecode(bytes(tmp_path) + b"/" + name)).touch()
    (tmp_path / "link").symlink_to("plain.py")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "out").symlink_to("/etc")
    listing = FolderListing(str(tmp_path))
    odd = dict.fromkeys(["odd\\xff.py", "bell\\x07.py", "deep\\nline"], "its name cannot be shown")
    links = dict.fromkeys(["link", "below/out"], "it is a link")
    assert (listing.sizes, listing.left_out) == ({"plain.py": 0}, {**odd, **links, "pipe": "it is no regular file"})


def test_a_file_that_goes_while_a_folder_is_listed_takes_no_other_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept").touch()
    there = os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: ["gone", *there(folder)])
    listing = FolderListing(str(tmp_path))
    assert (listing.sizes, listing.left_out) == ({"kept": 0}, {})
