"""How long results are looked for in a database that bench/million.py has filled: pages, places, searches, verdicts.

python bench/finding.py /somewhere [--run 1bulk000]

Processor time of this process beside wall time: on a busy machine only the first says anything.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proctor.runs.comparing.compare import compare_runs
from proctor.runs.packing import pack_next
from proctor.runs.read import read_run
from proctor.runs.results import read_page, read_positions
from proctor.stores.database import Database, open_database

REPEATS = 20
PAGE = 100
FILTERS: tuple[tuple[str, dict[str, str], dict[str, Any]], ...] = (
    ("no filter", {}, {}),
    ("category", {"category": "subject-07"}, {}),
    ("below the full mark", {}, {"is_wrong": True}),
    ("latency, one in 400", {"latency_from": "1.5"}, {}),
    ("score", {"score_from": "1"}, {}),
    ("a sample", {"sample": "sample-000123"}, {}),
    ("text: a word of few answers", {"text": "word4242"}, {}),
    ("answer: a word and the beginning of one", {"answer": "word17 word"}, {}),
    ("text: three words of every answer", {"text": "let me think"}, {}),
    ("text: what no answer has", {"text": "unheard of"}, {}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", help="a folder with proctor.db, or the address of a PostgreSQL database")
    parser.add_argument("--run", default="1bulk000")
    options = parser.parse_args()
    is_address = options.home.startswith("postgresql:")
    database = open_database(options.home if is_address else f"sqlite:///{Path(options.home).resolve() / 'proctor.db'}")
    pack(database)
    total = sum(row.trials for row in read_run(database, options.run).evaluations)
    print(f"{total:,} results in run {options.run}; load {os.getloadavg()[0]:.0f}\n")
    print(f"{'':44} {'CPU p50':>8} {'CPU p95':>8} {'wall p50':>9}  ms")
    _measure("the run with its figures", lambda _: read_run(database, options.run), total)
    for name, where, more in FILTERS:
        _measure(f"page, {name}", lambda after, w=where, m=more: _page(database, options.run, after, w, m), total)
    for name, where, more in FILTERS[:3]:
        _measure(f"places, {name}", lambda _, w=where, m=more: _places(database, options.run, w, m), total)
    _measure("verdict and 40 flips", lambda _: compare_runs(database, [options.run], flips=20), total)
    database.dispose()


def pack(database: Database) -> None:
    """As the end of a run does it."""
    began, size = time.process_time(), database.size_bytes()
    while pack_next(database):
        pass
    seconds = time.process_time() - began
    if seconds > 1:
        print(f"packed with {seconds:.1f} s of CPU, {(database.size_bytes() - size) / 2**20:.0f} MiB more")


def _page(database: Database, run: str, after: int, where: dict[str, str], more: dict[str, Any]) -> object:
    return read_page(database, run, where, limit=PAGE, after=after, **more)


def _places(database: Database, run: str, where: dict[str, str], more: dict[str, Any]) -> object:
    return read_positions(database, run, where, every=PAGE, **more)


def _measure(name: str, work: Callable[[int], object], total: int) -> None:
    """The first time from the beginning, then from anywhere."""
    rng, wall, cpu = random.Random(1), list[float](), list[float]()
    for turn in range(REPEATS):
        after = rng.randrange(total) if turn else 0
        began, spent = time.perf_counter(), time.process_time()
        work(after)
        wall.append(1e3 * (time.perf_counter() - began))
        cpu.append(1e3 * (time.process_time() - spent))
    cpu.sort()
    print(f"{name:44} {cpu[REPEATS // 2]:8.1f} {cpu[-2]:8.1f} {sorted(wall)[REPEATS // 2]:9.0f}")


if __name__ == "__main__":
    main()
