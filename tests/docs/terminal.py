"""A terminal of a hundred columns in which a document's commands are typed, in a home of their own."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from docs.markdown import ROOT

COLUMNS = 100
HOME, WORK = "/home/you/.proctor", "/home/you/work"
"""What documents show in the place of the temporary folders."""
PRIVATE = re.compile(r"PROCTOR_|.*_API_KEY$|HF_TOKEN$|CI$|BUILD_NUMBER$|PYTEST_")
PRESS = re.compile(r"(ctrl-c|kill -9) after (\d+) answers")
MASKS = (
    (re.compile(r"\b1[0-9a-hjkmnp-tv-z]{11}\b"), "RUN"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\+00:00|Z)?"), "TIME"),
    (re.compile(r"\b20\d\d-\d\d-\d\d\b"), "DATE"),
    (re.compile(r'("(?:\w*seconds?|p\d+)":\s?)[\d.e-]+'), r"\1SECONDS"),
    (re.compile(r'(time=")[\d.e-]+'), r"\1SECONDS"),
    (re.compile(r"\d[\d.,]*(?:e-\d+)? (?:µs|ms|s|min|h)\b( \d+ (?:min|s)\b)?"), "SECONDS"),
    (re.compile(r"\d[\d.,]*/s\b"), "RATE"),
)
NUMBER = re.compile(r"\d[\d.,]*")


def masked(text: str, *, has_numbers: bool = True) -> list[str]:
    """The lines without what differs from run to run; the width of columns does not count."""
    for pattern, word in MASKS:
        text = pattern.sub(word, text)
    if not has_numbers:
        text = NUMBER.sub("N", text)
    return [" ".join(line.split()) for line in text.rstrip().split("\n")]


@dataclass
class Terminal:
    folder: Path
    kind: str = "dumb"
    """`dumb` shows what any other shows, without colours and without movement."""
    last_code: int = 0
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.work.mkdir(parents=True, exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not PRIVATE.match(name)}
        tools = Path(sys.executable).parent
        self.environment = {
            **kept,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder),
            "PROCTOR_HOME": str(self.folder / ".proctor"),
            "TERM": self.kind,
            "COLUMNS": str(COLUMNS),
            "LINES": "50",  # without it, rich takes a dumb terminal to be 80 columns wide
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            **self.environment,
        }

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def run(self, command: str, press: str | None = None) -> str:
        """Type a command; gives what the terminal shows until it ends."""
        script = f"(exit {self.last_code}); {command}"
        return self._show(["bash", "-c", script], press)

    def run_python(self, code: str) -> str:
        script = self.folder / "example.py"
        script.write_text(code, encoding="utf-8")
        return self._show([sys.executable, "-W", "error", str(script)], None, {"PYTHONPATH": str(self.work)})

    def _show(self, words: list[str], press: str | None, more: Mapping[str, str] | None = None) -> str:
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        before = self._answers()
        process = subprocess.Popen(
            ["setsid", "--ctty", *words],  # Ctrl-C needs a terminal that is in control
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=self.work,
            env={**self.environment, **(more or {})},
        )
        os.close(theirs)
        try:
            if press is not None:
                self._press(press, before, ours, process)
            shown = _everything(ours)
        finally:
            os.close(ours)
        code = process.wait()
        self.last_code = code if code >= 0 else 128 - code
        text = self._shareable(shown.decode().replace("\r\n", "\n"))
        # Only a bug prints a traceback: it is never what a document should show, nor what a refresh should paste.
        assert "Traceback (most recent call last)" not in text, text
        return text

    def _press(self, what: str, before: int, ours: int, process: subprocess.Popen[bytes]) -> None:
        wanted = PRESS.fullmatch(what)
        assert wanted is not None, f"'press: {what}' is not understood"
        while self._answers() - before < int(wanted[2]):
            assert process.poll() is None, f"the command ended before '{what}'"
        if wanted[1] == "ctrl-c":
            os.write(ours, b"\x03")
        else:
            os.killpg(process.pid, signal.SIGKILL)

    def _answers(self) -> int:
        path = self.folder / ".proctor" / "proctor.db"
        if not path.exists():
            return 0
        connection = sqlite3.connect(path, timeout=60)
        try:
            return int(connection.execute("SELECT count(*) FROM responses").fetchone()[0])
        except sqlite3.OperationalError:  # the table is not there yet
            return 0
        finally:
            connection.close()

    def _shareable(self, text: str) -> str:
        for path, shown in ((self.folder / ".proctor", HOME), (self.work, WORK), (ROOT, "/home/you/proctor")):
            text = text.replace(str(path), shown)
        return text


def _everything(descriptor: int) -> bytes:
    parts = []
    while True:
        try:
            part = os.read(descriptor, 65_536)
        except OSError:  # Linux says so when the other side has gone
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)
