"""Tests that look for what was left on the machine, and the one that leaves something on purpose, take turns."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK = Path(tempfile.gettempdir(), "proctor-tests-traces.lock")


@contextmanager
def looking() -> Iterator[None]:
    """Nobody leaves anything on purpose meanwhile; others may look too."""
    with _held(fcntl.LOCK_SH):
        yield


@contextmanager
def leaving() -> Iterator[None]:
    """Nobody looks meanwhile."""
    with _held(fcntl.LOCK_EX):
        yield


@contextmanager
def _held(kind: int) -> Iterator[None]:
    with _LOCK.open("a") as file:
        fcntl.flock(file, kind)
        yield
