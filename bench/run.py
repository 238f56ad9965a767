"""`make bench`: how much Proctor costs, as ratios measured in one interleaved run on one machine.

Writes a section of bench/RESULTS.md with the date and the machine. Options: --repeats, --large (memory at 200,000
trials), --peers DIR (a folder with other tools' scripts, see peers.py).
"""

from __future__ import annotations

import argparse
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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"


@dataclass(frozen=True)
class Measured:
    wall_seconds: float
    cpu_seconds: float
    peak_mb: float
    first_request_seconds: float | None
    work_seconds: float
    """From the first request to the last answer, as the provider saw them."""
    accuracy: float


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


def measure_proctor(url: str, folder: Path, count: int, concurrency: int, latency_ms: float) -> Measured:
    """The whole process, from its start to its end, with a fresh database and the cache on."""
    ask(f"{url}/reset", {"latency_ms": latency_ms})
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    command = [
        str(Path(sys.executable).with_name("proctor")), "run", f"items_{count}.yaml",
        "-m", f"openai/mock?base_url={url}/v1", "--temperature", "0", "--max-tokens", "256",
        "--concurrency", str(concurrency), "--json",
    ]  # fmt: skip
    with tempfile.TemporaryFile() as output:
        started = time.time()
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, "PROCTOR_HOME": str(home)}, stdout=output, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        ended = time.time()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        document = json.load(output)
    seen = ask(f"{url}/stats")
    first = seen["first_request"]
    assert process.returncode == 0
    return Measured(
        wall_seconds=ended - started,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        peak_mb=usage.ru_maxrss / 1024,
        first_request_seconds=first - started,
        work_seconds=seen["last_response"] - first,
        accuracy=document["evaluations"][0]["metrics"]["accuracy"]["value"],
    )


def measure_bare(url: str, count: int, concurrency: int, latency_ms: float) -> Measured:
    ask(f"{url}/reset", {"latency_ms": latency_ms})
    command = [sys.executable, str(HERE / "bare_loop.py"), "--url", url, "--count", str(count)]
    output = subprocess.run([*command, "--concurrency", str(concurrency)], capture_output=True, text=True, check=True)
    found, seen = json.loads(output.stdout), ask(f"{url}/stats")
    work = seen["last_response"] - seen["first_request"]
    return Measured(found["seconds"], found["cpu_seconds"], 0, None, work, found["right"] / count)


def start_up(arguments: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run([str(Path(sys.executable).with_name("proctor")), *arguments], capture_output=True, check=True)
    return time.perf_counter() - started


def middle(values: list[float]) -> float:
    return statistics.median(values)


def run(repeats: int, large: bool) -> list[tuple[str, str, str]]:
    """Every row: what, measured (median, with lowest and highest), the bar."""
    count = 10_000
    instant: dict[str, list[Measured]] = {"proctor": [], "bare": []}
    delayed: dict[str, list[Measured]] = {"proctor": [], "bare": []}
    versions: list[float] = []
    with tempfile.TemporaryDirectory() as name, mock_provider() as url:
        folder = Path(name)
        write_benchmark(folder, count)
        for repeat in range(repeats):
            print(f"repeat {repeat + 1} of {repeats} …", file=sys.stderr)
            instant["bare"].append(measure_bare(url, count, 64, 0))
            instant["proctor"].append(measure_proctor(url, folder, count, 64, 0))
            delayed["bare"].append(measure_bare(url, count, 256, 50))
            delayed["proctor"].append(measure_proctor(url, folder, count, 256, 50))
            versions.append(start_up(["--version"]))
        memory = _memory(url, folder, instant["proctor"]) if large else []
    assert {round(item.accuracy, 4) for item in (*instant["proctor"], *delayed["proctor"])} == {0.9}
    return [
        _row(
            "CPU per 1,000 trials, start-up included",
            [m.cpu_seconds / count * 1000 for m in instant["proctor"]],
            "s",
            "≤ 0.7 s",
        ),
        _row(
            "CPU per 1,000 requests of the bare aiohttp loop",
            [m.cpu_seconds / count * 1000 for m in instant["bare"]],
            "s",
            "",
        ),
        _row("first request after start", [m.first_request_seconds or 0 for m in instant["proctor"]], "s", "≤ 0.7 s"),
        _ratio("throughput at no latency, against the bare loop", instant, "≥ 0.33"),
        _ratio("throughput at 50 ms and 256 at once, against the bare loop", delayed, "≥ 0.85"),
        _row("peak memory at 10,000 trials", [m.peak_mb for m in instant["proctor"]], "MB", ""),
        *memory,
        _row("proctor --version", versions, "s", "< 0.5 s"),
    ]


def _memory(url: str, folder: Path, small: list[Measured]) -> list[tuple[str, str, str]]:
    write_benchmark(folder, 200_000)
    large = measure_proctor(url, folder, 200_000, 64, 0)
    ratio = large.peak_mb / middle([item.peak_mb for item in small])
    return [
        ("peak memory at 200,000 trials", f"{large.peak_mb:.0f} MB ({ratio:.2f} of that at 10,000)", "0.80–1.20"),
        ("CPU per 1,000 trials at 200,000", f"{large.cpu_seconds / 200:.3f} s", ""),
    ]


def _row(what: str, values: list[float], unit: str, bar: str) -> tuple[str, str, str]:
    return what, f"{middle(values):.3g} {unit} ({min(values):.3g}–{max(values):.3g}, n={len(values)})", bar


def _ratio(what: str, runs: dict[str, list[Measured]], bar: str) -> tuple[str, str, str]:
    """Requests a second from the first request on; each repeat's pair was measured side by side."""
    ratios = [bare.work_seconds / ours.work_seconds for ours, bare in zip(runs["proctor"], runs["bare"], strict=True)]
    return what, f"{middle(ratios):.3g} ({min(ratios):.3g}–{max(ratios):.3g}, n={len(ratios)})", bar


def report(rows: list[tuple[str, str, str]]) -> str:
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} {platform.release()}"
    lines = [
        f"## {datetime.now(UTC):%Y-%m-%d}: {machine}",
        "",
        "| what | measured (lowest–highest) | bar |",
        "|---|---|---|",
    ]
    lines += [f"| {what} | {value} | {bar} |" for what, value, bar in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="also 200,000 trials, for memory")
    parser.add_argument("--write", action="store_true", help="add the result to RESULTS.md")
    arguments = parser.parse_args()
    text = report(run(arguments.repeats, arguments.large))
    print(text)
    if arguments.write:
        RESULTS.write_text(RESULTS.read_text() + "\n" + text)


if __name__ == "__main__":
    main()
