"""`make bench`: how much Proctor costs, as ratios measured in one interleaved run on one machine.

Prints a section for bench/RESULTS.md with the date and the machine; --write adds it there. --large measures memory at
200,000 trials, too, and --peers DIR the other tools that side_by_side.py has installed there.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from side_by_side import Installed, installed

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

import postgres  # noqa: E402 - the server that the tests start

RESULTS = HERE / "RESULTS.md"
COUNT = 10_000
TIMED = 500
"""Trials of a run whose latencies are compared with what the provider has measured."""
Row = tuple[str, str, str]


@dataclass(frozen=True)
class Measured:
    wall_seconds: float
    cpu_seconds: float
    peak_mb: float
    first_request_seconds: float | None
    work_seconds: float
    """From the first request to the last answer, as the provider saw them."""


@contextmanager
def mock_provider() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, str(HERE / "mock_provider.py")], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait()


def ask(url: str, data: dict[str, object] | None = None) -> dict[str, float]:
    body = None if data is None else json.dumps(data).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body), timeout=10) as response:
        found: dict[str, float] = json.load(response)
    return found


def write_benchmark(folder: Path, count: int) -> None:
    from mock_provider import item

    with (folder / f"items_{count}.jsonl").open("w") as file:
        for number in range(count):
            question, answer = item(number)
            file.write(json.dumps({"id": number, "question": question, "answer": str(answer)}) + "\n")
    (folder / f"items_{count}.yaml").write_text(
        f"name: items\n"
        f"dataset: {{source: items_{count}.jsonl, fields: {{id: id, input: question, target: answer}}}}\n"
        "prompt:\n"
        "  system: \"Solve the problem. End with 'ANSWER: <number>'.\"\n"
        "  user: '{{ input }}'\n"
        "scorers: [numeric]\n"
    )


def measure_process(
    command: list[str], url: str, folder: Path, home: Path, latency_ms: float, database: str = ""
) -> tuple[Measured, Any]:
    """The whole process, from its start to its end, and the JSON document that ends its output."""
    ask(f"{url}/reset", {"latency_ms": latency_ms})
    environment = {**os.environ, "PROCTOR_HOME": str(home), "PROCTOR_DATABASE_URL": database}
    with tempfile.TemporaryFile() as output:
        started = time.time()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        ended = time.time()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode()
    assert process.returncode == 0, text
    document = json.loads(text if text.startswith("{") else text.splitlines()[-1])
    seen = ask(f"{url}/stats")
    first = seen["first_request"]
    measured = Measured(
        wall_seconds=ended - started,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        peak_mb=usage.ru_maxrss / 1024,
        first_request_seconds=first - started,
        work_seconds=seen["last_response"] - first,
    )
    return measured, document


def measure_proctor(
    url: str, folder: Path, count: int, concurrency: int, latency_ms: float, database: str = ""
) -> Measured:
    """With a fresh database, SQLite where none is named, and the cache on."""
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    command = [
        str(Path(sys.executable).with_name("proctor")), "run", f"items_{count}.yaml",
        "-m", f"openai/mock?base_url={url}/v1", "--temperature", "0", "--max-tokens", "256",
        "--concurrency", str(concurrency), "--json",
    ]  # fmt: skip
    measured, document = measure_process(command, url, folder, home, latency_ms, database)
    check(document["evaluations"][0]["metrics"]["accuracy"]["value"])
    return measured


def measure_latency(url: str, folder: Path, scorers: str) -> float:
    """Our median latency at 50 ms and 16 at once, as a multiple of what the provider has measured."""
    text = (folder / f"items_{TIMED}.yaml").read_text().replace("scorers: [numeric]", f"scorers: {scorers}")
    lines = (folder / f"items_{TIMED}.jsonl").read_text().splitlines()
    rules = {"instruction_id_list": ["language:response_language"], "kwargs": [{"language": "en"}]}
    rows = [{**json.loads(line), "metadata": rules} for line in lines]
    (folder / "timed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "timed.yaml").write_text(text.replace(f"items_{TIMED}.jsonl", "timed.jsonl"))
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    command = [
        str(Path(sys.executable).with_name("proctor")), "run", "timed.yaml", "-m", f"openai/mock?base_url={url}/v1",
        "--concurrency", "16", "--json",
    ]  # fmt: skip
    _, document = measure_process(command, url, folder, home, 50)
    ours: float = document["evaluations"][0]["latency_seconds"]["p50"]
    return ours / ask(f"{url}/stats")["served_p50"]


def measure_peer(url: str, folder: Path, peer: Installed, concurrency: int) -> Measured:
    out = folder / peer.name
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    command = [*peer.command, url, str(folder / f"items_{peer.trials}.jsonl"), str(concurrency), str(out)]
    measured, document = measure_process(command, url, folder, out, 0)
    check(document["accuracy"])
    return measured


def check(accuracy: float) -> None:
    """Everybody must have done the same work: the provider is wrong for one item in ten."""
    assert round(accuracy, 4) == 0.9, accuracy


def measure_bare(url: str, count: int, concurrency: int, latency_ms: float) -> Measured:
    ask(f"{url}/reset", {"latency_ms": latency_ms})
    command = [sys.executable, str(HERE / "bare_loop.py"), "--url", url, "--count", str(count)]
    output = subprocess.run([*command, "--concurrency", str(concurrency)], capture_output=True, text=True, check=True)
    found, seen = json.loads(output.stdout), ask(f"{url}/stats")
    work = seen["last_response"] - seen["first_request"]
    check(found["right"] / count)
    return Measured(found["seconds"], found["cpu_seconds"], 0, None, work)


def measure_on_postgresql(url: str, folder: Path, count: int, concurrency: int) -> Measured | None:
    """The processor time of `proctor run` alone, without the server's; None where there is no PostgreSQL."""
    server = postgres.server()
    if server is None:
        return None
    with server.new_database() as database:
        return measure_proctor(url, folder, count, concurrency, 0, database)


