"""`make chaos`: runs on real workers while everything is killed at random, and proof that nothing came of it.

Real PostgreSQL, Redis, SeaweedFS, worker groups and an API process that takes the plans; a provider with faults in one
answer of ten. Processes are signalled by their ids: worker children, whole groups, beat, the API, Redis (every other
time with its data wiped), PostgreSQL (immediate stop), SeaweedFS, and frozen for 40 s. Afterwards the database, the
provider's own counters, the bucket and what a client heard of the API are asked what happened.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench"), str(ROOT / "src")]

from chaos.api import Api, Following, numbers_of  # noqa: E402

import postgres  # noqa: E402
from fakes.s3_server import KEY, SECRET, S3Server  # noqa: E402
from proctor.stores.artifacts.opening import open_artifacts  # noqa: E402
from redis_server import RedisServer  # noqa: E402
from runs.arithmetic import provider_process, write_benchmark  # noqa: E402
from worker.cluster import Cluster, children, is_running, signal_process  # noqa: E402

ACTIONS = {"child": 40, "group": 15, "beat": 5, "api": 15, "redis": 10, "redis wiped": 10, "postgresql": 10,
           "s3": 5, "frozen 40 s": 5}  # fmt: skip
END_SECONDS = 900
KEPT_SECONDS = 300.0
FROZEN_SECONDS = 40.0
THAWED_SECONDS = 3.0
"""Until one that wakes has heard that its chunk is another's."""
CAP_USD = 50
KEPT = ("model", "benchmark", "trials", "scored", "invalid", "failed", "stopped", "metrics", "categories", "usage")


