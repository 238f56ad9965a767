"""How long reading takes on a database that bench/million.py has filled: wall and CPU seconds, and peak memory.

python bench/reading.py /somewhere
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

COMMANDS = {
    "proctor --version": (["--version"], None),
    "show, 100,000 results": (["show", "1bulk000"], 0.3),
    "leaderboard, 1,000,000 results": (["leaderboard"], 2.0),
    "compare, 2 x 100,000 results": (["compare", "1bulk000", "1bulk001"], 3.0),
}
REPEATS = 3
PROGRAM = """
import resource, sys
from proctor.cli.main import main
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    home = parser.parse_args().home
    # Runs keep their numbers when they end; a filled database computes them at the first look.
    _run(home, ["leaderboard"])
    print(f"{'':34} {'wall s':>7} {'CPU s':>7} {'MiB':>5}  may take")
    for name, (arguments, bar) in COMMANDS.items():
        wall, cpu, memory = min(_run(home, arguments) for _ in range(REPEATS))
        limit = "" if bar is None else f"{bar} s and the start"
        print(f"{name:34} {wall:7.2f} {cpu:7.2f} {memory:5}  {limit}")


def _run(home: Path, arguments: list[str]) -> tuple[float, float, int]:
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        env={**os.environ, "PROCTOR_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, int(ended.stderr.split()[-1])


if __name__ == "__main__":
    main()
