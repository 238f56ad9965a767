"""Compose: the files as Docker reads them, and every service that can be had here started with its own command."""

from __future__ import annotations

import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.command_lines import refuse_unknown_command, unknown_settings
from deploy.local_processes import PLACES, PROGRAM, ROOT, end, free_port, is_open, nginx_command, wait_for
from postgres import PostgresServer, find_binaries

FOLDER = ROOT / "deploy" / "compose"
FILES = ("compose.yaml", "compose.small.yaml", "compose.sandbox.yaml")
PINNED = re.compile(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}")
PRIVATE = re.compile(r"(?i)(password|passwd|secret|token|key)\s*[:=]\s*['\"]?[A-Za-z0-9+/]{6,}")
pytestmark = [pytest.mark.sqlite, pytest.mark.timeout(600)]


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text())
    return found


def usual(text: str) -> str:
    """What Compose makes of ${NAME:-usual} where NAME is not set."""
    return re.sub(r"\$\{\w+:-(.*)\}", r"\1", text)


def make_secrets(folder: Path, **environment: str) -> None:
    subprocess.run(
        [FOLDER / "secrets.sh"],
        env={**os.environ, "SECRETS": str(folder), **environment},
        check=True,
        capture_output=True,
    )


SERVICES = [(name, service) for name in FILES for service in read(name)["services"]]


@pytest.mark.parametrize(("file", "service"), SERVICES)
def test_a_service_is_pinned_confined_and_names_only_what_there_is(file: str, service: str) -> None:
    whole = read(file)
    found = whole["services"][service]
    if "extends" in found:
        extended = read(found["extends"]["file"])["services"][found["extends"]["service"]]
        options = [*extended["security_opt"], *found["security_opt"]]
        assert len(set(options)) == len(options), "Compose adds them to those of the other, and refuses one twice"
        found = extended | found | {"security_opt": options}
    is_ours = found["image"].startswith("${IMAGE")
    assert is_ours or PINNED.fullmatch(found["image"])
    if is_ours:
        refuse_unknown_command([usual(word) for word in found["command"]])
        assert not unknown_settings(found["environment"])
        assert found["read_only"] is True
        assert found["cap_drop"] == ["ALL"]
        assert (FOLDER / found["build"]["context"] / found["build"]["dockerfile"]).is_file()
        assert "no-new-privileges:true" in found["security_opt"]
    for kind in ("configs", "secrets", "volumes", "networks"):
        for one in found.get(kind, ()) if file != "compose.sandbox.yaml" else ():
            if isinstance(one, dict) and one.get("type") == "tmpfs":
                continue
            name = one["source"] if isinstance(one, dict) else one.partition(":")[0]
            assert name in whole[kind], f"{service}: {name}"
    assert not {"tmpfs", "shm_size"} & set(found), f"{service}: a swarm passes over them without a word"
    for option in found.get("security_opt", ()):
        if option.startswith("seccomp="):
            assert (FOLDER / option.removeprefix("seccomp=")).is_file()


@pytest.mark.parametrize("file", ["compose.yaml", "compose.small.yaml"])
def test_every_file_is_there_and_every_secret_is_made_and_none_is_given(file: str, tmp_path: Path) -> None:
    make_secrets(tmp_path)
    whole = read(file)
    for config in whole.get("configs", {}).values():
        assert (FOLDER / config["file"]).is_file(), config
    for secret in whole["secrets"].values():
        made = tmp_path / secret["file"].removeprefix("secrets/")
        assert made.stat().st_size > 0, f"{secret}: a swarm takes no empty one"
    assert not PRIVATE.findall((FOLDER / file).read_text())
    used = {one for service in whole["services"].values() for one in service.get("secrets", ())}
    assert used == set(whole["secrets"])