class Chaos:
    def __init__(self, given: argparse.Namespace, folder: Path) -> None:
        self.trials, self.kills_wanted, self.pause = given.trials, given.kills, given.pause
        self.rng = random.Random(given.seed)
        self.folder = folder
        self.kills: Counter[str] = Counter()
        self.at_risk = 0
        self.known_recorded = 0
        self.thawing: list[threading.Timer] = []
        self.back: dict[str, list[float]] = {}
        self.breaks = self.events = self.handed_in = 0
        self.problems: list[str] = []
        self.loads: list[float] = [os.getloadavg()[0]]

    def measure(self) -> str:
        server = postgres.server()
        assert server is not None, "there is no PostgreSQL here"
        self.server, self.redis = server, RedisServer()
        (self.folder / "s3").mkdir()
        self.s3 = S3Server(self.folder / "s3")
        self.s3.start()
        write_benchmark(self.folder, self.trials)
        faults = (
            "--rate",
            "500=0.08",
            "--rate",
            "drop=0.018",
            "--rate",
            "429=0.002",
            "--max-faults",
            "3",
            "--retry-after",
            "0.1",
        )
        try:
            with server.new_database() as url, provider_process(*faults, "--latency-ms", "100") as self.provider:
                self.cluster = Cluster(
                    self.folder,
                    url,
                    self.redis,
                    PROCTOR_ARTIFACTS_URL=self.s3.url("chaos"),
                    AWS_ACCESS_KEY_ID=KEY,
                    AWS_SECRET_ACCESS_KEY=SECRET,
                )
                return self._measure()
        finally:
            self.s3.stop()
            self.redis.close()
            postgres.stop()

    def _measure(self) -> str:
        plan = {
            "models": [f"openai/sums?base_url={self.provider}/v1"],
            "benchmarks": ["sums.yaml"],
            "sampling": {"max_tokens": 20},
            "cache": False,
            "limits": {"concurrency": 48, "retries": 10, "assume_price": "1/1", "cost_usd": CAP_USD},
        }
        (self.folder / "plan.yaml").write_text(json.dumps(plan))  # JSON is YAML
        began = time.monotonic()
        code, out, err = self.cluster.run("run", "plan.yaml", "--here", "--json")
        assert code == 0, err
        alone, seconds_alone = json.loads(out), time.monotonic() - began
        say(f"undisturbed: {seconds_alone:.0f} s")
        self.cluster.start(1, "--beat")
        self.cluster.start(1)
        self.api = Api(self.cluster)
        self.api.start()
        lines = []
        while sum(self.kills.values()) < self.kills_wanted:
            self._wait_for_thawed()
            self._post("/reset")
            before, self.at_risk, self.known_recorded = self.kills.copy(), 0, 0
            began = time.monotonic()
            run = Following(self.api.address, plan)
            run.start()
            self._disturb(run)
            seconds = time.monotonic() - began
            if run.ended_as != "finished":
                self.problems.append(f"run {run.run_id} ended as {run.ended_as}, after {len(run.numbers)} events")
                break
            self._check_heard(run)
            lines.append(self._judge(run.document(), alone, self.kills - before, seconds))
            say(lines[-1])
        self._wait_for_thawed()
        pids = [pid for group in self.cluster.groups for pid in (group.pid, *children(group.pid))]
        pids.append(self.api.end())
        self.cluster.close()
        left = [pid for pid in pids if is_running(pid)]
        if left:
            self.problems.append(f"{len(left)} processes were left running")
        return self._table(lines, seconds_alone)

    def _wait_for_thawed(self) -> None:
        """One that wakes in the next run would count there with what it still asks for this one."""
        for timer in self.thawing:
            timer.join()
        if self.thawing:
            time.sleep(THAWED_SECONDS)
        self.thawing.clear()

    def _disturb(self, run: Following) -> None:
        """Kill something every few seconds while the run goes on; one that does not end is given up."""
        until = time.monotonic() + END_SECONDS + 10 * self.trials / 1000
        while run.is_alive() and time.monotonic() < until:
            run.join(self.rng.uniform(0.5, 1.5) * self.pause)
            if run.is_alive():
                self._act(self.rng.choices(list(ACTIONS), list(ACTIONS.values()))[0])

    def _check_heard(self, run: Following) -> None:
        """What the client heard of the API while that was killed: every event once and in order, and one run."""
        assert run.run_id is not None
        self.breaks += run.breaks
        self.events += len(run.numbers)
        if run.numbers != numbers_of(self.api.address, run.run_id):
            self.problems.append(f"{run.run_id}: the events that a client followed are not those of the run")
        if (again := run.hand_in_again()) != run.run_id:
            self.problems.append(f"{run.run_id}: the same request once more made run {again}")
        name = self.cluster.database_url.rpartition("/")[2]
        [[count]] = self.server.execute("SELECT count(*) FROM runs", name)
        self.handed_in += 1
        if count != self.handed_in + 1:  # and the undisturbed one
            self.problems.append(f"{count} runs in the database, and {self.handed_in + 1} were handed in")

    def _act(self, action: str) -> None:
        group = self.rng.choice(self.cluster.groups)
        pids = children(group.pid)
        registered = self._workers()
        executing = [pid for pid in pids if pid in registered] or pids
        if not executing:
            return
        self.at_risk += self._unrecorded()
        done = self._counts()["answered"]
        if action == "child":
            signal_process(self.rng.choice(executing), signal.SIGKILL)
        elif action == "beat":
            beats = [pid for pid in pids if registered and pid not in registered]
            if not beats:
                return
            signal_process(beats[0], signal.SIGKILL)
        elif action == "group":
            self.cluster.kill(group)
            threading.Thread(target=self.cluster.start, args=(1, "--beat")).run()
        elif action == "api":
            self.api.kill()
            time.sleep(1)
            self.api.start()
        elif action.startswith("redis"):
            self.redis.end()
            time.sleep(1)
            if action.endswith("wiped"):
                self.redis.wipe()
            self.redis.start()
        elif action == "postgresql":
            self.server.end(signal.SIGQUIT)
            time.sleep(1)
            self.server.start()
        elif action == "s3":
            self.s3.stop()
            time.sleep(1)
            self.s3.start()
        else:
            frozen = self.rng.choice(executing)
            signal_process(frozen, signal.SIGSTOP)
            timer = threading.Timer(FROZEN_SECONDS, signal_process, [frozen, signal.SIGCONT])
            timer.start()
            self.thawing.append(timer)
        self.kills[action] += 1
        self.loads.append(os.getloadavg()[0])
        self._wait_for_more(action, done)

    def _wait_for_more(self, action: str, done: int) -> None:
        """How long until answers come again; where too few are left, that cannot be said."""
        if done + 60 >= self.trials:
            return
        began = time.monotonic()
        while time.monotonic() < began + 60:
            if self._counts()["answered"] > done + 60:
                break
            time.sleep(0.1)
        self.back.setdefault(action, []).append(time.monotonic() - began)

    def _unrecorded(self) -> int:
        """Requests that are in flight, or answered and not in the database yet: what a kill may have paid twice."""
        counts = self._counts()
        try:
            [[self.known_recorded]] = self.server.execute(
                "SELECT count(*) FROM responses JOIN evaluations ON evaluations.id = evaluation_id "
                "WHERE run_id = (SELECT id FROM runs ORDER BY created_at DESC LIMIT 1) AND error IS NULL",
                self.cluster.database_url.rpartition("/")[2],
            )
        except Exception:  # noqa: BLE001 - psycopg is imported by the server alone
            say("the database is away")
        return max(0, counts["answered"] - self.known_recorded) + counts["in_flight"]

    def _workers(self) -> set[int]:
        try:
            rows = self.server.execute("SELECT pid FROM workers", self.cluster.database_url.rpartition("/")[2])
        except Exception:  # noqa: BLE001
            return set()
        return {row[0] for row in rows}

    def _judge(self, run: dict[str, Any], alone: dict[str, Any], kills: Counter[str], seconds: float) -> str:
        """One row of the table; what does not hold is noted."""
        name = self.cluster.database_url.rpartition("/")[2]
        of_run = (
            "FROM responses JOIN evaluations ON evaluations.id = evaluation_id WHERE run_id = '{}' AND error IS NULL"
        )
        mine, theirs = of_run.format(run["run_id"]), of_run.format(alone["run_id"])
        [[answers, trials]] = self.server.execute(f"SELECT count(*), count(DISTINCT trial_id) {mine}", name)
        [[others]] = self.server.execute(
            f"SELECT count(*) FROM (SELECT trial_id {mine} EXCEPT SELECT trial_id {theirs}) AS d", name
        )
        [[open_chunks]] = self.server.execute("SELECT count(*) FROM chunks WHERE state IN ('waiting', 'leased')", name)
        [[failed]] = self.server.execute(f"SELECT count(*) {mine.replace('IS NULL', 'IS NOT NULL')}", name)
        counts = self._counts()
        again = counts["answered"] - self.trials
        cost = sum(item["cost_usd"] or 0 for item in run["evaluations"])
        found = {
            "each trial once, none lost": answers == trials == self.trials and others == 0,
            "same scores": numbers(run) == numbers(alone),
            "cost cap kept": cost <= CAP_USD,
            "asked again ≤ at risk": again <= self.at_risk,
            "at most 48 in flight": counts["most_in_flight"] <= 48,
            "no chunk left open": open_chunks == 0,
            "its responses in the bucket": self._rows_in_bucket(run["run_id"], name) == self.trials + failed,
        }
        self.problems += [f"{run['run_id']}: not true: {what}" for what, is_true in found.items() if not is_true]
        self.problems += [f"{answers=} {trials=} {others=} {again=} {self.at_risk=} {counts}"] * (
            not all(found.values())
        )
        return (
            f"| {self.trials:,} | {seconds:.0f} s | {sum(kills.values())} | {answers:,} | "
            f"{'equal' if found['same scores'] else 'NOT EQUAL'} | {again} | {self.at_risk:,} | "
            f"{counts['most_in_flight']} | {'kept' if found['cost cap kept'] else 'BROKEN'} |"
        )

    def _rows_in_bucket(self, run_id: str, name: str) -> int:
        """Of the run's one artifact, which a worker keeps after its end, or another one a little later."""
        until = time.monotonic() + KEPT_SECONDS
        while True:
            [[key]] = self.server.execute(f"SELECT raw_data FROM runs WHERE id = '{run_id}'", name)
            if key is not None:
                break
            if time.monotonic() > until:
                return 0
            time.sleep(1)
        artifacts = open_artifacts(
            self.s3.url("chaos"), self.cluster.home / "artifacts-waiting", self.cluster.environment, is_offline=False
        )
        return len(gzip.decompress(artifacts.get(key)).splitlines())

    def _counts(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.provider}/counts", timeout=30) as response:
            found: dict[str, Any] = json.load(response)
        return found

    def _post(self, path: str) -> None:
        urllib.request.urlopen(f"{self.provider}{path}", timeout=30).close()

    def _table(self, lines: list[str], seconds_alone: float) -> str:
        kills = ", ".join(f"{name} {count}" for name, count in self.kills.most_common())
        about = "`make chaos`: two worker groups of two processes and an API process that takes the plans, "
        about += f"{sum(self.kills.values())} kills ({kills}), "
        about += "a provider with faults in one answer of ten and 100 ms. "
        about += f"Undisturbed, in one process: {seconds_alone:.0f} s. "
        about += f"{os.cpu_count()} processors, load {min(self.loads):.0f} to {max(self.loads):.0f}."
        heard = "A client followed the runs over the API: it was cut off or found nobody "
        heard += (
            f"{self.breaks:,} times, and it heard {self.events:,} events, each once and in order."
            if not self.problems
            else "what is said below."
        )
        said = [
            "# Chaos",
            "",
            about,
            "",
            "| trials | time | kills | recorded | scores | asked again | at risk | most in flight, of 48 | cap |",
            "|---|---|---|---|---|---|---|---|---|",
            *lines,
            "",
            heard,
            "",
            "Seconds until sixty further answers came, after each kind of kill (median, longest):",
            "",
            "| kill | times | median | longest |",
            "|---|---|---|---|",
            *(
                f"| {name} | {len(found)} | {sorted(found)[len(found) // 2]:.1f} | {max(found):.1f} |"
                for name, found in sorted(self.back.items())
            ),
            "",
            *(self.problems or ["Nothing was lost, nothing was recorded twice, nothing was left running."]),
            "",
        ]
        return "\n".join(said)


def numbers(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [{name: item[name] for name in KEPT} for item in run["evaluations"]]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between kills, on average")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="write bench/CHAOS.md")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="proctor-chaos-"))
    for name in [name for name in os.environ if name.startswith("PROCTOR_")]:
        del os.environ[name]
    chaos = Chaos(given, folder)
    try:
        table = chaos.measure()
    finally:
        if chaos.problems:
            say(chaos.cluster.logs()[-5000:])
        shutil.rmtree(folder, ignore_errors=True)
    print(table)
    if given.write:
        path = ROOT / "bench" / "CHAOS.md"
        _, mark, recovery = path.read_text().partition("# After a loss")  # what recovery.py wrote stays
        path.write_text(f"{table.rstrip()}\n" + (f"\n{mark}{recovery}" if mark else ""))
    return 1 if chaos.problems else 0


if __name__ == "__main__":
    sys.exit(main())
