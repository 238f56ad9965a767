"""A real Redis server for tests: started on a free port of this machine, ended by its process id."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAM = shutil.which("redis-server")
START_SECONDS = 60


class RedisServer:
    """The folder that it makes is removed when it is closed; a stop keeps what was saved, `wipe` forgets it."""

    def __init__(self, password: str | None = None) -> None:
        assert PROGRAM is not None, "there is no redis-server here: apt-get install redis-server"
        self.folder = Path(tempfile.mkdtemp(prefix="proctor-redis-"))
        self.password = password
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        login = "" if self.password is None else f":{self.password}@"
        return f"redis://{login}127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        if self._process is not None:
            return
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        options += ["--save", "", "--appendonly", "yes", "--appendfsync", "no", "--databases", "4"]
        if self.password is not None:
            options += ["--requirepass", self.password]
        assert PROGRAM is not None
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen([PROGRAM, *options], cwd=self.folder, stdout=log, stderr=log)
        self._wait()

    def _wait(self) -> None:
        until = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process is None or self._process.poll() is not None or time.monotonic() > until:
                said = (self.folder / "log").read_text()[-2000:]
                self.end()
                raise RuntimeError(f"Redis did not start:\n{said}")
            time.sleep(0.02)

    def _answers(self) -> bool:
        """Whether it has read its file: before that it says LOADING."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as probe:
                login = "" if self.password is None else f"AUTH {self.password}\r\n"
                probe.sendall(f"{login}PING\r\n".encode())
                said = b""
                while b"PONG" not in said and b"-" not in said:
                    if not (part := probe.recv(100)):
                        return False
                    said += part
                return b"PONG" in said
        except OSError:
            return False

    def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None

    def wipe(self) -> None:
        """Forget everything, as a machine does whose disk is lost; only while it is down."""
        assert self._process is None
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != "log":
                path.unlink()

    def close(self) -> None:
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