def test_secrets_differ_from_place_to_place_and_stay_where_they_are(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    make_secrets(one, ORIGIN="https://proctor.example:8443/")
    make_secrets(other)
    secret = [
        path.name for path in one.iterdir() if path.name not in ("AWS_ACCESS_KEY_ID", "prometheus.key", "providers.env")
    ]
    assert len(secret) >= 10
    for name in secret:
        assert (one / name).read_text() != (other / name).read_text(), name
    before = {path.name: path.read_text() for path in one.iterdir()}
    make_secrets(one)
    assert before == {path.name: path.read_text() for path in one.iterdir()}
    assert one.stat().st_mode & 0o077 == 0, "others of this machine can read them"
    said = subprocess.run(
        ["openssl", "x509", "-in", one / "tls.pem", "-noout", "-ext", "subjectAltName"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "DNS:proctor.example" in said.stdout


def test_grafana_finds_its_data_and_its_dashboards() -> None:
    whole = read("compose.yaml")
    targets = {one["source"]: one["target"] for one in whole["services"]["grafana"]["configs"]}
    [source] = read("grafana-sources.yaml")["datasources"]
    assert source["url"] == "http://prometheus:9090"  # Prometheus's own port, which nothing here changes
    assert not [word for word in whole["services"]["prometheus"]["command"] if "listen-address" in word]
    [boards] = read("grafana-boards.yaml")["providers"]
    given = {targets[name] for name in targets if name.startswith("board-")}
    there = {path.name for path in (ROOT / "deploy" / "grafana").glob("*.json")}
    assert given == {f"{boards['options']['path']}/{name}" for name in there}
    alerts = {one["target"] for one in whole["services"]["prometheus"]["configs"]}
    assert {f"/etc/prometheus/{name}" for name in read("prometheus.yaml")["rule_files"]} <= alerts


def test_docker_reads_the_files_for_a_swarm(tmp_path: Path) -> None:
    """`docker stack config` needs no daemon; what it does not know, a swarm would refuse."""
    if shutil.which("docker") is None:
        pytest.skip("docker is not installed")
    help_ = subprocess.run(["docker", "stack", "config", "--help"], capture_output=True, text=True, check=False)
    if help_.returncode:
        pytest.skip("this docker has no 'stack config'")
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy", ignore=shutil.ignore_patterns("secrets"))
    make_secrets(tmp_path / "deploy" / "compose" / "secrets")
    for name in ("compose.yaml", "compose.small.yaml"):
        command = ["docker", "stack", "config", "-c", str(tmp_path / "deploy" / "compose" / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert yaml.safe_load(done.stdout)["services"].keys() == read(name)["services"].keys()
    (tmp_path / "wrong.yaml").write_text("services: {one: {image: x, replica: 3}}\n")
    command = ["docker", "stack", "config", "-c", str(tmp_path / "wrong.yaml")]
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


class Stack:
    """The services of compose.yaml as processes: their commands, settings, secrets and files, on free ports."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self._stack = folder, stack
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.services = read("compose.yaml")["services"]
        self.ports = {name: free_port() for name in ("redis", "objects", "api-1", "api-2", "gateway", "prometheus")}
        self.secrets = folder / "secrets"
        make_secrets(self.secrets)

    def said(self) -> str:
        return "\n".join(f"{path.name}: {path.read_text()[-2000:]}" for path in self.folder.glob("*.log"))

    def _here(self, text: str) -> str:
        """Names of services become addresses, and folders of containers those of this test."""
        for name, port in (("database", 5432), ("redis", 6379), ("objects", 8333)):
            text = text.replace(f"{name}:{port}", f"127.0.0.1:{self.ports[name]}")
        return (
            text.replace("/run/secrets", str(self.secrets))
            .replace("172.30.7.0/24", "127.0.0.1")
            .replace("0.0.0.0", "127.0.0.1")
        )

    def start(self, name: str, command: list[str], environment: dict[str, str] | None = None) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)
        self.processes[name] = process
        self._stack.callback(end, process)

    def start_database(self) -> None:
        binaries = find_binaries()
        if binaries is None or shutil.which("psql") is None:
            pytest.skip("there is no PostgreSQL, or no psql, here")
        server = PostgresServer(binaries)
        self._stack.callback(server.close)
        self.ports["database"] = server.port
        for name in ("PROCTOR_DATABASE_URL", "PROCTOR_BROKER_URL"):
            (self.secrets / name).chmod(0o644)
            (self.secrets / name).write_text(self._here((self.secrets / name).read_text()))
        place = {
            "PGHOST": "127.0.0.1",
            "PGPORT": str(server.port),
            "DATABASE_PASSWORD_FILE": str(self.secrets / "database_password"),
        }
        done = subprocess.run(
            ["sh", FOLDER / "database.sh"], env={**os.environ, **place}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    def start_redis(self) -> None:
        found = shutil.which("redis-server")
        if found is None:
            pytest.skip("there is no redis-server here")
        command = [self._here(word) for word in self.services["redis"]["command"]]
        (self.folder / "redis").mkdir()
        given = ["--port", str(self.ports["redis"]), "--bind", "127.0.0.1", "--dir", str(self.folder / "redis")]
        self.start("redis", [found, *command[1:], *given])

    def start_objects(self) -> None:
        from fakes.s3_server import PROGRAM as WEED

        words = [self._here(word) for word in self.services["objects"]["command"]]
        words = [
            word.replace("-dir=/data", f"-dir={self.folder / 'objects'}").replace("-ip=objects", "-ip=127.0.0.1")
            for word in words
        ]
        parts = ("master", "volume", "filer", "admin")
        given = [
            f"-{part}.port{kind}={free_port()}"
            for part in (*parts, "s3")
            for kind in ("", ".grpc")
            if (part, kind) != ("s3", "")
        ]
        sockets = [f"-{part}.localSocket={self.folder / part}.sock" for part in ("filer", "s3")]
        (self.folder / "objects").mkdir()
        self.start(
            "objects",
            [str(WEED), *words, f"-s3.port={self.ports['objects']}", *given, *sockets],
            {"HOME": str(self.folder)},
        )

    def environment(self, name: str) -> dict[str, str]:
        given = self.services[name]["environment"]
        settings = {key: self._here(usual(value)) for key, value in given.items()}
        return {**os.environ, **settings, "PROCTOR_HOME": str(self.folder / "home")}

    def proctor(self, name: str, *arguments: str) -> str:
        command = [sys.executable, "-c", PROGRAM, *(arguments or self.services[name]["command"])]
        done = subprocess.run(
            command, env=self.environment(name), cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr + self.said()
        return done.stdout

    def start_role(self, name: str) -> None:
        words = [usual(self._here(word)) for word in self.services[name]["command"]]
        if name in self.ports:
            words[words.index("--port") + 1] = str(self.ports[name])
        if "--concurrency" in words:
            words[words.index("--concurrency") + 1] = "1"
        self.start(name, [sys.executable, "-c", PROGRAM, *words], self.environment(name))

    def start_gateway(self) -> None:
        if shutil.which("nginx", path=PLACES) is None:
            pytest.skip("there is no nginx here")
        for name in ("tls.pem", "tls.key"):
            shutil.copy(self.secrets / name, self.folder / name)
        servers = (self.ports["api-1"], self.ports["api-2"], self.ports["api-1"])
        self.start("gateway", nginx_command(self.folder, self.ports["gateway"], servers))

    def start_prometheus(self) -> bool:
        found = shutil.which("prometheus")
        if found is None:
            return False
        said = self._here((FOLDER / "prometheus.yaml").read_text()).replace(
            "scrape_interval: 30s", "scrape_interval: 1s"
        )
        for name in ("api-1", "api-2"):
            said = said.replace(f"{name}:8000", f"127.0.0.1:{self.ports[name]}")
        (self.folder / "prometheus.yaml").write_text(said)
        shutil.copy(ROOT / "deploy" / "prometheus" / "alerts.yaml", self.folder / "alerts.yaml")
        words = [
            word.replace("/etc/prometheus", str(self.folder)).replace("=/prometheus", f"={self.folder / 'series'}")
            for word in self.services["prometheus"]["command"]
        ]
        self.start("prometheus", [found, *words, f"--web.listen-address=127.0.0.1:{self.ports['prometheus']}"])
        return True

    def ask(self, method: str, path: str, key: str, body: Any = None) -> Any:
        context = ssl.create_default_context(cafile=str(self.secrets / "tls.pem"))
        connection = HTTPSConnection("localhost", self.ports["gateway"], timeout=60, context=context)
        with closing(connection):
            headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            said = answer.read()
            assert answer.status < 300, said
            return json.loads(said)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Stack]:
    with ExitStack() as stack:
        made = Stack(tmp_path, stack)
        made.start_database()
        made.start_redis()
        made.start_objects()
        for name in ("redis", "objects"):
            wait_for(lambda name=name: is_open(made.ports[name]), made.said)  # type: ignore[misc]
        made.proctor("migrate")
        for name in ("api-1", "api-2", "worker", "beat"):
            made.start_role(name)
        made.start_gateway()
        for name in ("api-1", "api-2", "gateway"):
            wait_for(lambda name=name: is_open(made.ports[name]), made.said)  # type: ignore[misc]
        yield made


def test_the_services_work_together_with_their_own_commands_and_secrets(started: Stack) -> None:
    scopes = ("--scope", "run:write", "--scope", "run:read", "--scope", "results:read")
    key = json.loads(started.proctor("api-1", "keys", "create", "--project", "local", *scopes, "--json"))["key"]
    plan = {"models": ["demo/strong"], "benchmarks": [{"benchmark": "puzzles", "limit": 8}]}
    run_id = started.ask("POST", "/api/v1/runs", key, plan)["run_id"]
    wait_for(lambda: started.ask("GET", f"/api/v1/runs/{run_id}", key)["status"] == "completed", started.said)
    assert started.ask("GET", f"/api/v1/runs/{run_id}", key)["evaluations"][0]["scored"] == 8

    def have_worked() -> bool:  # a worker counts when it says the next time that it lives
        workers = json.loads(started.proctor("api-1", "workers", "--json"))["workers"]
        return sum(row["chunks"] for row in workers) >= 1

    wait_for(have_worked, started.said)
    for name in ("worker", "beat"):  # they fork their children: what asks S3 must have no thread in them
        process = started.processes[name]
        assert process.poll() is None
        assert not [one for one in Path(f"/proc/{process.pid}/task").glob("*/comm") if "tokio" in one.read_text()]
    found = {row["name"]: row for row in json.loads(started.proctor("api-1", "doctor", "--json"))}
    assert {found[name]["state"] for name in ("database", "artifacts", "workers")} == {"ok"}, found
    log = (started.folder / "api-1.log").read_text()
    assert "row-level security" not in log, "the database's user passes row-level security"
    watch = started.proctor("api-1", "keys", "create", "--project", "local", "--scope", "admin:full", "--json")
    (started.secrets / "prometheus.key").write_text(json.loads(watch)["key"])
    if started.start_prometheus():
        _is_scraped(started)


def _is_scraped(started: Stack) -> None:
    address = f"http://127.0.0.1:{started.ports['prometheus']}/api/v1/targets"

    def are_up() -> bool:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                targets = json.load(answer)["data"]["activeTargets"]
        except OSError:
            return False
        return [target["health"] for target in targets] == ["up", "up"]

    wait_for(are_up, started.said)
