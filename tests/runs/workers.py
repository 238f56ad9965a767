"""Runs that worker processes carry out, as a test starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proctor.domain.chunk import Pool, Priority
from proctor.domain.plan import Plan
from proctor.runs.chunks.accept import accept
from proctor.runs.resolve import PlanContext
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.database import Database


def here(folder: Path, home: Path) -> PlanContext:
    return PlanContext(folder, dict(os.environ), artifacts=FolderArtifacts(home / "artifacts"), home=home)


def accepted(
    database: Database, folder: Path, home: Path, *, priority: Priority = Priority.NORMAL, **plan: object
) -> str:
    return accept(Plan.model_validate(plan), here(folder, home), database, priority=priority)


def start_worker(home: Path, folder: Path, pools: str = ",".join(Pool)) -> subprocess.Popen[bytes]:
    """A real worker process; it ends with its standard input."""
    return subprocess.Popen(
        [sys.executable, "-m", "proctor.worker.process", "--pools", pools],
        cwd=folder,
        env={**os.environ, "PROCTOR_HOME": str(home), "TMPDIR": str(folder)},  # what is killed removes nothing
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def end_worker(process: subprocess.Popen[bytes]) -> str:
    """Ended in good order, or gone already; gives what it said."""
    try:
        return process.communicate(timeout=60)[1].decode()
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[1].decode()


@contextmanager
def workers(count: int, home: Path, folder: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    started = [start_worker(home, folder) for _ in range(count)]
    try:
        yield started
    finally:
        for process in started:
            end_worker(process)
