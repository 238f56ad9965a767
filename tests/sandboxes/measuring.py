"""Forked children whose coverage is not lost: they hand it over through a descriptor, wherever they have gone.

A sandboxed child has no folder to write to and ends with os._exit, so what it ran is sent just before that, as plain
numbers, and written down out here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import coverage

_FD = 900  # above everything a child closes


class _Recorder:
    """Stands in for the file that a child cannot write."""

    def __init__(self) -> None:
        self.arcs: dict[str, list[Any]] = {}

    def add_arcs(self, data: dict[str, Any]) -> None:
        for name, found in data.items():
            self.arcs.setdefault(name, []).extend(found)

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args, **kwargs: None


def in_child(work: Callable[[], object]) -> int:
    """Do this in a forked child; its status, as os.wait says it."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        _be_child(work, write)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        sent = file.read()
    status = os.waitpid(pid, 0)[1]
    _keep(sent)
    return status


def _be_child(work: Callable[[], object], write: int) -> None:
    leave, measured, recorder = os._exit, coverage.Coverage.current(), _Recorder()
    os.dup2(write, _FD)
    if measured is not None and measured._collector is not None:
        # From the start: a child that runs the exit functions must not write into its parent's file.
        measured._collector.covdata = measured._data = recorder

    def send_and_leave(code: int) -> None:
        if measured is not None and measured._collector is not None:
            measured._collector.flush_data()
            os.write(_FD, json.dumps(recorder.arcs).encode() + b"\n")
        leave(code)

    os._exit = send_and_leave  # type: ignore[assignment]
    code = 99
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def _keep(sent: bytes) -> None:
    measured = coverage.Coverage.current()
    if measured is None:
        return
    for number, line in enumerate(sent.splitlines()):
        name = f"{measured.get_data().base_filename()}.child-{os.getpid()}-{os.urandom(4).hex()}-{number}"
        data = coverage.CoverageData(basename=name)
        data.add_arcs({path: [tuple(arc) for arc in arcs] for path, arcs in json.loads(line).items()})
        data.write()
        data.close(force=True)
