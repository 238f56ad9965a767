"""What runs on workers cost and how they share: `python bench/workers.py --write` writes bench/WORKERS.md.

Real PostgreSQL, Redis and `proctor worker` processes; a provider on this machine that answers after 50 ms. Processor
time is that of all processes of a program: of Proctor's workers, and beside them of PostgreSQL, Redis and the provider.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import postgres  # noqa: E402
from redis_server import RedisServer  # noqa: E402
from runs.arithmetic import provider_process, write_benchmark  # noqa: E402
from worker.cluster import Cluster, children  # noqa: E402

RESULTS = ROOT / "bench" / "WORKERS.md"
TICKS = os.sysconf("SC_CLK_TCK")
SMALL = 50
EARLY = 10_000
PARTS = ("scaling", "fairness", "memory")
SMALL_CONCURRENCY = 8
SMALL_TIMES = 3
BESIDE = {"PostgreSQL": "postgres", "Redis": "redis-server", "the provider": "fakes.provider"}
Row = tuple[str, str, str]


class Workers:
    def __init__(self, folder: Path, trials: int, large: int, largest: int, times: int) -> None:
        self.folder, self.trials, self.large, self.largest, self.times = folder, trials, large, largest, times
        self.redis = RedisServer()
        server = postgres.server()
        assert server is not None, "there is no PostgreSQL here"
        self.server = server

    def measure(self, parts: Sequence[str]) -> list[Row]:
        for count in {SMALL, EARLY, self.trials, self.large, self.largest}:
            folder = self.folder / str(count)
            folder.mkdir(exist_ok=True)
            write_benchmark(folder, count)
        try:
            with provider_process("--latency-ms", "50") as self.provider:
                measures = {"scaling": self._scaling, "fairness": self._fairness, "memory": self._memory}
                return [row for part in parts for row in measures[part]()]
        finally:
            self.redis.close()
            postgres.stop()

    def _with_workers(self, concurrencies: list[int], measure: Callable[[Cluster], list[float]]) -> list[float]:
        self.redis.end()
        self.redis.wipe()
        self.redis.start()
        with self.server.new_database() as url:
            cluster = Cluster(self.folder, url, self.redis, PROCTOR_ARTIFACTS_URL=str(self.folder / "kept"))
            try:
                for place, concurrency in enumerate(concurrencies):
                    cluster.start(1, *(["--beat"] if place == 0 else []), concurrency=concurrency)
                return measure(cluster)
            finally:
                cluster.close()

    def _run(self, cluster: Cluster, count: int, concurrency: int) -> float:
        """The seconds of a run, from handing it over to its end."""
        began = time.monotonic()
        code, out, err = cluster.run(*self._plan(count, concurrency))
        assert code == 0, err
        assert json.loads(out)["evaluations"][0]["scored"] == count
        return time.monotonic() - began

    def _plan(self, count: int, concurrency: int) -> tuple[str, ...]:
        return ("run", f"{count}/sums.yaml", "-m", f"openai/sums?base_url={self.provider}/v1", "--no-cache", "--json",
                "--concurrency", str(concurrency))  # fmt: skip

    def _scaling(self) -> list[Row]:
        seconds: dict[int, list[float]] = {1: [], 2: []}
        on_workers: dict[int, list[float]] = {1: [], 2: []}
        costs: list[list[float]] = []

        def measure(cluster: Cluster) -> list[float]:
            self._run(cluster, SMALL, SMALL_CONCURRENCY)  # what is opened once is open
            before = all_cpu_seconds(cluster)
            took = self._run(cluster, self.trials, 512)
            spent = zip(all_cpu_seconds(cluster), before, strict=True)
            return [took, self._on_workers(cluster), *((late - early) / self.trials * 1000 for late, early in spent)]

        for _ in range(self.times):
            for processes, found in seconds.items():
                took, alone, *cost = self._with_workers([processes], measure)
                found.append(took)
                on_workers[processes].append(alone)
                costs.append(cost)
        of_workers, *of_others = zip(*costs, strict=True)
        ratios, ratios_alone = (
            [one / two for one, two in zip(found[1], found[2], strict=True)] for found in (seconds, on_workers)
        )
        return [
            (f"{self.trials:,} trials on one worker process, with the command's start", shown(seconds[1], "s"), ""),
            ("– on two", shown(seconds[2], "s"), ""),
            ("– how much quicker two are", shown(ratios, "×"), "≥ 1.8 ×"),
            ("from acceptance to end on one worker process", shown(on_workers[1], "s"), ""),
            ("– on two", shown(on_workers[2], "s"), ""),
            ("– how much quicker two are", shown(ratios_alone, "×"), "≥ 1.8 ×"),
            ("CPU of all workers per 1,000 trials", shown(of_workers, "s"), "≤ 1.0 s"),
            *((f"– of {name}", shown(cost, "s"), "") for name, cost in zip(BESIDE, of_others, strict=True)),
        ]

    def _fairness(self) -> list[Row]:
        """A run of 50 alone, and beside one of many that was handed over before it: from its acceptance to its end."""

        def measure(cluster: Cluster) -> list[float]:
            self._small(cluster)
            alone = sorted(self._small(cluster) for _ in range(SMALL_TIMES))
            large = cluster.command(*self._plan(self.large, 64))
            try:
                self._wait_for_chunks(cluster)
                beside = sorted(self._small(cluster) for _ in range(SMALL_TIMES))
            finally:
                large.kill()
                large.communicate()
            return [alone[SMALL_TIMES // 2], beside[SMALL_TIMES // 2]]

        pairs = [self._with_workers([2], measure) for _ in range(self.times)]
        return [
            (f"a run of {SMALL} alone, median of {SMALL_TIMES}", shown([alone for alone, _ in pairs], "s"), ""),
            (f"– handed over while one of {self.large:,} is executed", shown([beside for _, beside in pairs], "s"), ""),
            ("– as a multiple", shown([beside / alone for alone, beside in pairs], "×"), "≤ 1.5 ×"),
        ]

    def _small(self, cluster: Cluster) -> float:
        self._run(cluster, SMALL, SMALL_CONCURRENCY)
        return self._on_workers(cluster)

    def _on_workers(self, cluster: Cluster) -> float:
        """The seconds of the last run from its acceptance to its end, without the command that hands it over."""
        [[seconds]] = self.server.execute(
            "SELECT extract(epoch FROM finished_at::timestamptz - created_at::timestamptz) FROM runs "
            "ORDER BY created_at DESC LIMIT 1",
            cluster.database_url.rpartition("/")[2],
        )
        return float(seconds)

    def _wait_for_chunks(self, cluster: Cluster) -> None:
        while True:
            code, out, _ = cluster.run("runs", "--json")
            found = json.loads(out) if code == 0 else {}
            runs = found["runs"] if isinstance(found, dict) else found
            if any(run["status"] == "running" for run in runs):
                return
            time.sleep(0.2)

    def _memory(self) -> list[Row]:
        """Of a group that has executed a first run, and then a run of the largest size."""

        def measure(cluster: Cluster) -> list[float]:
            self._run(cluster, EARLY, 64)
            early = memory_mb(cluster)
            self._run(cluster, self.largest, 64)
            return [early, memory_mb(cluster)]

        early, late = self._with_workers([2], measure)
        return [
            (
                f"memory of a worker group after {EARLY:,} and after a run of {self.largest:,}",
                f"{early:.0f} and {late:.0f} MB",
                "",
            ),
            ("– as a ratio", f"{late / early:.2f}", "0.80–1.20"),
        ]


def processes(cluster: Cluster) -> list[int]:
    return [pid for group in cluster.groups for pid in (group.pid, *children(group.pid))]


def all_cpu_seconds(cluster: Cluster) -> list[float]:
    """Of all processes of the groups that live, and of each program beside them."""
    started = {pid: Path(f"/proc/{pid}/cmdline").read_text() for pid in children(os.getpid())}
    beside = [[pid for pid, command in started.items() if program in command] for program in BESIDE.values()]
    return [sum(map(cpu_seconds, pids)) for pids in ([group.pid for group in cluster.groups], *beside)]


def cpu_seconds(pid: int) -> float:
    """Of a process, of its children that have ended, and of those that live."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS + sum(map(cpu_seconds, children(pid)))


