"""However the harness ends, its tools end with it, and their folders go at the next start."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proctor.programs.tools.scratch import PREFIX, scratch, sweep

HARNESS = """
import asyncio, sys
from proctor.programs.tools.running import copied, run_tool
async def main():
    with copied({"main.py": b"x = 1"}) as copy:
        print(copy.folder, flush=True)
        await run_tool((sys.executable, "-c", "import time; time.sleep(300)", sys.argv[1]), copy.folder)
asyncio.run(main())
"""
NEXT = """
from proctor.programs.tools.running import copied
with copied({}): pass
"""


def within(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def running(mark: str) -> list[int]:
    """Tools whose command line ends with this; zombies have none."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if words[-2:-1] == [mark.encode()] and b"run_tool" not in b" ".join(words):
            found.append(int(path.parent.name))
    return found


@contextlib.contextmanager
def started(mark: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A harness in the midst of a tool, and the folder it works in."""
    with subprocess.Popen([sys.executable, "-c", HARNESS, mark], stdout=subprocess.PIPE, text=True) as harness:
        try:
            assert harness.stdout is not None
            folder = Path(harness.stdout.readline().strip())
            assert within(lambda: bool(running(mark)))
            yield harness, folder
        finally:
            harness.kill()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files that no other test uses."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_nothing_outlives_a_killed_harness(temporary: Path) -> None:
    mark = f"proctor-scratch-{os.getpid()}-killed"
    with started(mark) as (harness, folder):
        assert folder.parent == temporary
        os.kill(harness.pid, signal.SIGKILL)
        harness.wait()
    assert within(lambda: not running(mark)), "a tool went on without its harness"
    assert folder.exists(), "nobody was left to remove it"
    subprocess.run([sys.executable, "-c", NEXT], check=True)
    assert list(temporary.iterdir()) == []


def test_the_folder_of_a_living_harness_is_left_alone(temporary: Path) -> None:
    with started(f"proctor-scratch-{os.getpid()}-living") as (_, folder):
        subprocess.run([sys.executable, "-c", NEXT], check=True)
        assert (folder / "main.py").exists()


def test_only_abandoned_folders_of_ones_own_are_swept(temporary: Path) -> None:
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("")
    (temporary / f"{PREFIX}link").symlink_to(elsewhere)
    (temporary / f"{PREFIX}file").write_text("")
    (temporary / f"{PREFIX}old" / "deep").mkdir(parents=True)
    with scratch() as folder:
        sweep()
        assert folder.exists()
        assert sorted(path.name for path in temporary.iterdir()) == sorted(
            ["elsewhere", f"{PREFIX}link", f"{PREFIX}file", folder.name]
        )
    assert not folder.exists()
    assert (elsewhere / "kept").exists()
