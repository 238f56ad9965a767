"""An API process that is killed and started again, and a client that hands a plan in and follows it all the while."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import Any

from worker.cluster import Cluster

READY_SECONDS = 120.0
AGAIN_SECONDS = 0.2
STREAM_SECONDS = 30.0
"""Without a line for so long, a stream is opened anew."""
ENDS = ("finished", "failed", "cancelled")
AWAY = (urllib.error.URLError, HTTPException, OSError, ValueError)
"""What a client sees while the server, its database or its broker is away."""


class Api:
    """`proctor serve` on one port, whichever process has it."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self._port = found.getsockname()[1]
        self.address = f"http://127.0.0.1:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Answers when this returns, unless the database or the broker is away."""
        command = [Path(sys.executable).with_name("proctor"), "serve", "--port", str(self._port)]
        with (self._cluster.folder / "worker-api.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=self._cluster.folder, env=self._cluster.environment, stdout=log, stderr=log
            )
        until = time.monotonic() + READY_SECONDS
        while time.monotonic() < until and self._process.poll() is None:
            try:
                urllib.request.urlopen(f"{self.address}/health", timeout=5).close()
            except AWAY:
                time.sleep(AGAIN_SECONDS)
            else:
                return
        raise AssertionError(self._cluster.logs()[-3000:])

    def kill(self) -> int:
        """SIGKILL: no handler, no goodbye; gives the id that the process had."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(30)
        return self._process.pid

    def end(self) -> int:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(60)
        return self._process.pid


class Following(threading.Thread):
    """Hands a plan in until it is accepted, and reads the run's events until the last one, however often it breaks."""

    def __init__(self, address: str, plan: dict[str, Any]) -> None:
        super().__init__(daemon=True)
        self._address = address
        self._body = json.dumps(plan).encode()
        self._key = f"chaos-{time.time_ns()}"
        self.run_id: str | None = None
        self.numbers: list[int] = []
        self.ended_as: str | None = None
        self.breaks = 0

    def run(self) -> None:
        while self.run_id is None:
            try:
                self.run_id = self._hand_in()
            except AWAY:
                time.sleep(AGAIN_SECONDS)
        while self.ended_as is None:
            try:
                self._follow()
            except AWAY:
                self.breaks += 1
                time.sleep(AGAIN_SECONDS)

    def hand_in_again(self) -> str:
        """What the server says to the same request once more: it must be the same run."""
        return self._hand_in()

    def document(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self._address}/api/v1/runs/{self.run_id}", timeout=120) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def _hand_in(self) -> str:
        headers = {"Content-Type": "application/json", "Idempotency-Key": self._key}
        asked = urllib.request.Request(f"{self._address}/api/v1/runs", self._body, headers, method="POST")
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return str(json.load(answer)["run_id"])

    def _follow(self) -> None:
        headers = {"Last-Event-ID": str(self.numbers[-1] if self.numbers else 0)}
        asked = urllib.request.Request(f"{self._address}/api/v1/runs/{self.run_id}/events", headers=headers)
        with urllib.request.urlopen(asked, timeout=STREAM_SECONDS) as stream:
            fields: dict[str, str] = {}
            for line in stream:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                fields[name] = value
                if line != b"\n":
                    continue
                if "event" in fields:  # only what a blank line ends has arrived as a whole
                    self.numbers.append(int(fields["id"]))
                    if fields["event"] in ENDS:
                        self.ended_as = fields["event"]
                        return
                fields = {}
        raise ValueError("the stream ended before the run")


def numbers_of(address: str, run_id: str) -> list[int]:
    """The ids of a run's events, read at once."""
    with urllib.request.urlopen(f"{address}/api/v1/runs/{run_id}/events", timeout=120) as stream:
        return [int(line[4:]) for line in stream if line.startswith(b"id: ")]