def start_up(arguments: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run([str(Path(sys.executable).with_name("proctor")), *arguments], capture_output=True, check=True)
    return time.perf_counter() - started


def middle(values: list[float]) -> float:
    return statistics.median(values)


@dataclass
class Beside:
    """Measurements of two that took turns."""

    ours: list[Measured] = field(default_factory=list)
    theirs: list[Measured] = field(default_factory=list)

    def costs(self) -> list[float]:
        """Our processor time as a multiple of theirs."""
        return [ours.cpu_seconds / theirs.cpu_seconds for ours, theirs in zip(self.ours, self.theirs, strict=True)]

    def ratios(self, of: Callable[[Measured], float]) -> list[float]:
        return [of(theirs) / of(ours) for ours, theirs in zip(self.ours, self.theirs, strict=True)]


def run(repeats: int, large: bool, peers: list[Installed]) -> list[Row]:
    """Every row: what, measured (median, with lowest and highest), the bar."""
    instant, delayed, stores = Beside(), Beside(), Beside()
    others = [(peer, Beside()) for peer in peers]
    versions: list[float] = []
    timed: dict[str, list[float]] = {scorers: [] for scorers in ("[exact]", "[{instructions: {detector: langdetect}}]")}
    with tempfile.TemporaryDirectory() as name, mock_provider() as url:
        folder = Path(name)
        for count in {COUNT, TIMED, *(peer.trials for peer in peers)}:
            write_benchmark(folder, count)
        for repeat in range(repeats):
            print(f"repeat {repeat + 1} of {repeats}, load {os.getloadavg()[0]:.1f} …", file=sys.stderr)
            instant.theirs.append(measure_bare(url, COUNT, 64, 0))
            instant.ours.append(measure_proctor(url, folder, COUNT, 64, 0))
            if (kept := measure_on_postgresql(url, folder, COUNT, 64)) is not None:
                stores.ours.append(kept)
                stores.theirs.append(instant.ours[-1])
            delayed.theirs.append(measure_bare(url, COUNT, 256, 50))
            delayed.ours.append(measure_proctor(url, folder, COUNT, 256, 50))
            versions.append(start_up(["--version"]))
            for scorers, ratios in timed.items():
                ratios.append(measure_latency(url, folder, scorers))
            for peer, beside in others:
                beside.ours.append(measure_proctor(url, folder, peer.trials, 64, 0))
                beside.theirs.append(measure_peer(url, folder, peer, 64))
        memory = _memory(url, folder, instant.ours) if large else []
    return [
        _row("CPU of a whole run, against the bare loop's", instant.costs(), "", "≤ 1.0"),
        _row("CPU per 1,000 trials, start-up included", [_thousand(m, COUNT) for m in instant.ours], "s", ""),
        _row("CPU per 1,000 requests of the bare aiohttp loop", [_thousand(m, COUNT) for m in instant.theirs], "s", ""),
        _stores_row(stores),
        _row("first request after start", [m.first_request_seconds or 0 for m in instant.ours], "s", "≤ 0.5 s"),
        _row("throughput at no latency and 64 at once, against the bare loop", instant.ratios(_work), "", "≥ 0.33"),
        _row("throughput at 50 ms and 256 at once, against the bare loop", delayed.ratios(_work), "", "≥ 0.85"),
        *(
            _row(f"p50 latency by {name}, against the provider's own", found, "", "≤ 1.10")
            for name, found in timed.items()
        ),
        _row("peak memory at 10,000 trials", [m.peak_mb for m in instant.ours], "MB", ""),
        *memory,
        _row("proctor --version", versions, "s", "< 0.5 s"),
        *(row for peer, beside in others for row in _peer_rows(peer, beside)),
    ]


def _stores_row(stores: Beside) -> Row:
    what, bar = "CPU of a whole run on PostgreSQL (without the server's), against SQLite", "≤ 1.5"
    return _row(what, stores.costs(), "", bar) if stores.ours else (what, "not measured: there is no PostgreSQL", bar)


def _work(measured: Measured) -> float:
    return measured.work_seconds


def _thousand(measured: Measured, count: int) -> float:
    return measured.cpu_seconds / count * 1000


def _peer_rows(peer: Installed, beside: Beside) -> list[Row]:
    what = f"{peer.name} {peer.version}, {peer.trials:,} trials"
    return [
        _row(f"CPU per 1,000 trials of {what}", [_thousand(m, peer.trials) for m in beside.theirs], "s", ""),
        _row("– as a multiple of Proctor's beside it", beside.ratios(lambda m: m.cpu_seconds), "", ""),
        _row("– its whole time as a multiple of Proctor's", beside.ratios(lambda m: m.wall_seconds), "", ""),
    ]


def _memory(url: str, folder: Path, small: list[Measured]) -> list[Row]:
    write_benchmark(folder, 200_000)
    large = measure_proctor(url, folder, 200_000, 64, 0)
    ratio = large.peak_mb / middle([item.peak_mb for item in small])
    return [
        ("peak memory at 200,000 trials", f"{large.peak_mb:.0f} MB ({ratio:.2f} of that at 10,000)", "0.80–1.20"),
        ("CPU per 1,000 trials at 200,000", f"{large.cpu_seconds / 200:.3f} s", ""),
    ]


def _row(what: str, values: list[float], unit: str, bar: str) -> Row:
    shown = f"{middle(values):.3g} {unit}".strip()
    return what, f"{shown} ({min(values):.3g}–{max(values):.3g}, n={len(values)})", bar


def report(rows: list[Row]) -> str:
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} {platform.release()}"
    lines = [
        f"## {datetime.now(UTC):%Y-%m-%d}: {machine}",
        "",
        "| what | measured (lowest–highest) | bar |",
        "|---|---|---|",
    ]
    lines += [f"| {what} | {value} | {bar} |" for what, value, bar in rows]
    return "\n".join(lines) + "\n"


def compile_package() -> None:
    """As pip does when it installs: a checkout may be set to keep no compiled files."""
    found = find_spec("proctor")
    assert found is not None
    assert found.origin is not None
    compileall.compile_dir(Path(found.origin).parent, quiet=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="also 200,000 trials, for memory")
    parser.add_argument("--write", action="store_true", help="add the result to RESULTS.md")
    parser.add_argument("--peers", type=Path, help="a folder that side_by_side.py has filled")
    arguments = parser.parse_args()
    peers = installed(arguments.peers) if arguments.peers else []
    compile_package()
    try:
        text = report(run(arguments.repeats, arguments.large, peers))
    finally:
        postgres.stop()
    print(text)
    if arguments.write:
        RESULTS.write_text(RESULTS.read_text() + "\n" + text)


if __name__ == "__main__":
    main()
