"""A real Chromium, spoken to over its debugging pipe: no driver, no port."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)  # fmt: skip
# Chromium reads its orders from 3 and answers on 4; away first, because one of ours may be 3 or 4 itself.
START = """
import fcntl, os, sys
reading, writing = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(reading, 3)
os.dup2(writing, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One page; `violations` and `requests` are what the page tried and asked for."""

    def __init__(self) -> None:
        assert CHROMIUM is not None
        self._folder = Path(tempfile.mkdtemp(prefix="browser-"))
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        profile = f"--user-data-dir={self._folder}"
        self._process = subprocess.Popen(
            [sys.executable, "-c", START, str(theirs_in), str(theirs_out), CHROMIUM, *FLAGS, profile, "about:blank"],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": str(self._folder)},
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._out = os.fdopen(ours_out, "wb")
        self._in = os.fdopen(ours_in, "rb")
        self._number, self._buffer = 0, b""
        self._session: str | None = None
        self.requests: list[str] = []
        self.violations: list[str] = []

    def __enter__(self) -> Browser:
        try:
            self._attach()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _attach(self) -> None:
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait(timeout=60)
        self._out.close()
        self._in.close()
        self._remove_folder()

    def _remove_folder(self) -> None:
        """Helpers of the browser outlive it for a moment, and go on writing."""
        for _ in range(400):
            shutil.rmtree(self._folder, ignore_errors=True)
            if not self._folder.exists():
                return
            time.sleep(0.05)
        raise AssertionError(f"{self._folder} cannot be removed")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self._note(answer)

    def wait_for(self, event: str) -> None:
        while self._note(self._read()) != event:
            pass

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._in.fileno(), 65_536)
            assert part, "Chromium has gone away"
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(line))

    def _note(self, event: dict[str, Any]) -> str:
        method, parameters = str(event.get("method")), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.violations.append(parameters["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.violations.append(str(parameters["exceptionDetails"]))
        return method

    def open(self, path: Path) -> None:
        self.call("Page.navigate", url=path.as_uri())
        self.wait_for("Page.loadEventFired")

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited."""
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")
