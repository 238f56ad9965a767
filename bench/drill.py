"""Timed drills: lose everything, bring it back, prove that it is the same, and say how long it took and what was lost.

`make drill` with 100,000 results; RESULTS=1000000 for more. The figures go to docs/operations/recovery.md. Where a
PostgreSQL is installed (its own package, not the one from the package index), a server with archived log is lost, too.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from postgres_archive import ArchivingServer, installed_binaries  # noqa: E402

PAGE = ROOT / "docs" / "operations" / "recovery.md"
BEGIN, END = "<!-- figures of make drill -->", "<!-- end of the figures -->"
PER_RUN = 100_000
NAME = "proctor"
SLOW = "demo/strong?delay_ms=200"
"""Five answers a second: a server with little to write, whose log fills slowly, loses the most."""
TIMES: dict[str, float] = {}
LOADS: list[float] = []


def proctor(home: Path, *arguments: str, **more: str) -> str:
    environment = {**os.environ, "PROCTOR_HOME": str(home), **more}
    command = [sys.executable, "-m", "proctor", *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


@contextmanager
def timed(what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    TIMES[what] = time.monotonic() - began
    LOADS.append(os.getloadavg()[0])
    print(f"{what:<40}{TIMES[what]:8.1f} s", flush=True)


def shown(home: Path, runs: list[str], **more: str) -> list[object]:
    """What is said of every run: its figures are computed from the rows."""
    return [json.loads(proctor(home, "show", run, "--json", **more)) for run in runs]


def fill(home: Path, results: int) -> None:
    for start in range(0, results, PER_RUN):
        count = min(PER_RUN, results - start)
        proctor(home, "run", f"puzzles?count={count}", "-m", "demo/strong", "--seed", str(start), "--json")


def drill_backup(folder: Path, first: Path, server: ArchivingServer | None) -> tuple[str, list[str], list[object]]:
    """Backup, verify, restore to a file and to PostgreSQL; gives the size, the runs and what they show."""
    runs = [run["run_id"] for run in json.loads(proctor(first, "runs", "--limit", "1000", "--json"))]
    expected, kept = shown(first, runs), str(folder / "kept")
    with timed("backup"):
        proctor(first, "backup", kept)
    size = sum(path.stat().st_size for path in Path(kept).rglob("*") if path.is_file())
    with timed("backup verify"):
        proctor(first, "backup", "verify", kept)
    with timed("restore to SQLite"):
        proctor(folder / "second", "restore", kept)
    assert shown(folder / "second", runs) == expected
    shutil.rmtree(folder / "second")
    if server is not None:
        with timed("restore to PostgreSQL"):
            proctor(folder / "third", "restore", kept, PROCTOR_DATABASE_URL=server.url(NAME))
        assert shown(folder / "third", runs, PROCTOR_DATABASE_URL=server.url(NAME)) == expected
    return f"{size / 2**20:.0f} MiB", runs, expected


def drill_recovery(folder: Path, server: ArchivingServer, runs: list[str], expected: list[object]) -> None:
    """The server is lost with its disk, and recovered from its newest copy and the archived log."""
    with timed("copy of the server"):
        server.copy()
    server.archive_now()
    server.lose()
    with timed("recovery of the server"):
        server.recover()
    assert shown(folder / "third", runs, PROCTOR_DATABASE_URL=server.url(NAME)) == expected


def lose_while_writing(folder: Path, seconds: float) -> tuple[float, int]:
    """How much is lost at a moment that nothing chose, with the settings as delivered: seconds, and answers."""
    server = ArchivingServer()
    try:
        server.execute(f"CREATE DATABASE {NAME}")
        environment = {**os.environ, "PROCTOR_HOME": str(folder / "fourth"), "PROCTOR_DATABASE_URL": server.url(NAME)}
        proctor(folder / "fourth", "db", "upgrade", PROCTOR_DATABASE_URL=server.url(NAME))
        server.copy()
        command = [sys.executable, "-m", "proctor", "run", "puzzles?count=100000", "-m", SLOW, "--concurrency", "1"]
        run = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(seconds)
            [[before, last]] = server.execute("SELECT count(*), max(created_at) FROM responses", NAME)
            server.lose()
        finally:
            run.kill()
            run.wait()
        server.recover()
        [[after, reached]] = server.execute("SELECT count(*), max(created_at) FROM responses", NAME)
        assert 0 < after <= before, (after, before)
        return float(last - reached), before - after
    finally:
        server.close()


def machine() -> str:
    low, high = min(LOADS), max(LOADS)
    return f"{os.cpu_count()} processors ({platform.machine()}), load {low:.0f} to {high:.0f} meanwhile"


def write_page(results: int, size: str, lost: list[tuple[float, int]]) -> None:
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    lines = ["| what | results | seconds |", "|---|---|---|"]
    lines += [f"| {what} | {results:,} | {seconds:.1f} |" for what, seconds in TIMES.items()]
    on = f"Measured on {datetime.now(UTC):%Y-%m-%d}, {machine()}; everything on one disk."
    lines += ["", f"The backup takes {size}. {on}"]
    if lost:
        each = ", ".join(f"{seconds:.1f} s ({answers} answers)" for seconds, answers in lost)
        worst = max(seconds for seconds, _ in lost)
        how = f"Lost with the server (RPO), {len(lost)} times while a run wrote at most five answers a second"
        lines += ["", f"{how}: {each}. The most was {worst:.1f} s."]
    PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{rest.partition(END)[2]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=int(os.environ.get("RESULTS", "100000")))
    parser.add_argument("--data", type=Path, help="a home with so many results already; it is only read")
    parser.add_argument("--losses", type=int, default=3, help="how often a server is lost while a run writes")
    parser.add_argument("--dry-run", action="store_true", help="leave docs/operations/recovery.md as it is")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="proctor-drill-"))
    server = ArchivingServer() if installed_binaries() is not None else None
    try:
        first = given.data or folder / "first"
        if given.data is None:
            fill(first, given.results)
        if server is not None:
            server.execute(f"CREATE DATABASE {NAME}")
        size, runs, expected = drill_backup(folder, first, server)
        lost = []
        if server is None:
            print("no PostgreSQL is installed: its recovery, and what is lost with it, were not measured")
        else:
            drill_recovery(folder, server, runs, expected)
            server.end()
            rng = random.Random(given.losses)
            for _ in range(given.losses):
                lost.append(lose_while_writing(folder, rng.uniform(70, 190)))
                print(f"lost: {lost[-1][0]:.1f} s, {lost[-1][1]} answers", flush=True)
        print(f"{given.results:,} results, {size} of backup; figures are the same after each; {machine()}")
        if not given.dry_run:
            write_page(given.results, size, lost)
    finally:
        if server is not None:
            server.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
