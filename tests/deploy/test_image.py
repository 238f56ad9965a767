"""The image: the same Dockerfile on a base that is made here, started, asked, and ended."""

from __future__ import annotations

import json
import re
import runpy
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

import postgres
from deploy.local_processes import ROOT
from deploy.made_images import BASE, IMAGE, NO_MORE_THAN_ROOT_HAS, podman
from redis_server import RedisServer
from sandboxes.engines import started_engine

MAX_BYTES = 250_000_000
CONFINED = (
    *("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit", "512"),
    *("--memory", "1g", "--tmpfs", "/tmp:rw,size=64m,mode=1777", *NO_MORE_THAN_ROOT_HAS),
)
SANDBOX_POOL = (
    *("--security-opt", f"seccomp={ROOT / 'deploy' / 'profiles' / 'proctor-sandbox.seccomp.json'}"),
    *("--security-opt", "unmask=ALL"),
)
pytestmark = [pytest.mark.timeout(1800), pytest.mark.sqlite]


def test_the_build_context_has_what_the_dockerfile_copies() -> None:
    said = (ROOT / "deploy" / "image" / "Dockerfile").read_text()
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for line in re.findall(r"^COPY (?!--from)(.*)$", said, re.MULTILINE):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists(), source
            assert any(source == path or source.startswith(f"{path}/") for path in allowed), source


class Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/health" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


def test_the_health_check_reads_the_role_from_the_first_process(tmp_path: Path) -> None:
    health = runpy.run_path(str(ROOT / "deploy" / "image" / "health.py"))
    (tmp_path / "1").mkdir()
    started = "/usr/bin/tini\0--\0/opt/proctor/bin/proctor\0serve\0--port=8001\0--host\x000.0.0.0\0"
    (tmp_path / "1" / "cmdline").write_text(started)
    words = health["role_of"](tmp_path)
    assert words == ["serve", "--port=8001", "--host", "0.0.0.0"]
    assert health["option"](words, "--port", "8000") == "8001"
    assert health["option"](words, "--host", "127.0.0.1") == "0.0.0.0"
    assert health["option"](words, "--tls-certificate", "") == ""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Healthy)
    Thread(target=server.serve_forever, daemon=True).start()
    assert health["check_server"](["serve", "--port", str(server.server_port)]) is None
    server.shutdown()
    server.server_close()
    assert "refused" in health["check_server"](["serve", "--port", str(server.server_port)])


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="pi-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


def proctor(*arguments: str, options: tuple[str, ...] = ("--network", "none"), fails: bool = False) -> str:
    return podman("run", "--rm", "-v", "home:/data", *CONFINED, *options, IMAGE, *arguments, fails=fails)


def wait_for(holds: Callable[[], bool], seconds: float = 180) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, podman("ps", "-a")
        time.sleep(0.5)


def is_healthy(name: str) -> bool:
    return subprocess.run(["podman", "healthcheck", "run", name], capture_output=True, check=False).returncode == 0


