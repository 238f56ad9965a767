"""What happens when the place where results are kept gives out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runs.arithmetic import TESTS, finish, start, write_benchmark

needs_mounts = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="mounting a small file system needs root and unshare"
)


@needs_mounts
def test_a_full_disk_is_one_clear_line_and_loses_nothing(tmp_path: Path) -> None:
    """A file system of 1,600 KB fills up in the middle of a run; with more room the run goes on where it was."""
    write_benchmark(tmp_path, 6_000)
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "answers.py").write_text(
        "def answer(prompt: str) -> str:\n"
        "    words = prompt.split()\n"
        "    return str(int(words[2]) + int(words[4][:-1]))\n"
    )
    script = f"""
        set -u
        mount -t tmpfs -o size=1600k tmpfs {home}
        {sys.executable} -m proctor run sums.yaml -m python/answers:answer > first.out 2> first.err
        echo $? > first.code
        mount -o remount,size=50m {home}
        {sys.executable} -m proctor resume latest --json > second.out 2> second.err; echo $? > second.code
        cp {home}/proctor.db {tmp_path}/kept.db
    """
    environment = {**os.environ, "PROCTOR_HOME": str(home), "PYTHONPATH": str(TESTS)}
    probe = subprocess.run(
        ["unshare", "-m", "sh", "-c", f"mount -t tmpfs tmpfs {home}"], capture_output=True, text=True, check=False
    )
    if probe.returncode != 0:
        pytest.skip(f"no private mounts here: {probe.stderr.strip()}")
    subprocess.run(["unshare", "-m", "sh", "-c", script], cwd=tmp_path, env=environment, check=True, timeout=240)
    error = (tmp_path / "first.err").read_text()
    assert (tmp_path / "first.code").read_text().strip() == "1"
    assert "The disk is full" in error
    assert "Traceback" not in error
    assert len([line for line in error.splitlines() if line.startswith("Error")]) == 1
    assert (tmp_path / "second.code").read_text().strip() == "0", (tmp_path / "second.err").read_text()
    [evaluation] = json.loads((tmp_path / "second.out").read_text())["evaluations"]
    assert evaluation["scored"] == 6_000
    assert evaluation["metrics"]["accuracy"]["value"] == 1.0


def test_two_processes_use_the_same_database_at_once(tmp_path: Path) -> None:
    write_benchmark(tmp_path, 400)
    home = tmp_path / "home"
    processes = [
        start(home, tmp_path, "run", "puzzles?count=300", "-m", "demo/strong", "--seed", str(seed), "--json")
        for seed in range(3)
    ]
    for process in processes:
        code, out, err = finish(process)
        assert code == 0, err
        assert json.loads(out)["evaluations"][0]["trials"] == 300
    code, out, _ = finish(start(home, tmp_path, "runs", "--json"))
    assert code == 0
    assert len(json.loads(out)) == 3


def test_a_run_that_another_process_executes_is_not_taken_over(tmp_path: Path) -> None:
    home = tmp_path / "home"
    running = start(home, tmp_path, "run", "puzzles?count=50", "-m", "demo/strong?delay_ms=60000", "--json")
    try:
        first = (running.stderr.readline() if running.stderr else "").split()
        run_id = first[1].rstrip(":")
        code, _, err = finish(start(home, tmp_path, "resume", run_id))
        assert code == 1
        assert "is being executed by another process" in err
    finally:
        running.kill()
        running.communicate()
    code, _, err = finish(start(home, tmp_path, "resume", run_id, "--timeout", "0.2", "--retries", "0"))
    assert "is being executed" not in err
