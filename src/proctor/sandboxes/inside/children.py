"""What a child does: take its descriptors, confine itself, read its work, and become candidate, judge or program."""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import struct
from collections.abc import Callable
from typing import Any

from . import candidate, judge, kernel, script
from .frames import Channel

CONTROL, _PEER = 3, 4


def _place(fds: list[int], targets: list[int]) -> None:
    """Move descriptors to fixed numbers and close every other one: nothing of the parent's is inherited."""
    high = [os.dup2(fd, 100 + index, inheritable=False) for index, fd in enumerate(fds)]
    for fd, target in zip(high, targets, strict=True):
        os.dup2(fd, target, inheritable=target < CONTROL)
    os.closerange(max(targets) + 1, 256)


def place_above(fds: list[int]) -> None:
    """Descriptors to 3 and up, the standard streams left alone."""
    _place([0, 1, 2, *fds], [0, 1, 2, *range(CONTROL, CONTROL + len(fds))])


def null_streams() -> None:
    null = os.open("/dev/null", os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.close(null)


def write_files(files: dict[str, str]) -> None:
    for name, data in files.items():
        folder = os.path.dirname(name)  # noqa: PTH120  pathlib would make every fork dearer
        if folder:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        with open(name, "wb") as file:  # noqa: PTH123
            file.write(base64.b64decode(data))


def place(role: str, fds: list[int]) -> None:
    """From here on descriptor 3 leads to the supervisor."""
    if role == "program":
        _place(fds, [CONTROL, 0, 1, 2])
    else:
        _place(fds, [CONTROL, _PEER])
        null_streams()


def report_fault(role: str, text: str) -> None:
    if role == "judge":
        Channel(CONTROL).send(json.dumps({"fault": text}).encode())
    else:
        os.write(CONTROL, b"fault:" + text.encode())


def run(order: dict[str, Any], confine: Callable[[dict[str, Any], socket.socket], None]) -> int:
    """Do the work; the exit code."""
    role = order["role"]
    control = socket.socket(fileno=CONTROL)
    confine(order, control)
    payload = json.loads(Channel(CONTROL).receive())
    write_files(payload.get("files", {}))
    if role == "judge":
        return judge.main(Channel(CONTROL), Channel(_PEER), payload)
    if role == "candidate":
        control.close()
        candidate.main(Channel(_PEER), payload)
        return 0
    return _be_init(payload)


def _be_init(payload: dict[str, Any]) -> int:
    """Start the program as a process like any other, tell the supervisor how it ended, and end with it."""
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program may send it whatever it likes
    # Before the fork: the program must find no moment in which it could open this process's memory.
    kernel.prctl(kernel.SET_DUMPABLE, 0)
    main = os.fork()
    if main == 0:
        kernel.prctl(kernel.SET_DUMPABLE, 1)
        os.close(CONTROL)
        signal.signal(signal.SIGINT, usual)
        become(payload)
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == main:
            os.write(CONTROL, struct.pack("=i", status))
            return 0


def become(payload: dict[str, Any]) -> None:
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    if payload["mode"] == "script":
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        os._exit(script.run(payload["source"], payload["arguments"]))
    try:
        os.execvpe(payload["command"][0], payload["command"], dict(os.environ))  # noqa: S606  the point of it
    except OSError as error:
        os.write(2, f"cannot start {payload['command'][0]}: {error}\n".encode())
    os._exit(127)
