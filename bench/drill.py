"""A timed drill: lose everything, restore it from a backup, and prove that it is the same.

`make drill` with 100,000 results on SQLite; RESULTS=1000000 for more; PROCTOR_DRILL_DATABASE_URL names an empty
PostgreSQL database to restore to.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RESULTS = int(os.environ.get("RESULTS", "100000"))
PER_RUN = 100_000


def proctor(home: Path, *arguments: str, **more: str) -> str:
    environment = {**os.environ, "PROCTOR_HOME": str(home), **more}
    environment.pop("PROCTOR_DRILL_DATABASE_URL", None)
    command = [sys.executable, "-m", "proctor", *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def timed(what: str, home: Path, *arguments: str, **more: str) -> float:
    began = time.monotonic()
    proctor(home, *arguments, **more)
    seconds = time.monotonic() - began
    print(f"{what:<12}{seconds:8.1f} s", flush=True)
    return seconds


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="proctor-drill-"))
    try:
        first, second, kept = folder / "first", folder / "second", str(folder / "kept")
        for start in range(0, RESULTS, PER_RUN):
            count = min(PER_RUN, RESULTS - start)
            proctor(first, "run", f"puzzles?count={count}", "-m", "demo/strong", "--seed", str(start), "--json")
        shown = proctor(first, "show", "latest", "--json")
        timed("backup", first, "backup", kept)
        size = sum(path.stat().st_size for path in Path(kept).rglob("*") if path.is_file())
        timed("verify", first, "backup", "verify", kept)
        shutil.rmtree(first)
        url = os.environ.get("PROCTOR_DRILL_DATABASE_URL")
        target = {"PROCTOR_DATABASE_URL": url} if url else {}
        seconds = timed("restore", second, "restore", kept, **target)
        assert json.loads(proctor(second, "show", "latest", "--json", **target)) == json.loads(shown)
        print(f"{RESULTS:,} results, {size / 2**20:.0f} MiB of backup; figures are the same; RTO {seconds:.1f} s")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
