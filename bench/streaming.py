"""What streaming costs: whole runs, plain and streamed, interleaved, against the provider of the speed benchmark.

Prints CPU for 1,000 trials of each, start-up included, and their ratio; the answers have the same words either way.
With --tls everything is asked over TLS, with a certificate made for the occasion and checked as any other.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mock_provider import item

HERE = Path(__file__).parent


def make_certificate(folder: Path) -> Path:
    """One that signs itself, with its key: clients are told to trust it by SSL_CERT_FILE."""
    new = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost -days 2"
    names = "-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", *new.split(), *names.split()], cwd=folder, check=True, capture_output=True
    )
    (folder / "both.pem").write_text((folder / "cert.pem").read_text() + (folder / "key.pem").read_text())
    os.environ["SSL_CERT_FILE"] = str(folder / "cert.pem")
    return folder / "both.pem"


@contextmanager
def provider(certificate: Path | None) -> Iterator[str]:
    command = [sys.executable, str(HERE / "mock_provider.py")]
    command += ["--certificate", str(certificate)] if certificate else []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"{'https' if certificate else 'http'}://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def write_benchmark(folder: Path, count: int) -> None:
    with (folder / "items.jsonl").open("w") as file:
        for number in range(count):
            question, answer = item(number)
            file.write(json.dumps({"id": number, "question": question, "answer": str(answer)}) + "\n")
    (folder / "items.yaml").write_text(
        "name: items\n"
        "dataset: {source: items.jsonl, fields: {id: id, input: question, target: answer}}\n"
        "prompt: {system: \"Solve the problem. End with 'ANSWER: <number>'.\", user: '{{ input }}'}\n"
        "scorers: [numeric]\n"
    )


def cpu_seconds(url: str, folder: Path, concurrency: int, more: str) -> float:
    """CPU of one whole run with a fresh database and the cache on."""
    shutil.rmtree(folder / "home", ignore_errors=True)
    urllib.request.urlopen(urllib.request.Request(f"{url}/reset", b"{}"), timeout=10).close()
    command = [
        str(Path(sys.executable).with_name("proctor")), "run", "items.yaml", "-m",
        f"openai/mock?base_url={url}/v1{more}", "--temperature", "0", "--max-tokens", "256",
        "--concurrency", str(concurrency), "--json",
    ]  # fmt: skip
    environment = {**os.environ, "PROCTOR_HOME": str(folder / "home")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    [evaluation] = json.loads(ended.stdout)["evaluations"]
    # Everybody must have done the same work: the provider is wrong for one item in ten.
    assert round(evaluation["metrics"]["accuracy"]["value"], 4) == 0.9, evaluation["metrics"]
    assert evaluation["usage"]["output_tokens"] == 35 * evaluation["trials"]
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tls", action="store_true")
    given = parser.parse_args()
    found: dict[str, list[float]] = {"plain": [], "streamed": []}
    with ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory())
        url = stack.enter_context(provider(make_certificate(Path(place)) if given.tls else None))
        write_benchmark(Path(place), given.trials)
        for _ in range(given.rounds):
            for name, more in (("plain", ""), ("streamed", "&stream=true")):
                spent = cpu_seconds(url, Path(place), given.concurrency, more)
                found[name].append(1000 * spent / given.trials)
    for name, values in found.items():
        median = statistics.median(values)
        print(f"{name}: {median:.3f} s for 1,000 trials ({min(values):.3f}-{max(values):.3f}, n={len(values)})")
    print(f"streamed / plain: {statistics.median(found['streamed']) / statistics.median(found['plain']):.2f}")
    print(f"load: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
