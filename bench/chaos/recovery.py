"""How long it takes after a loss until work goes on: `python bench/chaos/recovery.py --write` adds it to CHAOS.md.

One run on two real worker groups of two processes. Each loss is provoked a few times while it goes on; what is timed
begins when a group is gone, or when Redis or PostgreSQL answers again, and ends with what the table says.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]

import postgres  # noqa: E402
from fakes.provider import FakeProvider  # noqa: E402
from redis_server import RedisServer  # noqa: E402
from runs.arithmetic import write_benchmark  # noqa: E402
from worker.cluster import Cluster, children, signal_process, wait_until  # noqa: E402

TRIALS = 200_000
AWAY_SECONDS = (1.0, 12.0)
"""Shortly, and until every lease has run out."""
HEADING = "# After a loss"


class Recovery:
    def __init__(self, folder: Path, times: int) -> None:
        self.times = times
        self.found: dict[str, list[float]] = {}
        self.loads: list[float] = []
        self.redis = RedisServer()
        server = postgres.server()
        assert server is not None, "there is no PostgreSQL here"
        self.server = server
        self.folder = folder

    def measure(self) -> str:
        write_benchmark(self.folder, TRIALS)
        try:
            with self.server.new_database() as url, FakeProvider(latency_seconds=0.1) as self.provider:
                self.name = url.rpartition("/")[2]
                self.cluster = Cluster(self.folder, url, self.redis, PROCTOR_ARTIFACTS_URL=str(self.folder / "kept"))
                try:
                    self._measure()
                finally:
                    self.cluster.close()
        finally:
            self.redis.close()
            postgres.stop()
        return self._table()

    def _measure(self) -> None:
        self.cluster.start(2, "--beat")
        for _ in range(self.times):
            run = self._begin()
            self._lose_group("a worker group is killed", is_frozen=False)
            self._lose_group("a worker group stands still, as a lost machine", is_frozen=True)
            for seconds in AWAY_SECONDS:
                self._wipe_redis(seconds)
                self._stop_postgresql(seconds)
            self._cancel(run)

    def _begin(self) -> subprocess.Popen[str]:
        arrivals = len(self.provider.arrivals)
        run = self.cluster.command(
            "run",
            "sums.yaml",
            "-m",
            f"openai/sums?base_url={self.provider.url}/v1",
            "--no-cache",
            "--concurrency",
            "32",
        )
        wait_until(lambda: len(self.provider.arrivals) > arrivals + 200, "requests")
        return run

    def _note(self, what: str, seconds: float) -> None:
        self.loads.append(os.getloadavg()[0])
        self.found.setdefault(what, []).append(seconds)
        print(f"{seconds:5.1f} s  load {self.loads[-1]:.1f}  {what}", file=sys.stderr, flush=True)

    def _lose_group(self, what: str, *, is_frozen: bool) -> None:
        group = self.cluster.groups[0]
        pids = [*children(group.pid), group.pid]
        rows = self.server.execute("SELECT id, fence, lease_owner FROM chunks WHERE state = 'leased'", self.name)
        lost = {row[0]: row[1] for row in rows if int(row[2].split(":")[1]) in pids}
        if not lost:
            return  # it was between two chunks
        began = time.monotonic()
        if is_frozen:
            for pid in pids:
                signal_process(pid, signal.SIGSTOP)
        else:
            self.cluster.kill(group)

        def states() -> list[tuple[bool, bool]]:
            """Of each chunk: whether it was taken back, and whether it is executed again or done."""
            found = self.server.execute(
                f"SELECT id, fence, state FROM chunks WHERE id IN ({', '.join(map(str, lost))})", self.name
            )
            back = [fence > lost[chunk] or state != "leased" for chunk, fence, state in found]
            return [(is_back, is_back and row[2] != "waiting") for is_back, row in zip(back, found, strict=True)]

        wait_until(lambda: all(is_back for is_back, _ in states()), what)
        self._note(f"{what}: its chunks are taken back", time.monotonic() - began)
        wait_until(lambda: all(is_again for _, is_again in states()), what)
        self._note(f"{what}: the last of them is executed again", time.monotonic() - began)
        if is_frozen:
            self.cluster.kill(group)
        self.cluster.start(1, "--beat")

    def _answers(self, more: int) -> Callable[[], bool]:
        wanted = len(self.provider.arrivals) + more
        return lambda: len(self.provider.arrivals) >= wanted

    def _wipe_redis(self, seconds: float) -> None:
        self.redis.end()
        self.redis.wipe()
        time.sleep(seconds)
        self.redis.start()
        first = wait_until(self._answers(1), "a request after Redis was wiped")
        self._note(f"Redis is back, empty, after {seconds:.0f} s: the first request", first)
        self._note(
            f"Redis is back, empty, after {seconds:.0f} s: 100 requests",
            first + wait_until(self._answers(99), "requests after Redis was wiped"),
        )
        time.sleep(5)

    def _stop_postgresql(self, seconds: float) -> None:
        self.server.end(signal.SIGQUIT)
        time.sleep(seconds)
        self.server.start()
        before = self._recorded()
        first = wait_until(lambda: self._recorded() > before, "an answer that is recorded")
        self._note(f"PostgreSQL is back after {seconds:.0f} s: the first answer that is recorded", first)
        more = wait_until(self._answers(100), "requests after PostgreSQL")
        self._note(f"PostgreSQL is back after {seconds:.0f} s: 100 further requests", first + more)
        time.sleep(5)

    def _recorded(self) -> int:
        [[count]] = self.server.execute("SELECT count(*) FROM responses", self.name)
        return int(count)

    def _cancel(self, run: subprocess.Popen[str]) -> None:
        cancelling = self.cluster.command("cancel", "latest")
        query = "SELECT status FROM runs ORDER BY created_at DESC LIMIT 1"
        wait_until(lambda: self.server.execute(query, self.name)[0][0] == "cancelled", "a cancelled run")
        began = time.monotonic()
        _, err = cancelling.communicate(timeout=120)
        assert cancelling.returncode == 0, err
        run.communicate(timeout=120)
        time.sleep(3)
        self._note("a run is cancelled: the last request", max(0.0, self.provider.arrivals[-1] - began))

    def _table(self) -> str:
        low, high = min(self.loads), max(self.loads)
        lines = [f"| {what} | {' · '.join(f'{one:.1f}' for one in found)} |" for what, found in self.found.items()]
        about = (
            f"`python bench/chaos/recovery.py`: two groups of two processes, {os.cpu_count()} processors, load "
            f"{low:.0f} to {high:.0f} meanwhile; answers in 100 ms, at most 32 requests in flight."
        )
        return "\n".join([HEADING, "", about, "", "| what | seconds, each time |", "|---|---|", *lines, ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write it to bench/CHAOS.md, after what is there")
    given = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("PROCTOR_")]:
        del os.environ[name]
    folder = Path(tempfile.mkdtemp(prefix="proctor-recovery-"))
    try:
        table = Recovery(folder, given.times).measure()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(table)
    if given.write:
        path = ROOT / "bench" / "CHAOS.md"
        before = path.read_text().partition(HEADING)[0] if path.exists() else ""
        path.write_text(before + table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
