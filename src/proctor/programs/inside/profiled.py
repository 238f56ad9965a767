"""Runs a program under cProfile, its threads too, and adds what was seen to a file of statistics.

The file is written and read only inside the workspace: outside it is kept as it is and never loaded.
"""

from __future__ import annotations

import contextlib
import cProfile
import io
import os
import pstats
import re
import runpy
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOP = 30


@contextlib.contextmanager
def profiling(path: str) -> Iterator[None]:
    """Everything until the end of the block, in all threads that end by then, added to the file."""
    profiles: list[cProfile.Profile] = []
    main = cProfile.Profile()
    run = threading.Thread.run

    def profiled_run(thread: threading.Thread) -> None:
        own = cProfile.Profile()
        try:
            own.enable()
        except ValueError:  # from Python 3.12 on, one profiler sees every thread
            run(thread)
            return
        try:
            run(thread)
        finally:
            own.disable()
            profiles.append(own)

    setattr(threading.Thread, "run", profiled_run)  # noqa: B010  mypy knows it as a method
    main.enable()
    try:
        yield
    finally:
        main.disable()
        setattr(threading.Thread, "run", run)  # noqa: B010
        _add(path, [main, *profiles])


def _add(path: str, profiles: list[cProfile.Profile]) -> None:
    stats = pstats.Stats(profiles[0], stream=io.StringIO())
    for profile in profiles[1:]:
        with contextlib.suppress(TypeError):  # a thread in which nothing happened
            stats.add(profile)
    if Path(path).exists():
        stats.add(path)
    temporary = f"{path}.{os.getpid()}"
    stats.dump_stats(temporary)
    Path(temporary).replace(path)


def _leave(number: int, _: Any) -> None:
    raise SystemExit(128 + number)


def main(path: str, script: str, *arguments: str) -> None:
    """Run a script as Python would, profiled; TERM ends it in order unless the script minds TERM itself."""
    signal.signal(signal.SIGTERM, _leave)
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).parent))
    with profiling(path):
        runpy.run_path(script, run_name="__main__")


def top(path: str, app: str) -> None:
    """Print the functions that took longest: the program's own, then all."""
    out = io.StringIO()
    stats = pstats.Stats(path, stream=out).sort_stats("cumulative")
    out.write("The program's own functions\n")
    stats.print_stats(f"^{re.escape(app)}/", TOP)
    out.write("All functions\n")
    stats.strip_dirs().print_stats(TOP)
    sys.stdout.write(out.getvalue())
