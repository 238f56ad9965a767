"""A server that runs, looked at from outside: headers, what it tells of itself, what it does with hostile requests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from scans.result import ScanResult

ADDRESS = re.compile(r"http://[\w.]+:\d+")
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
PAGES = ("/", "/api/docs", "/api/v1/version", "/api/v1/nothing-of-that-name", "/health")
HOSTILE = (
    "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%252f..%252fetc/passwd",
    "/assets/..%2f..%2f..%2fpyproject.toml",
    "/api/v1/runs/%00", "/api/v1/runs/' OR 1=1 --", "/api/v1/runs?after=<script>alert(1)</script>", "/api/v1/runs/${jndi:ldap://x}",
)  # fmt: skip
LEAKS = re.compile(r"Traceback|File \"/|root:x:0|site-packages|sqlalchemy|\[project\]")


@contextmanager
def served() -> Iterator[str]:
    """A server of its own on loopback, with a home of its own and no setting of whoever scans."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PROCTOR_")}
    with tempfile.TemporaryDirectory(prefix="proctor-scan-") as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "proctor", "serve", "--port", "0"],
            cwd=folder,
            env={**environment, "PROCTOR_HOME": folder},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stderr is not None
            said = []
            for line in process.stderr:
                said.append(line)
                if found := ADDRESS.search(line):
                    yield found[0]
                    break
            else:
                raise RuntimeError(f"the server did not start: {''.join(said).strip() or 'it said nothing'}")
        finally:
            process.terminate()
            process.communicate()


class Visitor:
    """Asks as an attacker would: paths as they are written, headers as they are given."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._place = (parts.hostname or "", parts.port or 80)

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, dict[str, str], str]:
        connection = HTTPConnection(*self._place, timeout=30)
        try:
            connection.putrequest(method, path.replace(" ", "%20"), skip_host="Host" in headers)
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            text = answer.read(200_000).decode("utf-8", "replace")
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text
        finally:
            connection.close()


def look_at(address: str) -> list[str]:
    """Each finding as a sentence."""
    visitor = Visitor(address)
    try:
        return [*_headers(visitor), *_hostile(visitor), *_origins(visitor)]
    except (HTTPException, OSError) as error:
        return [f"it does not answer: {error!r}"]


def _headers(visitor: Visitor) -> Iterator[str]:
    for path in PAGES:
        status, headers, text = visitor.ask("GET", path)
        for name, wanted in HEADERS.items():
            if headers.get(name) != wanted:
                yield f"{path}: {name} is {headers.get(name)!r}, not {wanted!r}"
        policy = headers.get("content-security-policy", "")
        if (
            "default-src 'none'" not in policy
            or "'unsafe-eval'" in policy
            or "script-src 'self' 'unsafe-inline'" in policy
        ):
            yield f"{path}: the content security policy is weak or missing"
        if "server" in headers or "x-powered-by" in headers:
            yield f"{path}: it says what it is made with"
        if status >= 500 or LEAKS.search(text):
            yield f"{path}: {status}, or it shows its inside"


def _hostile(visitor: Visitor) -> Iterator[str]:
    for path in HOSTILE:
        status, _, text = visitor.ask("GET", path)
        if status >= 500 or LEAKS.search(text):
            yield f"{path}: {status}, or it shows its inside"
    for method in ("TRACE", "TRACK", "CONNECT", "DEBUG"):
        status, _, text = visitor.ask(method, "/api/v1/version", X_Secret="canary-5417")
        if status < 400 or "canary-5417" in text:
            yield f"{method} is answered with {status}"
    for body in (b"{", b"[" * 100_000, b'{"a": NaN}', b"\xff\xfe", b'{"models": 1e400}'):
        status, _, text = visitor.ask("POST", "/api/v1/runs", body, Content_Type="application/json")
        if not 400 <= status < 500 or LEAKS.search(text):
            yield f"POST of {body[:12]!r}: {status}, or it shows its inside"


def _origins(visitor: Visitor) -> Iterator[str]:
    status, headers, _ = visitor.ask("GET", "/api/v1/version", Origin="https://attacker.example")
    if "access-control-allow-origin" in headers:
        yield "it lets pages of other origins read"
    status, _, _ = visitor.ask(
        "POST", "/api/v1/runs", b"{}", Origin="https://attacker.example", Content_Type="application/json"
    )
    if status != 403:
        yield f"a page of another origin may change things ({status})"
    status, _, _ = visitor.ask("GET", "/api/v1/version", Host="attacker.example")
    if status != 421:
        yield f"it answers to any name ({status})"


def scan_service() -> ScanResult:
    with served() as address:
        return ScanResult(tuple(look_at(address)), "a server that runs, from outside")
