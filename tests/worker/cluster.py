"""Groups of worker processes as `proctor worker` starts them, with what they share, ended by their process ids."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from redis_server import RedisServer

READY_SECONDS = 120


def children(pid: int) -> list[int]:
    """The processes that this one has started and that live."""
    found = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return [int(text) for text in found.read_text().split()]
    except OSError:
        return []


def is_running(pid: int) -> bool:
    """Whether it is there, and no process that has ended and nobody asked for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def signal_process(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


class Cluster:
    """One database, one Redis, and the worker groups of a test."""

    def __init__(self, folder: Path, database_url: str, redis: RedisServer, **environment: str) -> None:
        self.folder, self.redis, self.database_url = folder, redis, database_url
        self.home = folder / "worker-home"
        self.environment = {
            **os.environ,
            "PROCTOR_HOME": str(self.home),
            "PROCTOR_DATABASE_URL": database_url,
            "PROCTOR_BROKER_URL": redis.url,
            "OPENAI_API_KEY": "k",
            "TMPDIR": str(folder),  # what is killed removes nothing
            "PYTHONFAULTHANDLER": "1",  # who does not end says where it stands
            **environment,
        }
        self.groups: list[subprocess.Popen[bytes]] = []
        self._logs = 0

    def command(self, *arguments: str, stdin: int | None = None, **more: str) -> subprocess.Popen[str]:
        """`proctor`, as a process of its own."""
        return subprocess.Popen(
            [Path(sys.executable).with_name("proctor"), *arguments],
            cwd=self.folder,
            env={**self.environment, **more},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, **more: str) -> tuple[int, str, str]:
        process = self.command(*arguments, **more)
        out, err = process.communicate(timeout=3_600)
        return process.returncode, out, err

    def start(self, count: int = 1, *options: str, concurrency: int = 2) -> list[subprocess.Popen[bytes]]:
        """Further groups; they are ready when this returns."""
        started, logs = [], []
        for _ in range(count):
            self._logs += 1
            log = self.folder / f"worker-{self._logs}.log"
            logs.append(log)
            with log.open("wb") as file:
                process = subprocess.Popen(
                    [Path(sys.executable).with_name("proctor"), "worker", *options, "--concurrency", str(concurrency)],
                    cwd=self.folder,
                    env=self.environment,
                    stdout=file,
                    stderr=file,
                )
            started.append(process)
        self.groups += started
        for process, log in zip(started, logs, strict=True):
            until = time.monotonic() + READY_SECONDS
            while "is ready" not in log.read_text():
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < until, log.read_text()
                time.sleep(0.1)
        return started

    def kill(self, group: subprocess.Popen[bytes]) -> None:
        """The whole group at once, as a machine goes that loses its power."""
        self.groups.remove(group)
        pids = [*children(group.pid), group.pid]
        for pid in pids:
            signal_process(pid, signal.SIGSTOP)  # or the group would start children anew meanwhile
        for pid in {*pids, *children(group.pid)}:
            signal_process(pid, signal.SIGKILL)
        group.wait(30)

    def logs(self) -> str:
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("worker-*.log")))

    def end(self, group: subprocess.Popen[bytes]) -> None:
        """In good order; what does not end then is killed."""
        self.groups.remove(group)
        group.send_signal(signal.SIGTERM)
        try:
            group.wait(40)
        except subprocess.TimeoutExpired:
            pids = [*children(group.pid), group.pid]
            for number in (signal.SIGABRT, signal.SIGKILL):
                for pid in pids:
                    signal_process(pid, number)
                time.sleep(1)
            group.wait(30)
            raise AssertionError(f"{group.pid} of {pids} did not end within 40 s:\n{self.logs()}") from None

    def close(self) -> None:
        for group in self.groups:
            group.send_signal(signal.SIGTERM)
        for group in list(self.groups):
            self.end(group)


def wait_until(is_done: Callable[[], bool], what: str, seconds: float = 120) -> float:
    """The seconds that it took."""
    started = time.monotonic()
    while not is_done():
        assert time.monotonic() < started + seconds, f"{what}: not within {seconds} s"
        time.sleep(0.05)
    return time.monotonic() - started
