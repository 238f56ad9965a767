"""A real server in a process of its own, on a free port, with a home of its own; ended by its process id."""

from __future__ import annotations

import os
import re
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from commands import ended

PROGRAM = "from proctor.cli.main import main; main()"
SECRET = "mZ4vR8tQ1xK7wB3nY6cJ9hL2fD5gS0pA"
ADDRESS = re.compile(r"Proctor is at (https?://\S+)")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass
class Server:
    address: str
    home: Path
    folder: Path
    process: subprocess.Popen[str] = field(repr=False)
    certificate: Path | None = None
    """Whom to trust, where it is reached by TLS."""
    said: list[str] = field(default_factory=list, repr=False)
    """What it wrote to standard error, once it has ended."""

    @property
    def place(self) -> tuple[str, int]:
        parts = urlsplit(self.address)
        return str(parts.hostname), int(parts.port or 0)

    def open(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> tuple[HTTPConnection, HTTPResponse]:
        """The answer as it comes; whoever asked closes the connection."""
        if self.certificate is None:
            connection = HTTPConnection(*self.place, timeout=120)
        else:
            context = ssl.create_default_context(cafile=str(self.certificate))
            connection = HTTPSConnection(*self.place, timeout=120, context=context)
        sent = body if body is None or isinstance(body, bytes) else orjson.dumps(body)
        kind = {} if body is None else {"Content-Type": "application/json"}
        connection.request(method, path, sent, {**kind, **(headers or {})})
        return connection, connection.getresponse()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection, answer = self.open(method, path, body, named)
        try:
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Any:
        answer = self.ask("GET", path, **headers)
        assert answer.status == 200, answer.body
        return answer.json

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        return self.ask("POST", path, body, **headers)

    def run(self, plan: Mapping[str, Any]) -> str:
        """Hand in a plan and wait for its end; gives the run's id."""
        answer = self.post("/api/v1/runs", plan)
        assert answer.status == 202, answer.body
        run_id: str = answer.json["run_id"]
        self.wait(run_id)
        return run_id

    def wait(self, run_id: str, *statuses: str) -> Any:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            run = self.get(f"/api/v1/runs/{run_id}")
            if run["status"] in (statuses or ("completed", "failed", "cancelled")):
                return run
            time.sleep(0.1)
        raise AssertionError(f"run {run_id} does not end")

    def wait_as(self, run_id: str, key: str) -> Any:
        """The run once it has ended, as somebody with a key sees it."""
        until = time.monotonic() + 120
        while time.monotonic() < until:
            run = self.get(f"/api/v1/runs/{run_id}", Authorization=f"Bearer {key}")
            if run["status"] in ("completed", "failed", "cancelled"):
                return run
            time.sleep(0.1)
        raise AssertionError(f"run {run_id} does not end")

    def cli(self, *arguments: str) -> tuple[int, str, str]:
        """A command of this server's home, as its operator would type it: its code, its output and its errors."""
        return ended(self.home, self.folder, *arguments)


@contextmanager
def serving(
    home: Path, folder: Path, *arguments: str, certificate: Path | None = None, **environment: str
) -> Iterator[Server]:
    """A server that listens; ended with SIGTERM, and it must end well."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "serve", "--port", "0", *arguments],
        cwd=folder,
        env={**os.environ, "PROCTOR_HOME": str(home), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if found := ADDRESS.search(line):
            break
    else:
        raise AssertionError(f"the server did not start: {said}")
    server = Server(found[1], home, folder, process, certificate)
    try:
        yield server
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        code = process.wait(60)
        server.said += [said, rest]
        process.stderr.close()
    assert code == 0, rest
    assert "Traceback" not in rest, rest
