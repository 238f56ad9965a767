"""Scans: each finds a planted issue, and says what it could not measure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml

import scan
from scans import dependencies, deployment, secrets, service, source
from scans.result import ROOT, ScanResult, find_tool

pytestmark = [pytest.mark.sqlite, pytest.mark.timeout(240)]


def needs(tool: str) -> str:
    found = find_tool(tool)
    if found is None:
        pytest.skip(f"{tool} is not installed")
    return found


@pytest.mark.parametrize("name", ["locks", "secrets", "dockerfile", "manifests", "workflows"])
def test_nothing_is_found_in_the_project(name: str) -> None:
    result = scan.SCANS[name]()
    if result.not_measured:
        pytest.skip(result.not_measured)
    assert result.findings == ()
    assert result.looked_at


def test_a_lock_without_hash_with_a_host_or_below_a_floor_is_found(tmp_path: Path) -> None:
    lock = tmp_path / "planted.lock"
    lock.write_text(
        "--index-url https://packages.example/simple\nstarlette==0.40.0 \\\n    --hash=sha256:ab\nwebsockets==15.0\n"
    )
    found = "\n".join(dependencies.lock_findings(lock))
    for said in (
        "starlette 0.40.0 is older than 1.10",
        "websockets 15.0 has no hash",
        "names the host packages.example",
    ):
        assert said in found
    planted = {"packages": {"": {}, "a": {"resolved": "https://x.example/a"}, "b": {"integrity": "sha512-x"}}}
    (tmp_path / "package-lock.json").write_text(json.dumps(planted))
    assert len(dependencies.npm_findings(tmp_path / "package-lock.json")) == 2


def test_a_database_that_cannot_be_reached_is_no_all_clear() -> None:
    needs("pip-audit")
    nowhere = dict.fromkeys(
        ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy"), "http://127.0.0.1:9"
    )
    result = dependencies.scan_advisories(environment=nowhere)
    assert result.findings == ()
    assert result.not_measured is not None
    assert "out of reach" in result.not_measured


def test_a_planted_secret_is_found_and_not_repeated(tmp_path: Path) -> None:
    planted = {
        "aws.py": f"KEY = '{'AKIA' + 'Q7XEXAMPLE4T2ZPW'}'",
        "openai.md": f"export OPENAI_API_KEY={'sk-' + 'a1B2' * 12}",
        "address.yaml": f"url: postgresql://proctor:{'9f' * 16}@db.example/proctor",
        "own.txt": f"\n\n{'pk_' + 'x1' * 22}",
        "fine.md": "postgresql://USER:PASSWORD@HOST/NAME and sk-not-a-key and ${KEY}",
    }
    for name, text in planted.items():
        (tmp_path / name).write_text(text)
    found = secrets.findings_in(sorted(tmp_path.iterdir()), tmp_path)
    assert [line.partition(":")[0] for line in found] == ["address.yaml", "aws.py", "openai.md", "own.txt"]
    assert "own.txt:3" in found[-1]
    assert not [line for line in found if "a1B2" in line or "9f9f" in line]


def test_a_planted_weakness_in_the_source_is_found_by_both(tmp_path: Path) -> None:
    needs("bandit")
    (tmp_path / "planted.py").write_text(
        "import subprocess\nimport yaml\n\n\ndef f(x):\n    subprocess.call(x, shell=True)\n    return yaml.load(x)\n"
    )
    found = "\n".join(source.scan_source([tmp_path / "planted.py"]).findings)
    for rule in ("S602", "B602", "S506", "B506"):
        assert rule in found


def test_a_planted_weakness_in_a_dockerfile_is_found(tmp_path: Path) -> None:
    needs("hadolint")
    (tmp_path / "Dockerfile").write_text("FROM debian\nRUN cd /tmp && sudo apt-get install curl\n")
    found = "\n".join(deployment.scan_dockerfiles([tmp_path / "Dockerfile"]).findings)
    assert "DL3006" in found
    assert "DL3004" in found


def test_a_planted_weakness_in_a_manifest_is_found() -> None:
    text = (ROOT / "deploy" / "kubernetes" / "proctor.yaml").read_text()
    manifests = [one for one in yaml.safe_load_all(text) if one and one["kind"] == "Deployment"]
    pod = manifests[0]["spec"]["template"]["spec"]
    pod["containers"][0]["securityContext"]["privileged"] = True
    manifests[0]["spec"]["replica"] = 3
    found = "\n".join(deployment.scan_manifests([yaml.safe_dump_all(manifests)]).findings)
    assert "it is privileged" in found
    assert "replica" in found


def test_a_planted_weakness_in_a_workflow_is_found(tmp_path: Path) -> None:
    needs("zizmor")
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    (folder / "planted.yaml").write_text(
        "on: {issues: {types: [opened]}}\njobs:\n  one:\n    runs-on: ubuntu-24.04\n    steps:\n"
        "      - uses: actions/checkout@v5\n      - run: echo '${{ github.event.issue.title }}'\n"
    )
    found = "\n".join(deployment.scan_workflows([folder / "planted.yaml"]).findings)
    assert "template-injection" in found
    assert "unpinned-uses" in found


class Weak(BaseHTTPRequestHandler):
    """Tells what it is, shows its inside, answers everybody."""

    def _answer(self) -> None:
        body = b"Traceback (most recent call last)"
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_TRACE = do_TRACK = do_CONNECT = do_DEBUG = _answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def weak() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Weak)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_weak_server_is_found_out(weak: str) -> None:
    found = "\n".join(service.look_at(weak))
    for said in (
        "x-frame-options is None", "the content security policy is weak or missing", "it says what it is made with",
        "it shows its inside", "TRACE is answered", "pages of other origins read", "may change things", "any name",
    ):  # fmt: skip
        assert said in found


def test_our_own_server_is_not() -> None:
    result = service.scan_service()
    assert result.findings == ()


def test_no_database_of_whoever_scans_is_attacked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = tmp_path / "own.db"
    monkeypatch.setenv("PROCTOR_DATABASE_URL", f"sqlite:///{own}")
    with service.served() as address:
        assert address.startswith("http://127.0.0.1:")
    assert not own.exists()


def test_a_server_that_does_not_start_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(service.sys, "executable", str(_failing(tmp_path)))
    with pytest.raises(RuntimeError, match="did not start: no room"), service.served():
        pass


def _failing(folder: Path) -> Path:
    program = folder / "python"
    program.write_text("#!/bin/sh\necho no room >&2\nexit 1\n")
    program.chmod(0o755)
    return program


def test_what_is_found_fails_and_what_is_not_measured_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        scan,
        "SCANS",
        {
            "bad": lambda: ScanResult(("here",), "x"),
            "blind": lambda: ScanResult(not_measured="no database"),
            "good": lambda: ScanResult((), "x"),
        },
    )
    assert scan.main(["good", "blind"]) == 0
    assert "blind: not measured: no database" in capsys.readouterr().out
    assert scan.main(["blind", "--strict"]) == 1
    assert scan.main(["good", "bad"]) == 1
    with pytest.raises(SystemExit):
        scan.main(["unknown"])