def test_the_image_is_small_runs_every_role_confined_and_ends_when_told(
    own_image: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One test: an engine of one's own takes a while to read an image."""
    with started_engine("podman", folder, monkeypatch):
        podman("load", "--quiet", "--input", str(own_image))
        _is_what_it_promises()
        _evaluates_confined()
        _serves_with_tls(tmp_path)
        _runs_code_in_a_sandbox_where_it_is_allowed(tmp_path)
        _works_for_others()


def _is_what_it_promises() -> None:
    image = json.loads(podman("image", "inspect", IMAGE))[0]
    base = json.loads(podman("image", "inspect", BASE))[0]
    added = image["Size"] - base["Size"]
    print(f"image: {image['Size'] / 1e6:.0f} MB, {added / 1e6:.0f} MB over its base")
    assert added <= MAX_BYTES
    config = image["Config"]
    assert config["User"] == "10001:10001"
    assert config["Entrypoint"][-1].endswith("/proctor")
    assert config["Labels"]["org.opencontainers.image.version"] == "1.2.3"
    assert config["Labels"]["org.opencontainers.image.licenses"] == "Apache-2.0"
    assert image["Healthcheck"]["Test"][0] == "CMD"
    kinds = podman("run", "--rm", *CONFINED, "--entrypoint", "/bin/cat", IMAGE, "/opt/proctor/sbom.cdx.json")
    bill = json.loads(kinds)
    assert bill["bomFormat"] == "CycloneDX"
    listed = {row["name"].lower().replace("_", "-") for row in bill["components"]}
    needed = {"proctor", "fastapi", "celery", "psycopg", "obstore", "cryptography", "opentelemetry-sdk"}
    assert needed <= listed, needed - listed


def _evaluates_confined() -> None:
    shown = json.loads(proctor("run", "puzzles", "-m", "demo/strong", "--limit", "20", "--json"))
    assert shown["status"] == "completed"
    assert shown["evaluations"][0]["scored"] == 20
    wrote = podman("run", "--rm", *CONFINED, "--entrypoint", "/bin/touch", IMAGE, "/opt/proctor/x", fails=True)
    assert "Read-only file system" in wrote
    options = ("--network", "none", "-e", f"PROCTOR_SECRET={secrets.token_hex(32)}")
    assert "--origin" in proctor("serve", "--host", "0.0.0.0", options=options, fails=True)


def _serves_with_tls(tmp_path: Path) -> None:
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-keyout", str(tmp_path / "tls.key"), "-out", str(tmp_path / "tls.pem"), "-days", "2"),
            *("-subj", "/CN=localhost"),
        ],
        check=True,
        capture_output=True,
    )
    (tmp_path / "tls.key").chmod(0o644)
    tmp_path.chmod(0o755)
    podman(
        *("run", "--detach", "--name", "served", "-v", "home:/data", "-v", f"{tmp_path}:/tls:ro", *CONFINED),
        *(
            "-e",
            f"PROCTOR_SECRET={secrets.token_hex(32)}",
            "--network",
            "none",
            IMAGE,
            "serve",
            "--host",
            "0.0.0.0",
            "--origin",
            "https://localhost:8443",
        ),
        *("--tls-certificate", "/tls/tls.pem", "--tls-key", "/tls/tls.key"),
    )
    wait_for(lambda: is_healthy("served"))
    ask = (
        "import ssl, urllib.request as u; c = ssl._create_unverified_context(); "
        "print(u.urlopen('https://127.0.0.1:8000/', context=c).read().decode())"
    )
    assert '<div id="root"' in podman("exec", "served", "/opt/proctor/bin/python", "-c", ask)
    said = subprocess.run(["podman", "logs", "served"], capture_output=True, text=True, check=True)
    assert "The first administrator" in said.stdout + said.stderr
    assert podman("exec", "served", "/usr/bin/id", "-u").strip() == "10001"
    podman("stop", "--time", "30", "served")
    assert json.loads(podman("inspect", "served"))[0]["State"]["ExitCode"] == 0
    podman("rm", "served")


def _runs_code_in_a_sandbox_where_it_is_allowed(tmp_path: Path) -> None:
    """What an unprivileged container has by default is no sandbox, and says so; the pool's profile makes one."""
    (tmp_path / "answer.py").write_text("print(6 * 7)\n")
    mounted = ("--network", "none", "-v", f"{tmp_path}:/answers:ro")
    refused = proctor("sandbox", "run", "/answers/answer.py", options=mounted, fails=True)
    assert "No sandbox holds" in refused
    assert proctor("sandbox", "run", "/answers/answer.py", options=(*mounted, *SANDBOX_POOL)) == "42\n"
    held = proctor("doctor", "--sandbox", options=("--network", "none", *SANDBOX_POOL))
    rows = {line.split()[0]: line.split()[1:] for line in held.splitlines() if line.strip()}
    for name in ("namespaces", "bubblewrap"):
        assert set(rows[name]) == {"holds"}, held


def _works_for_others() -> None:
    """`db upgrade`, `worker --beat`, and a run that is handed over, on a real PostgreSQL and a real Redis."""
    server, redis = postgres.server(), RedisServer()
    assert server is not None
    with closing(redis), server.new_database(is_empty=True) as database:
        options = (
            "--network",
            "host",
            "-e",
            f"PROCTOR_DATABASE_URL={database}",
            "-e",
            f"PROCTOR_BROKER_URL={redis.url}",
        )
        assert "is at schema" in proctor("db", "upgrade", options=options)
        podman(
            *("run", "--detach", "--name", "worked", "-v", "home:/data", *CONFINED, *options, IMAGE),
            *("worker", "--pools", "default", "--concurrency", "1", "--beat"),
        )
        wait_for(lambda: is_healthy("worked"))
        shown = json.loads(proctor("run", "puzzles", "-m", "demo/strong", "--limit", "20", "--json", options=options))
        assert shown["status"] == "completed"
        wait_for(lambda: json.loads(proctor("workers", "--json", options=options))["workers"][0]["chunks"] >= 1)
        podman("stop", "--time", "60", "worked")
        assert json.loads(podman("inspect", "worked"))[0]["State"]["ExitCode"] == 0
        podman("rm", "worked")
