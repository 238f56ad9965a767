"""A real server with the built dashboard, and one real browser, for the tests of a worker."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from dashboard.hostile import PAYLOADS, write_hostile
from dashboard.node import SOURCES, builder, missing, node
from fakes.scorecards import keep_program
from server.serving import Server, serving

DEMO: dict[str, Any] = {
    "name": "three models",
    "models": ["demo/strong", "demo/average", "demo/weak"],
    "benchmarks": [{"benchmark": "puzzles", "limit": 60}],
    "seed": 5,
}


class Browser:
    """One Chromium; each journey has a page of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def begin(self, journey: str, server: Server, **given: Any) -> None:
        self._input.write(json.dumps({"journey": journey, "base": server.address, "given": given}) + "\n")
        self._input.flush()

    def wait(self) -> Any:
        """What the journey says next."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the browser has ended"
        return json.loads(line)

    def end(self) -> Any:
        """What the journey saw; nothing may have gone wrong in the page, and nothing left it."""
        answer = self.wait()
        assert answer["ok"], f"{answer.get('error')}\n\n{answer.get('text')}"
        assert answer["seen"] == {"errors": [], "foreign": [], "dialogs": []}
        return answer["value"]

    def go(self, journey: str, server: Server, **given: Any) -> Any:
        self.begin(journey, server, **given)
        return self.end()

    @property
    def _input(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin


@pytest.fixture(scope="session")
def built() -> None:
    """The dashboard as its sources are now."""
    if (reason := missing()) is not None:
        pytest.skip(reason)
    if shutil.which("chromium") is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    if not builder.build_or_say_why(with_tests=True):
        pytest.skip("the dashboard cannot be built here")


@pytest.fixture(scope="session")
def browser(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("browser")
    process = subprocess.Popen(
        [str(node()), "journeys/driver.mjs"],
        cwd=SOURCES,
        env=os.environ | {"TMPDIR": str(folder), "HOME": str(folder), "NODE_DISABLE_COMPILE_CACHE": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Browser(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(60)
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture(scope="session")
def served(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose operator has a slow model and hostile data in the folder."""
    folder: Path = tmp_path_factory.mktemp("dashboard")
    write_hostile(folder)
    with serving(folder / "home", folder) as found:
        yield found


@pytest.fixture(scope="session")
def finished(served: Server) -> str:
    return served.run(DEMO)


@pytest.fixture(scope="session")
def programs(served: Server) -> tuple[str, str]:
    """Two programs for one problem: the first fails a check with a message, and has code, that try to be more."""
    payloads = " ".join(PAYLOADS[:60])
    hostile = keep_program(
        served.home, PAYLOADS[0], "short_rows", message=payloads, text=payloads.encode("utf-8", "replace")
    )
    return hostile, keep_program(served.home, "better")


@pytest.fixture(scope="session")
def hostile_run(served: Server) -> str:
    plan = {
        "name": PAYLOADS[0],
        "models": ["python/hostile:answer", "python/hostile:other"],
        "benchmarks": [str(served.folder / "hostile.yaml")],
    }
    run = served.run(plan)
    assert served.get(f"/api/v1/runs/{run}")["status"] == "completed"
    return run
