"""A pseudo-terminal for the command line: what a person at a keyboard would see and press."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios
from collections.abc import Callable

CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal:
    """Runs a command at a terminal of a given width; `screen` is everything it wrote, colours left out."""

    def __init__(self, *arguments: object, environment: dict[str, str], columns: int = 80, rows: int = 40) -> None:
        self.raw = b""
        self.pid, self._fd = pty.fork()
        if self.pid == 0:  # pragma: no cover - the child becomes the command
            size = struct.pack("HHHH", rows, columns, 0, 0)
            fcntl.ioctl(0, termios.TIOCSWINSZ, size)
            env = {**environment, "TERM": "xterm-256color"}
            env.pop("COLUMNS", None)
            os.execve(sys.executable, [sys.executable, "-m", "proctor", *map(str, arguments)], env)

    def read_until(self, done: Callable[[str], bool]) -> str:
        """Read until the screen says so, or the command ends."""
        while not done(self.screen):
            try:
                data = os.read(self._fd, 65536)
            except OSError:
                break
            if not data:
                break
            self.raw += data
        return self.screen

    def press_ctrl_c(self) -> None:
        os.kill(self.pid, signal.SIGINT)

    def finish(self) -> int:
        """Read to the end; gives the exit code."""
        self.read_until(lambda _: False)
        os.close(self._fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    @property
    def screen(self) -> str:
        return CONTROL.sub("", self.raw.decode("utf-8", "replace")).replace("\r", "\n")

    @property
    def lines(self) -> list[str]:
        return self.screen.splitlines()
