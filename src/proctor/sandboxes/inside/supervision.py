"""How a run ended: what was watched, put together into one answer."""

from __future__ import annotations

import base64
import json
import os
import signal
import struct
import time
from typing import Any

from . import syscalls
from .artifacts import Collector
from .frames import MAX_LENGTH, Unframer
from .warm import SandboxFaultError
from .watching import Supervised, SupervisedProcess, counters

_NAMES: dict[int, str] = {}
# The last line of a failed Python program; a program that only pretends gains nothing: it failed.
_TELLING = {
    b"MemoryError": "memory",
    b"File too large": "file_size",
    b"No space left": "disk",
    b"Too many open files": "open_files",
}


_UNCOUNTED_SECONDS = 0.01


def is_time_up(counted: float, elapsed: float, limit: float) -> bool:
    """Whether a program that was killed had used up its processor time.

    A tool such as bubblewrap may leave before it has reaped what it started, and then only its own few milliseconds
    are counted: no interpreter starts in so few. What was then used up is told by the clock.
    """
    return (elapsed if counted < _UNCOUNTED_SECONDS else counted) >= 0.9 * limit


class SupervisedRun(Supervised):
    """A run and the judgement of it; a limit that was passed explains everything else."""

    def _classify(self, child: SupervisedProcess, status: int | None) -> tuple[str, int | None, int | None]:
        """The ending, the exit code and the signal; a limit that was passed explains everything else."""
        after = counters(child.parent)
        code = os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None
        number = os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None
        if self._ending is not None:
            return self._ending, None, None
        if after["memory"] > self._before["memory"]:
            return "memory", code, number
        if number is not None:
            counted = child.ended.cpu_seconds if child.ended else 0.0
            by_signal = {signal.SIGXCPU: "cpu", signal.SIGXFSZ: "file_size"}
            is_late = is_time_up(counted, time.monotonic() - self._started, self._limits["cpu_seconds"])
            is_cpu = number == signal.SIGKILL and is_late
            return "cpu" if is_cpu else by_signal.get(number, "crashed"), code, number  # type: ignore[call-overload]
        if code != 0 and after["forks"] > self._before["forks"]:
            return "processes", code, None
        return "exited", code, None

    def _spent(self, child: SupervisedProcess) -> dict[str, Any]:
        cpu = self._cpu_seconds()
        ended = child.ended
        return {
            "seconds": time.monotonic() - self._started,
            "cpu_seconds": cpu if cpu is not None or ended is None else ended.cpu_seconds,
            "peak_memory_bytes": ended.peak_bytes if ended else None,
        }

    def _named_violations(self) -> dict[str, int]:
        if self._violations and not _NAMES:
            _NAMES.update({number: name for name, number in syscalls.numbers(syscalls.machine()).items()})
        return {_NAMES.get(number, str(number)): count for number, count in self._violations.items()}

    def _raise_faults(self, child: SupervisedProcess) -> None:
        if self._fault is not None:
            raise SandboxFaultError(f"a child could not confine itself: {self._fault}")
        if not self._is_ready:
            said = bytes(self._output["stderr"]).decode(errors="replace").strip()[-300:]
            raise SandboxFaultError(f"nothing was started: {said or 'no reason was given'}")
        if child.ended is None and self._ending is None and counters(child.parent)["memory"] <= self._before["memory"]:
            raise SandboxFaultError("a warm parent died during the run")

    def execution(self, *, collect: bool) -> dict[str, Any]:
        child = self._children["program"]
        self._raise_faults(child)
        status = struct.unpack("=i", self._main_status)[0] if len(self._main_status) == 4 else None
        if status is None and child.ended is not None and self._ending is None:
            # It was ready: only the program it had started could end it without a word.
            status = child.ended.status or int(signal.SIGKILL)
        elif status is None and child.ended is not None:
            status = child.ended.status
        return self._execution(child, status, collect=collect)

    def _execution(self, child: SupervisedProcess, status: int | None, *, collect: bool) -> dict[str, Any]:
        ending, code, number = self._classify(child, status)
        answer: dict[str, Any] = {
            "ending": self._refined(ending, code),
            "exit_code": code,
            "signal": number,
            "spent": self._spent(child),
            "violations": self._named_violations(),
            **{name: base64.b64encode(data).decode() for name, data in self._output.items()},
        }
        if collect and self._folder is not None:
            collector = Collector()
            collector.walk(self._folder)
            answer["files"] = {name: base64.b64encode(data).decode() for name, data in collector.files.items()}
            answer["refused_files"] = collector.refused
        return answer

    def _refined(self, ending: str, code: int | None) -> str:
        """Limits that a program meets as an error of its own: named when it failed and the error stands at its end."""
        if ending != "exited" or code == 0:
            return ending
        if self._folder is not None:
            disk = os.fstatvfs(self._folder)
            if disk.f_bavail == 0 or disk.f_favail == 0:
                return "disk"
        last = bytes(self._output["stderr"]).rstrip().rsplit(b"\n", 1)[-1]
        for text, name in _TELLING.items():
            if text in last:
                return name
        return ending

    def verdict(self) -> dict[str, Any]:
        child, judge = self._children["candidate"], self._children["judge"]
        frames = _frames(bytes(self._reports))
        # Tests that cannot be run are found at once: the candidate may be ended before it has said that it is ready.
        if not any("unjudgeable" in frame for frame in frames):
            self._raise_faults(child)
        if any("fault" in frame for frame in frames):
            raise SandboxFaultError(f"the judge could not confine itself: {frames[-1]['fault']}")
        if not frames or "ready" not in frames[0]:
            raise SandboxFaultError("the judge was not started")
        final = frames[-1] if frames else {}
        # Both must say so: the judge's last word, and its exit.
        passed = (
            self._ending is None and final.get("done") is True and judge.ended is not None and judge.ended.status == 0
        )
        ending = "exited" if passed else self._why(child, frames)
        return {
            "passed": passed,
            "ending": ending,
            "cases": [frame for frame in frames if "case" in frame],
            "final": {key: value for key, value in final.items() if key != "case"},
            "judge_is_lost": self._ending is None and not ({"done", "lost", "load", "unjudgeable"} & final.keys()),
            "spent": self._spent(child),
            "violations": self._named_violations(),
        }

    def _why(self, child: SupervisedProcess, frames: list[dict[str, Any]]) -> str:
        is_lost = any("lost" in frame for frame in frames)
        status = child.ended.status if child.ended and is_lost else 0
        ending = self._classify(child, status)[0]
        said = (
            frame.get("load") or (frame.get("status") not in (None, "passed") and frame["message"]) for frame in frames
        )
        text = str(next(filter(None, said), ""))
        if ending == "exited":
            return next((name for mark, name in _TELLING.items() if mark.decode() in text), ending)
        return ending


def _frames(data: bytes) -> list[dict[str, Any]]:
    """The judge's reports; a last one that was cut off is left out."""
    return [json.loads(report) for report in Unframer(MAX_LENGTH).feed(data)]
