"""The gateway's configuration: real NGINX and HAProxy before two real servers on one PostgreSQL."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import postgres
from deploy.local_processes import GATEWAY, PLACES, PROGRAM, end, free_port, is_open, nginx_command, wait_for

PLAN = {"models": ["demo/strong"], "benchmarks": [{"benchmark": "puzzles", "limit": 6}], "cache": False}
SLOW = {
    "models": ["demo/strong?delay_ms=250"],
    "benchmarks": [{"benchmark": "puzzles", "limit": 40}],
    "limits": {"concurrency": 2},
    "cache": False,
}
SECRET = "a-query-that-is-in-no-log"
pytestmark = [pytest.mark.sqlite, pytest.mark.timeout(600)]


class Spare:
    """The backup: a server of another kind, which counts who comes."""

    def __init__(self) -> None:
        owner = self
        self.asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.asked.append(self.path)
                body = b"spare"
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with suppress(OSError):  # a health check may not wait for all of it
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Behind:
    """Two servers, a backup, and the gateway before them; everything is ended by its process id."""

    def __init__(self, folder: Path, database: str, stack: ExitStack, **more: str) -> None:
        self.folder, self.port = folder, free_port()
        self.environment = {**os.environ, "PROCTOR_HOME": str(folder / "home"), "PROCTOR_DATABASE_URL": database}
        self.environment |= {
            "PROCTOR_SECRET": secrets.token_hex(32),
            "TMPDIR": str(folder),  # what is killed removes nothing
            **more,
        }
        self._stack = stack
        self._make_certificate()
        self.key = self._make_key()
        self.spare = Spare()
        stack.callback(self.spare.close)
        self.ports = [free_port(), free_port()]
        self.servers = [self.serve(port) for port in self.ports]
        for port in self.ports:
            wait_for(lambda port=port: is_open(port), self.said)  # type: ignore[misc]

    def _make_certificate(self) -> None:
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-keyout", "tls.key", "-out", "tls.pem", "-days", "2", "-subj", "/CN=localhost"]
        command += ["-addext", "subjectAltName=DNS:localhost"]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)
        both = (self.folder / "tls.pem").read_text() + (self.folder / "tls.key").read_text()
        (self.folder / "both.pem").write_text(both)

    def _make_key(self) -> str:
        command = [sys.executable, "-c", PROGRAM, "keys", "create", "--project", "local", "--json"]
        for scope in ("run:write", "run:read", "results:read"):
            command += ["--scope", scope]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        made: str = json.loads(done.stdout)["key"]
        return made

    def _start(self, name: str, command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        with (self.folder / name).open("ab") as log:
            process = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)
        self._stack.callback(end, process)
        return process

    def serve(self, port: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", PROGRAM, "serve", "--port", str(port), "--trusted-proxy", "127.0.0.1"]
        command += ["--origin", f"https://localhost:{self.port}", "--accounts"]
        return self._start(f"server-{port}.log", command, self.environment)

    def start_gateway(self, name: str) -> None:
        self._start("gateway.log", *GATEWAYS[name](self))
        wait_for(lambda: is_open(self.port), self.said)
        wait_for(lambda: self.ask("GET", "/ready")[0] == 200, self.said)

    def said(self) -> str:
        return "\n".join(f"{path.name}: {path.read_text()[-3000:]}" for path in self.folder.glob("*.log"))

    def open(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[HTTPSConnection, HTTPResponse]:
        context = ssl.create_default_context(cafile=str(self.folder / "tls.pem"))
        connection = HTTPSConnection("localhost", self.port, timeout=60, context=context)
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        kind = {"Content-Type": "application/json"} if sent is not None else {}
        connection.request(method, path, sent, {"Authorization": f"Bearer {self.key}", **kind, **named})
        return connection, connection.getresponse()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
        connection, answer = self.open(method, path, body, **headers)
        with closing(connection):
            return answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()

    def submit(self, plan: Any) -> str:
        status, _, body = self.ask("POST", "/api/v1/runs", plan)
        assert status == 202, body
        run_id: str = json.loads(body)["run_id"]
        return run_id

    def log(self) -> list[dict[str, Any]]:
        lines = (self.folder / "gateway.log").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def server_of(self, run_id: str) -> int:
        """Which of the two the gateway chose for the stream of that run."""
        path = f"/api/v1/runs/{run_id}/events"
        wait_for(lambda: any(row["path"] == path for row in self.log()), self.said)
        named = next(row["server"] for row in self.log() if row["path"] == path)
        return 0 if named in ("api-1", f"127.0.0.1:{self.ports[0]}") else 1


def nginx(behind: Behind) -> tuple[list[str], dict[str, str]]:
    servers = (*behind.ports, behind.spare.port)
    return nginx_command(behind.folder, behind.port, servers), {**os.environ}


def haproxy(behind: Behind) -> tuple[list[str], dict[str, str]]:
    addresses = [f"127.0.0.1:{port}" for port in (*behind.ports, behind.spare.port)]
    environment = dict(zip(("API_1", "API_2", "API_SPARE"), addresses, strict=True))
    environment |= {"LISTEN": f"127.0.0.1:{behind.port}", "CERTIFICATE": str(behind.folder / "both.pem")}
    found = shutil.which("haproxy", path=PLACES)
    assert found is not None
    return [found, "-W", "-db", "-f", str(GATEWAY / "haproxy.cfg")], {**os.environ, **environment}


GATEWAYS: dict[str, Callable[[Behind], tuple[list[str], dict[str, str]]]] = {"nginx": nginx, "haproxy": haproxy}


@contextmanager
def gateway(name: str, folder: Path) -> Iterator[Behind]:
    if shutil.which(name, path=PLACES) is None:
        pytest.skip(f"{name} is not installed: apt-get install {name}")
    server = postgres.server()
    if server is None:
        pytest.skip("there is no PostgreSQL here")
    with server.new_database() as database, ExitStack() as stack:
        behind = Behind(folder, database, stack)
        behind.start_gateway(name)
        yield behind


EVENT = re.compile(rb"id: (\d+)\nevent: (\w+)\n")


def follow(answer: HTTPResponse, until: Callable[[list[tuple[int, str]]], bool]) -> list[tuple[int, str]]:
    """Events as they come, until there are enough, the stream ends, or it is broken off."""
    found: list[tuple[int, str]] = []
    held = b""
    with suppress(HTTPException, OSError):
        while piece := answer.read1(65_536):
            held += piece
            *blocks, held = held.split(b"\n\n")
            found += [(int(match[1]), match[2].decode()) for block in blocks if (match := EVENT.search(block))]
            if until(found):
                break
    return found


@pytest.mark.parametrize("name", list(GATEWAYS))
def test_a_server_that_is_killed_in_the_middle_of_a_stream_loses_nothing(name: str, tmp_path: Path) -> None:
    with gateway(name, tmp_path) as behind:
        _speaks_modern_tls_only(behind)
        _limits_and_compresses(behind)
        _passes_uploads_on(behind)
        first = behind.submit(PLAN)
        connection, answer = behind.open("GET", f"/api/v1/runs/{first}/events")
        with closing(connection):
            assert answer.headers["Content-Encoding"] is None
            assert follow(answer, lambda _: False)[-1][1] == "finished"
        chosen = behind.server_of(first)
        _keeps_callers_at_their_server(behind, first, chosen)

        run_id = behind.submit(SLOW)
        connection, answer = behind.open("GET", f"/api/v1/runs/{run_id}/events")
        with closing(connection):
            seen = follow(answer, lambda events: any(kind == "progress" for _, kind in events))
            assert "finished" not in {kind for _, kind in seen}, "the stream was held back"
            behind.servers[chosen].kill()
            behind.servers[chosen].wait()
            accepted = [behind.submit(PLAN) for _ in range(3)]
            seen += follow(answer, lambda _: False)
        assert "finished" not in {kind for _, kind in seen}
        connection, answer = behind.open("GET", f"/api/v1/runs/{run_id}/events", Last_Event_ID=str(seen[-1][0]))
        with closing(connection):
            seen += follow(answer, lambda _: False)
        assert seen[-1][1] == "finished"
        connection, answer = behind.open("GET", f"/api/v1/runs/{run_id}/events")
        with closing(connection):
            assert seen == follow(answer, lambda _: False), "the stream has a gap or a repeat"
        for one, count in ((run_id, 40), *((one, 6) for one in accepted)):
            wait_for(lambda one=one: _run(behind, one)["status"] == "completed", behind.said)  # type: ignore[misc]
            assert _run(behind, one)["evaluations"][0]["scored"] == count

        behind.servers[1 - chosen].kill()
        behind.servers[1 - chosen].wait()
        assert behind.spare.asked == [] or name == "haproxy"  # which asks whether it is there
        wait_for(lambda: behind.ask("GET", "/")[2] == b"spare", behind.said)
        _logs_json(behind)


def _run(behind: Behind, run_id: str) -> Any:
    return json.loads(behind.ask("GET", f"/api/v1/runs/{run_id}")[2])


def _speaks_modern_tls_only(behind: Behind) -> None:
    context = ssl.create_default_context(cafile=str(behind.folder / "tls.pem"))
    context.set_alpn_protocols(["h2", "http/1.1"])
    with (
        socket.create_connection(("127.0.0.1", behind.port)) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as wrapped,
    ):
        assert (wrapped.version(), wrapped.selected_alpn_protocol()) == ("TLSv1.3", "h2")
    older = ssl.create_default_context(cafile=str(behind.folder / "tls.pem"))
    older.maximum_version = ssl.TLSVersion.TLSv1_2
    with (
        socket.create_connection(("127.0.0.1", behind.port)) as plain,
        pytest.raises((ssl.SSLError, ConnectionError)),
        older.wrap_socket(plain, server_hostname="localhost"),
    ):
        pytest.fail("TLS 1.2 was spoken")


def _limits_and_compresses(behind: Behind) -> None:
    status, headers, _ = behind.ask("GET", f"/api/v1/openapi.json?{SECRET}", Accept_Encoding="gzip")
    assert (status, headers.get("content-encoding")) == (200, "gzip")
    assert behind.ask("GET", "/metrics")[0] == 404
    status, headers, body = behind.ask("GET", "/api/v1/version", X_Request_Id="asked-by-a-test")
    assert headers["x-request-id"] == "asked-by-a-test"
    # Refused by what it announces: nothing of it need be sent.
    status, headers, body = behind.ask("POST", "/api/v1/runs", b"x", Content_Length="4300000")
    assert (status, json.loads(body)["status"]) == (413, 413)
    # Side by side: one after the other they come too slowly on a busy machine, for each is hashed.
    with ThreadPoolExecutor(60) as pool:
        credentials = {"name": "x", "password": "y"}
        said = list(pool.map(lambda _: behind.ask("POST", "/api/v1/auth/sign-in", credentials), range(60)))
    [refused, *_] = [answer for answer in said if answer[0] == 429 and b"about:blank" in answer[2]]
    assert refused[1]["content-type"] == "application/problem+json"
    assert refused[1]["retry-after"] == "1"
    for _ in range(30):
        assert behind.ask("GET", "/health")[0] == 200
    served = [row["server"] for row in behind.log() if row["path"] == "/health"]
    one, two = (sum(name in (f"api-{n}", f"127.0.0.1:{behind.ports[n - 1]}") for name in served) for n in (1, 2))
    assert one > two > 0, served


def _passes_uploads_on(behind: Behind) -> None:
    """What takes more than other requests does so behind the gateway, too: whatever is refused, the server refuses."""
    ask = json.dumps({"models": ["demo/strong"], "prompt": "x" * 4_300_000})
    status, _, body = behind.ask("POST", "/api/v1/playground", ask.encode())
    assert status != 413, body
    head = '--cut\r\nContent-Disposition: form-data; name="file"; filename="rows.jsonl"\r\n\r\n'
    sent = head.encode() + b'{"input": "1 + 1?", "target": "2"}\n' * 125_000 + b"\r\n--cut--\r\n"
    assert len(sent) > 4_200_000
    for path in ("files", "submissions", "own-benchmarks", "own-benchmarks/check"):
        status, _, body = behind.ask("POST", f"/api/v1/{path}", sent, Content_Type="multipart/form-data; boundary=cut")
        assert status != 413, (path, body)


def _keeps_callers_at_their_server(behind: Behind, run_id: str, chosen: int) -> None:
    """The same caller's streams go to one server; those of many callers to both."""
    path = f"/api/v1/runs/{run_id}/events"
    before = len(behind.log())
    for _ in range(4):
        assert behind.ask("GET", path)[0] == 200
    for number in range(24):
        assert behind.ask("GET", path, Authorization=f"Bearer pk_{number}")[0] == 401
    wait_for(lambda: len([row for row in behind.log()[before:] if row["path"] == path]) == 28, behind.said)
    rows = [row for row in behind.log()[before:] if row["path"] == path]
    own = {row["server"] for row in rows if row["status"] == 200}
    assert own in ({f"api-{chosen + 1}"}, {f"127.0.0.1:{behind.ports[chosen]}"})
    assert len({row["server"] for row in rows if row["status"] == 401}) == 2


def _logs_json(behind: Behind) -> None:
    rows = behind.log()
    named = [row for row in rows if row["request_id"] == "asked-by-a-test"]
    assert [row["path"] for row in named] == ["/api/v1/version"]
    assert {"client", "method", "status", "server"} <= set(named[0])
    text = (behind.folder / "gateway.log").read_text()
    assert SECRET not in text
    assert behind.key not in text
