"""What `--offline` promises, looked at from outside: the connections a real process makes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.provider import FakeProvider
from runs.arithmetic import write_benchmark

INTERNET = re.compile(r'sa_family=(AF_INET6?),.*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")')
TRACED = ("strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o")
ELSEWHERE = "http://192.0.2.7:9"
"""An address that is nobody's (RFC 5737)."""


def has_strace() -> bool:
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0


def has_namespaces() -> bool:
    wanted = ["unshare", "-rn", "sh", "-c", "ip link set lo up"]
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return False
    return subprocess.run(wanted, capture_output=True, check=False).returncode == 0


def proctor(folder: Path, *arguments: str, before: tuple[str, ...] = (), **variables: str) -> tuple[int, str, str]:
    environment = {**os.environ, "PROCTOR_HOME": str(folder / "home"), **variables}
    done = subprocess.run(
        [*before, sys.executable, "-m", "proctor", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def addresses(trace: Path) -> set[str]:
    """Every internet address that any process of the trace connected or sent to."""
    return {found[2] or found[3] for line in trace.read_text().splitlines() for found in INTERNET.finditer(line)}


def talk(folder: Path) -> tuple[str, ...]:
    """A run with a server, a function that tries to get out, a program and a demo."""
    (folder / "leaky.py").write_text(
        "import socket, urllib.request\n"
        "def answer(prompt):\n"
        f"    for url in ('{ELSEWHERE}', 'http://example.com'):\n"
        "        try:\n"
        "            urllib.request.urlopen(url, timeout=5)\n"
        "        except OSError as error:\n"
        "            said = str(error)\n"
        "    return said\n"
    )
    return ("run", "sums.yaml", "--offline", "--json", "-m", "python/leaky:answer", "-m", "demo/strong")


@pytest.mark.skipif(not has_strace(), reason="strace cannot be used here")
def test_an_offline_run_connects_to_nothing_but_loopback(tmp_path: Path) -> None:
    write_benchmark(tmp_path, 5)
    trace = tmp_path / "trace.txt"
    with FakeProvider() as provider:
        model = f"openai/sums?base_url={provider.url}/v1"
        proxies = {"http_proxy": ELSEWHERE, "HTTP_PROXY": ELSEWHERE, "https_proxy": ELSEWHERE, "ALL_PROXY": ELSEWHERE}
        code, out, err = proctor(
            tmp_path, *talk(tmp_path), "-m", model, "-m", "command/cat", before=(*TRACED, str(trace)), **proxies
        )
        assert code == 0, err
        assert provider.stats()["answered"] == 5
    by_model = {item["model"]: item for item in json.loads(out)["evaluations"]}
    assert by_model["openai/sums"]["metrics"]["accuracy"]["value"] == 1.0
    assert addresses(trace) == {"127.0.0.1"}
    code, rows, err = proctor(tmp_path, "export", "latest")
    said = [json.loads(row)["response"] for row in rows.splitlines() if "leaky" in row]
    assert len(said) == 5
    assert all("offline: " in text for text in said), said


@pytest.mark.skipif(not has_strace(), reason="strace cannot be used here")
def test_the_same_run_without_the_flag_does_try_to_get_out(tmp_path: Path) -> None:
    """The control: what the other test looks for would be found."""
    write_benchmark(tmp_path, 1)
    trace = tmp_path / "trace.txt"
    arguments = [argument for argument in talk(tmp_path) if argument != "--offline"]
    proctor(tmp_path, *arguments, before=(*TRACED, str(trace)), no_proxy="*")
    assert "192.0.2.7" in addresses(trace)


@pytest.mark.skipif(not has_namespaces(), reason="network namespaces cannot be made here")
def test_an_offline_run_succeeds_where_there_is_no_network(tmp_path: Path) -> None:
    """Only loopback exists here, and the provider lives on it."""
    write_benchmark(tmp_path, 3)
    script = tmp_path / "both.sh"
    tests = Path(__file__).parents[1]
    script.write_text(
        "ip link set lo up\n"
        f"PYTHONPATH={tests} {sys.executable} -m fakes.provider --port 18080 > port & server=$!\n"
        "while [ ! -s port ]; do sleep 0.05; done\n"
        f"{sys.executable} -m proctor run sums.yaml -m 'openai/x?base_url=http://127.0.0.1:18080/v1' --offline --json\n"
        "code=$?; kill $server; exit $code\n"
    )
    environment = {**os.environ, "PROCTOR_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        ["unshare", "-rn", "sh", str(script)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["evaluations"][0]["scored"] == 3
