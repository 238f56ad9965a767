"""One server for all processes that use the same thing: started once, kept while one of them lives, and ended then."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from proctor.domain.errors import UserError
from proctor.models.shared_server import SharedServer, is_listening

SERVER = """
import os, socket, sys
from pathlib import Path
from proctor.models.shared_server import wait_until_unused
with socket.create_server(("127.0.0.1", 0)) as listening:
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    wait_until_unused(Path(sys.argv[1]))
    os._exit(0)
"""
USER = f"""
import subprocess, sys
from pathlib import Path
from proctor.models.shared_server import SharedServer
def launch(users):
    server = subprocess.Popen([sys.executable, "-c", {SERVER!r}, str(users)], stdout=subprocess.PIPE, text=True)
    print("launched", flush=True)
    return server.pid, server.stdout.readline().strip()
shared = SharedServer(Path(sys.argv[1]), "weights", launch)
print(shared.join(), flush=True)
for line in sys.stdin:
    print(shared.join(), flush=True)
shared.leave()
"""


@contextmanager
def user(folder: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", USER, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> list[str]:
    """What it said of itself until it knew the address."""
    assert process.stdout is not None
    lines = [process.stdout.readline().strip()]
    while not lines[-1].startswith("http"):
        assert lines[-1], "it ended"
        lines.append(process.stdout.readline().strip())
    return lines


def join_again(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdin is not None
    process.stdin.write("again\n")
    process.stdin.flush()
    return said(process)


def wait_for_end(address: str) -> None:
    until = time.monotonic() + 60
    while is_listening(address):
        assert time.monotonic() < until, "the server did not end"
        time.sleep(0.02)


def test_processes_that_ask_at_once_share_one_server_which_ends_with_the_last(tmp_path: Path) -> None:
    with ExitStack() as users:
        processes = [users.enter_context(user(tmp_path)) for _ in range(3)]
        lines = [said(process) for process in processes]
        [address] = {found[-1] for found in lines}
        assert sum(found.count("launched") for found in lines) == 1
        starter = next(process for process, found in zip(processes, lines, strict=True) if "launched" in found)
        others = [process for process in processes if process is not starter]
        starter.send_signal(signal.SIGKILL)
        starter.wait()
        assert join_again(others[0]) == [address], "it outlives whoever started it"
        for process in others:
            process.send_signal(signal.SIGKILL)
            process.wait()
    wait_for_end(address)
    with user(tmp_path) as later:
        assert said(later)[0] == "launched"


def test_a_server_that_was_lost_is_started_anew_by_one_of_them(tmp_path: Path) -> None:
    with user(tmp_path) as first, user(tmp_path) as second:
        address = said(first)[-1]
        assert said(second)[-1] == address
        pid = int((tmp_path / "weights.address").read_text().split()[0])
        subprocess.run(["kill", "-KILL", str(pid)], check=True)
        wait_for_end(address)
        found = [join_again(first), join_again(second)]
        assert found[0][-1] == found[1][-1]
        assert found[0][-1] != address
        assert sum(lines.count("launched") for lines in found) == 1


def test_an_address_that_an_earlier_server_left_is_not_believed(tmp_path: Path) -> None:
    """Another program may listen there by now."""
    with user(tmp_path) as one:
        address = said(one)[-1]
        (tmp_path / "other.address").write_text((tmp_path / "weights.address").read_text())
        shared = SharedServer(tmp_path, "other", lambda _: (1, "http://127.0.0.1:1"))
        try:
            assert shared.join() == "http://127.0.0.1:1" != address
        finally:
            shared.leave()


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written: Not a directory"):
        SharedServer(tmp_path / "file" / "below", "weights", lambda _: (1, "")).join()
