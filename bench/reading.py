"""How long reading takes on a database that bench/million.py has filled: wall and CPU seconds, and peak memory.

python bench/reading.py /somewhere
python bench/reading.py --postgresql    starts a server, fills it, and ends it

Pages of samples are read in this process, as the API reads them.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from finding import pack
from million import fill
from workers import cpu_seconds

import postgres
from proctor.runs.results import read_page
from proctor.stores.database import Database, open_database
from worker.cluster import children

COMMANDS = {
    "proctor --version": (["--version"], None),
    "show, 100,000 results": (["show", "1bulk000"], 0.3),
    "leaderboard, 1,000,000 results": (["leaderboard"], 2.0),
    "compare, 2 x 100,000 results": (["compare", "1bulk000", "1bulk001"], 3.0),
}
REPEATS = 3
LARGEST, PAGE = "1bulk008", 20
"""The run with two evaluations, and rows on a page: its ten-thousandth page of 200,000 results is the last one."""
PAGES_READ = 15
PROGRAM = """
import sys
from proctor.cli.main import main
try:
    main()
finally:
    with open("/proc/self/status") as file:  # of this program alone: what getrusage says begins before it
        print(next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) // 1024, file=sys.stderr)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path, nargs="?")
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--results", type=int, default=1_000_000, help="with --postgresql")
    given = parser.parse_args()
    if given.postgresql == (given.home is not None):
        parser.error("name a folder, or --postgresql")
    if given.home is not None:
        measure(f"sqlite:///{given.home / 'proctor.db'}", given.home)
        return
    server = postgres.server()
    assert server is not None, "there is no PostgreSQL here"
    try:
        with server.new_database() as url, tempfile.TemporaryDirectory() as home:
            began = time.perf_counter()
            fill(open_database(url), given.results, given.results // 10)
            server.execute("VACUUM ANALYZE", url.rpartition("/")[2])  # as autovacuum would
            print(f"filled in {time.perf_counter() - began:.0f} s")
            measure(url, Path(home))
    finally:
        postgres.stop()


def measure(url: str, home: Path) -> None:
    environment = {**os.environ, "PROCTOR_HOME": str(home), "PROCTOR_DATABASE_URL": url}
    loads = [os.getloadavg()[0]]
    # When runs end their numbers are kept and their results are packed for reading; a filled database has neither.
    pack(open_database(url))
    _run(environment, ["leaderboard"])
    print(f"{'':40} {'wall s':>7} {'CPU s':>7} {'server':>7} {'MiB':>5}  may take")
    for name, (arguments, bar) in COMMANDS.items():
        wall, cpu, server, memory = min(_run(environment, arguments) for _ in range(REPEATS))
        limit = "" if bar is None else f"{bar} s and the start"
        print(f"{name:40} {wall:7.2f} {cpu:7.2f} {server:7.2f} {memory:5}  {limit}")
    for name, milliseconds in _pages(open_database(url)).items():
        shown = f"{statistics.median(milliseconds):.0f} ({min(milliseconds):.0f}–{max(milliseconds):.0f}) ms"
        print(f"{name:40} {shown}")
    loads.append(os.getloadavg()[0])
    print(f"load {loads[0]:.0f} before, {loads[1]:.0f} after")


def _pages(database: Database) -> dict[str, list[float]]:
    """Milliseconds of each page, each read several times in turn with the others."""

    def page(after: int = 0, **where: str) -> Callable[[], object]:
        return lambda: read_page(database, LARGEST, where, limit=PAGE, after=after)

    with database.connection() as connection:
        query = "SELECT responses.id FROM responses JOIN evaluations ON evaluations.id = evaluation_id WHERE run_id = ?"
        ids = sorted(row[0] for row in connection.execute(query, [LARGEST]))
    readings = {
        "first page": page(),
        "first page of one category": page(category="subject-03"),
        "first page of what is below full marks": page(below_full="1"),
        "first page with a text": page(text="Question 777:"),
        "the page that begins halfway": page(ids[len(ids) // 2]),
        "the last page": page(ids[-PAGE - 1]),
    }
    found: dict[str, list[float]] = {name: [] for name in readings}
    for read in readings.values():
        read()
    for _ in range(PAGES_READ):
        for name, read in readings.items():
            began = time.perf_counter()
            read()
            found[name].append((time.perf_counter() - began) * 1000)
    return found


def _run(environment: dict[str, str], arguments: list[str]) -> tuple[float, float, float, int]:
    """Wall seconds, the command's processor seconds and those of PostgreSQL, and peak MiB."""
    server, started = _server_cpu_seconds(), time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, _server_cpu_seconds() - server, int(ended.stderr.split()[-1])


def _server_cpu_seconds() -> float:
    started = {pid: Path(f"/proc/{pid}/cmdline").read_text() for pid in children(os.getpid())}
    return sum(cpu_seconds(pid) for pid, command in started.items() if "postgres" in command)


if __name__ == "__main__":
    main()