def memory_mb(cluster: Cluster) -> float:
    """Proportional set sizes, so that what processes share counts once."""
    total = 0
    for pid in processes(cluster):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def shown(values: Sequence[float], unit: str) -> str:
    return " · ".join(f"{value:.3g}" for value in values) + f" {unit}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20_000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--largest", type=int, default=200_000, help="of the run after which memory is looked at")
    parser.add_argument("--only", choices=PARTS, action="append", help="measure this alone")
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write bench/WORKERS.md")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="proctor-workers-"))
    loads = [os.getloadavg()[0]]
    try:
        rows = Workers(folder, given.trials, given.large, given.largest, given.times).measure(given.only or PARTS)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    loads.append(os.getloadavg()[0])
    machine = f"{os.cpu_count()} processors for workers, PostgreSQL, Redis and the provider together"
    said = f"load {loads[0]:.0f} before and {loads[1]:.0f} after. A value for each time."
    lines = ["# Runs on workers", "", f"`python bench/workers.py`, {datetime.now(UTC):%Y-%m-%d}: {machine}, {said}", ""]
    lines += ["| what | measured | goal |", "|---|---|---|"]
    text = "\n".join([*lines, *(f"| {what} | {value} | {goal} |" for what, value, goal in rows), ""])
    print(text)
    if given.write:
        RESULTS.write_text(text)


if __name__ == "__main__":
    main()
