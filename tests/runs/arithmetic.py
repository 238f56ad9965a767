"""A benchmark of sums that the fake provider knows, and a provider process that counts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]


def write_benchmark(folder: Path, count: int) -> Path:
    rows = [{"id": f"s{n}", "question": f"What is {n} + {n % 7}?", "answer": str(n + n % 7)} for n in range(count)]
    (folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = folder / "sums.yaml"
    path.write_text(
        "name: sums\n"
        "dataset: {source: sums.jsonl, fields: {id: id, input: question, target: answer}}\n"
        "prompt: {user: '{{ input }}'}\n"
        "scorers: [numeric]\n"
    )
    return path


@contextmanager
def provider_process(*arguments: str) -> Iterator[str]:
    """A provider in a process of its own; gives its address, ends it by its process id."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    process = subprocess.Popen(
        [sys.executable, "-m", "fakes.provider", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline())
        yield f"http://127.0.0.1:{port}"
    finally:
        os.kill(process.pid, signal.SIGTERM)
        process.wait(60)
        process.stdout.close()


def stats(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{url}/stats", timeout=60) as response:
        found: dict[str, Any] = json.load(response)
    return found


def answered(url: str) -> int:
    """How many requests a provider process has answered so far."""
    with urllib.request.urlopen(f"{url}/answered", timeout=60) as response:
        found: int = json.load(response)
    return found


def start(home: Path, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """A real `proctor` process."""
    environment = {**os.environ, "PROCTOR_HOME": str(home)}
    return subprocess.Popen(
        [sys.executable, "-m", "proctor", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], seconds: float = 240) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err


def kill(process: subprocess.Popen[str]) -> None:
    """SIGKILL: no handler, no goodbye."""
    process.kill()
    process.communicate(timeout=30)


def wait_for(condition: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the condition did not come true")
        time.sleep(0.01)
