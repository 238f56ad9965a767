"""A page of samples from Proctor's server and from Inspect View's, each with 10,000 samples of its own, in turns.

python bench/service_peers.py --inspect /somewhere/venv/bin/python     # where inspect-ai is installed

A page is what a reader waits for before he sees the first samples: of Proctor 50 results; of Inspect the parts of the
log file that its viewer reads, by the same route: the end of the archive, its directory, the header and the summaries
of all samples. Then one sample, opened. Loopback only; the load is said.
"""

from __future__ import annotations

import argparse
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from service import PROGRAM, V1, Bench, Client, cpu_seconds

SAMPLES, ROUNDS = 10_000, 30
MODEL = "def answer(prompt: str) -> str:\n    return 'Let me think. ' * 10 + 'Answer: A'\n"
LOG = """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import includes
rows = [Sample(id=n, input=sys.argv[3].format(n), target="A") for n in range(int(sys.argv[2]))]
eval(Task(dataset=MemoryDataset(rows), scorer=includes(), name="bulk"), model="mockllm/model", log_dir=sys.argv[1],
     display="none", max_samples=200, max_connections=200, log_realtime=False)
"""
QUESTION = "Question {}: which of these is the one? " + "word " * 40
Page = Callable[[], int]
"""Reads it and gives how many bytes came."""


def read(client: Client, path: str) -> bytes:
    status, body = client.ask("GET", path)
    assert status in (200, 206), body[:500]
    return body


def proctor_log(folder: Path) -> None:
    (folder / "answers.py").write_text(MODEL)
    rows = "".join(f'{{"id": {n}, "input": "{QUESTION.format(n)}", "target": "A"}}\n' for n in range(SAMPLES))
    (folder / "bulk.jsonl").write_text(rows)
    (folder / "bulk.yaml").write_text("name: bulk\ndataset: {source: bulk.jsonl}\nscorers: [includes]\n")
    command = [sys.executable, "-c", PROGRAM, "run", "bulk.yaml", "-m", "python/answers:answer", "--json"]
    environment = {**os.environ, "PROCTOR_HOME": str(folder / "home")}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def proctor_pages(client: Client) -> tuple[Page, Page]:
    import json

    run_id = json.loads(read(client, f"{V1}/runs"))["items"][0]["run_id"]
    first = json.loads(read(client, f"{V1}/runs/{run_id}/results?limit=50"))["items"][20]["result_id"]
    return (
        lambda: len(read(client, f"{V1}/runs/{run_id}/results?limit=50")),
        lambda: len(read(client, f"{V1}/runs/{run_id}/results/{first}")),
    )


@contextmanager
def inspect_view(python: Path, logs: Path) -> Iterator[tuple[Client, int]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(python.with_name("inspect")), "view", "start", "--log-dir", str(logs), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        client, until = Client(f"http://127.0.0.1:{port}"), time.monotonic() + 120
        while True:
            try:
                read(client, "/api/log-dir")
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.5)
        yield client, process.pid
    finally:
        process.terminate()
        process.wait(60)


def inspect_pages(client: Client, log: Path) -> tuple[Page, Page]:
    with zipfile.ZipFile(log) as archive:
        places = {one.filename: one for one in archive.infolist()}
        directory = archive.start_dir
    size, name = log.stat().st_size, quote(str(log), safe="")
    sample = next(one for path, one in places.items() if re.fullmatch(r"samples/20_epoch_1\.json", path))

    def part(begin: int, end: int) -> int:
        return len(read(client, f"/api/log-bytes/{name}?start={begin}&end={end}"))

    def member(one: zipfile.ZipInfo) -> int:
        return part(one.header_offset, one.header_offset + one.compress_size + 30 + len(one.filename) + 20)

    def page() -> int:
        came = len(read(client, f"/api/log-size/{name}")) + part(size - 22, size - 1) + part(directory, size - 1)
        return came + member(places["header.json"]) + member(places["summaries.json"])

    return page, lambda: member(sample)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inspect", type=Path, required=True, help="a Python in which inspect-ai is installed")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        proctor_log(folder)
        logs = folder / "logs"
        subprocess.run([given.inspect, "-c", LOG, logs, str(SAMPLES), QUESTION], check=True, stdout=subprocess.DEVNULL)
        [log] = logs.glob("*.eval")
        bench = Bench("", folder, given)
        with bench.serving() as server, inspect_view(given.inspect, logs) as (viewer, viewer_pid):
            sides = {
                "Proctor": (proctor_pages(Client(server.address)), server.pid),
                "Inspect View": (inspect_pages(viewer, log), viewer_pid),
            }
            measure(sides)


def measure(sides: dict[str, tuple[tuple[Page, Page], int]]) -> None:
    for what, which in (("the first page of samples", 0), ("one sample", 1)):
        times: dict[str, list[float]] = {name: [] for name in sides}
        spent, came = dict.fromkeys(sides, 0.0), dict.fromkeys(sides, 0)
        for _ in range(ROUNDS):
            for name, (pages, pid) in sides.items():
                began, cpu = time.perf_counter(), cpu_seconds(pid)
                came[name] = pages[which]()
                times[name].append(1000 * (time.perf_counter() - began))
                spent[name] += 1000 * (cpu_seconds(pid) - cpu) / ROUNDS
        for name, found in times.items():
            print(
                f"{what}, {name}: median {statistics.median(found):.1f} ms ({min(found):.1f}-{max(found):.1f}, "
                f"n={ROUNDS}), {spent[name]:.1f} ms of its server's processor time, {came[name]:,} bytes "
                f"(load {os.getloadavg()[0]:.1f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
