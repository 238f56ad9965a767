"""Compose and a swarm, really started; Debian's packages stand in for the images that cannot be pulled here."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.docker_engine import ADDRESS, Docker, started_docker
from deploy.local_processes import ROOT, wait_for
from deploy.made_images import IMAGE, MACHINE
from deploy.test_compose import make_secrets, read

STAND_INS = Path(__file__).parent / "stand_ins"
REPLACED = ("database", "redis", "objects", "gateway", "prometheus")
LEFT_OUT = "grafana"
"""No package of Debian or PyPI has it."""
RUN_SCOPES = ("--scope", "run:write", "--scope", "run:read", "--scope", "results:read")
pytestmark = [pytest.mark.timeout(1800), pytest.mark.sqlite]


class Deployed:
    """deploy/ as somebody has it on his machine, its secrets made, and Docker."""

    def __init__(self, docker: Docker, folder: Path) -> None:
        self.docker, self.folder = docker, folder
        shutil.copytree(ROOT / "deploy", folder / "deploy", ignore=shutil.ignore_patterns("secrets"))
        self.compose_folder = folder / "deploy" / "compose"
        self.secrets = self.compose_folder / "secrets"
        make_secrets(self.secrets)
        services: dict[str, Any] = {name: {"image": stand_in(name)} for name in REPLACED}
        services[LEFT_OUT] = {"image": stand_in("prometheus"), "deploy": {"replicas": 0}}
        (folder / "stand-ins.yaml").write_text(yaml.safe_dump({"services": services}))

    def file(self, name: str) -> str:
        return str(self.compose_folder / name)

    def compose(self, *arguments: str, files: tuple[str, ...] = ("compose.yaml",)) -> str:
        given = [part for name in files for part in ("-f", self.file(name))]
        if files[0] == "compose.yaml":
            given += ["-f", str(self.folder / "stand-ins.yaml")]
        return self.docker("compose", *given, *arguments, IMAGE=IMAGE)

    def ask(self, method: str, path: str, key: str, body: Any = None) -> Any:
        """A request as a user sends it: to the published port, with TLS that is verified."""
        command = ["curl", "--silent", "--show-error", "--fail-with-body", "--cacert", str(self.secrets / "tls.pem")]
        command += ["--request", method, "--header", f"Authorization: Bearer {key}"]
        if body is not None:
            command += ["--header", "Content-Type: application/json", "--data", json.dumps(body)]
        done = self.docker.outside(*command, f"https://localhost:8443{path}")
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def answers(self) -> bool:
        command = ["curl", "--silent", "--fail", "--cacert", str(self.secrets / "tls.pem")]
        return self.docker.outside(*command, "https://localhost:8443/ready").returncode == 0


def stand_in(name: str) -> str:
    return f"proctor-stand-in-{name}:test"


@pytest.fixture(scope="module")
def docker(own_image: Path, machine: Path) -> Iterator[Docker]:
    """An engine with every image that compose.yaml names."""
    from fakes.s3_server import PROGRAM as WEED

    folder = Path(tempfile.mkdtemp(prefix="dk-"))
    with started_docker(folder) as engine:
        engine("load", "--quiet", "--input", str(own_image))
        engine("import", str(machine), MACHINE)
        context = folder / "stand-ins"
        shutil.copytree(STAND_INS, context)
        shutil.copy(WEED, context / "weed")
        for name in REPLACED:
            build = ("build", "--quiet", "--network", "none", "--build-arg", f"BASE={MACHINE}", "--target", name)
            engine(*build, "--tag", stand_in(name), str(context), DOCKER_BUILDKIT="0")
        yield engine


@pytest.fixture
def deployed(docker: Docker, tmp_path: Path) -> Deployed:
    return Deployed(docker, tmp_path)


@pytest.fixture
def composed(deployed: Deployed) -> Iterator[Deployed]:
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("docker has no 'compose': Debian 13's docker-compose, or Docker's own plugin")
    yield deployed
    for name in ("compose.yaml", "compose.small.yaml"):
        deployed.compose("down", "--volumes", "--remove-orphans", "--timeout", "30", files=(name,))


def states(composed: Deployed, file: str = "compose.yaml") -> dict[str, str]:
    """Every container's state and health."""
    rows = composed.compose("ps", "--all", "--format", "json", files=(file,)).splitlines()
    return {row["Name"]: f"{row['State']} {row['Health']}".strip() for row in map(json.loads, rows)}


def all_are_well(composed: Deployed, file: str = "compose.yaml") -> Callable[[], bool]:
    """Whoever has a health check is healthy, all others run, and the migration has ended."""

    def are() -> bool:
        found = states(composed, file)
        migrated = found.pop("compose-migrate-1", "exited") == "exited"
        checked = {name: state for name, state in found.items() if state.startswith("running ")}
        ours = sum("api" in name or "worker" in name or "beat" in name for name in checked)
        is_small = file == "compose.small.yaml"
        return (
            migrated
            and (len(found) == 1 if is_small else ours >= 5)
            and set(checked.values()) == {"running healthy"}
            and set(found.values()) <= {"running", "running healthy"}
        )

    return are


def said(composed: Deployed) -> Callable[[], str]:
    return lambda: f"{states(composed)}\n{composed.compose('logs', '--tail', '8')}"


def test_compose_starts_everything_evaluates_through_the_gateway_and_loses_a_worker(composed: Deployed) -> None:
    composed.compose("up", "--no-build", "--detach")
    wait_for(all_are_well(composed), said(composed), 300)
    assert not [name for name in states(composed) if LEFT_OUT in name]
    here = ("exec", "-T", "api-1", "proctor")
    add_key = (*here, "keys", "create", "--project", "local", "--json")
    watch = json.loads(composed.compose(*add_key, "--scope", "admin:full", "--name", "prometheus"))
    (composed.secrets / "prometheus.key").write_text(watch["key"])
    composed.compose("restart", "prometheus")
    key = json.loads(composed.compose(*add_key, *RUN_SCOPES))["key"]

    run_id = _start_run(composed, key)
    wait_for(lambda: _is_under_way(composed, key, run_id), said(composed))
    _kill(composed.docker, "compose-worker-1")
    wait_for(lambda: _status(composed, key, run_id) == "completed", said(composed), 300)
    shown = composed.ask("GET", f"/api/v1/runs/{run_id}", key)
    assert [(one["scored"], one["failed"]) for one in shown["evaluations"]] == [(SAMPLES, 0)] * 2
    wait_for(all_are_well(composed), said(composed), 300)  # the one that was killed is back
    restarts = composed.docker("inspect", "--format", "{{.RestartCount}}", "compose-worker-1")
    assert int(restarts) >= 1

    found = {row["name"]: row["state"] for row in json.loads(composed.compose(*here, "doctor", "--json"))}
    assert {found[name] for name in ("database", "broker", "artifacts", "workers", "clock")} == {"ok"}
    wait_for(lambda: _targets(composed) == ["up", "up"], said(composed), 120)
    made = json.loads(composed.compose(*here, "backup", "create", "--json"))
    assert made["backup"]["runs"] == 1
    assert json.loads(composed.compose(*here, "backup", "verify", "--json"))["faults"] == []
    _has_a_sandbox_where_the_file_for_it_is_laid_over(composed)


SAMPLES = 200


def _start_run(composed: Deployed, key: str) -> str:
    models = [f"demo/{name}?delay_ms=2000" for name in ("strong", "perfect")]
    plan = {"models": models, "benchmarks": [{"benchmark": "puzzles", "limit": SAMPLES}]}
    return str(composed.ask("POST", "/api/v1/runs", key, plan)["run_id"])


def _status(composed: Deployed, key: str, run_id: str) -> str:
    return str(composed.ask("GET", f"/api/v1/runs/{run_id}", key)["status"])


def _is_under_way(composed: Deployed, key: str, run_id: str) -> bool:
    shown = composed.ask("GET", f"/api/v1/runs/{run_id}", key)
    assert shown["status"] != "completed", "it was over before a worker could be killed"
    return sum(one["scored"] or 0 for one in shown["evaluations"]) > 0


def _kill(docker: Docker, container: str) -> None:
    """As a machine that goes: all at once, and not by Docker's command, after which it would not be started again."""
    pids = docker("top", container, "-eo", "pid").split()[1:]
    for pid in map(int, pids):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _targets(composed: Deployed) -> list[str]:
    ask = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:9090/api/v1/targets').read().decode())"
    targets = json.loads(composed.compose("exec", "-T", "prometheus", "python3", "-c", ask))["data"]["activeTargets"]
    return [target["health"] for target in targets]


def _has_a_sandbox_where_the_file_for_it_is_laid_over(composed: Deployed) -> None:
    files = ("compose.yaml", "compose.sandbox.yaml")
    composed.compose("up", "--no-build", "--detach", files=files)
    held = composed.compose("exec", "-T", "sandbox-worker", "proctor", "doctor", "--sandbox", files=files)
    rows = {line.split()[0]: line.split()[1:] for line in held.splitlines() if line.strip()}
    for name in ("namespaces", "bubblewrap"):
        assert set(rows[name]) == {"holds"}, held
    inspected = json.loads(composed.docker("inspect", "compose-sandbox-worker-1"))[0]["HostConfig"]
    assert inspected["CapDrop"] == ["ALL"]
    assert inspected["ReadonlyRootfs"] is True
    assert "no-new-privileges:true" in inspected["SecurityOpt"]
    assert inspected["PidsLimit"] == 1024
    composed.compose("down", "--volumes", "--timeout", "30", files=files)


def test_one_container_serves_and_evaluates(composed: Deployed) -> None:
    file = "compose.small.yaml"
    composed.compose("up", "--no-build", "--detach", files=(file,))
    wait_for(all_are_well(composed, file), lambda: composed.compose("logs", files=(file,)), 300)
    assert composed.answers()
    log = composed.compose("logs", "proctor", files=(file,))
    assert "The first administrator" in log
    here = ("exec", "-T", "proctor", "proctor")
    key = json.loads(
        composed.compose(*here, "keys", "create", "--project", "local", *RUN_SCOPES, "--json", files=(file,))
    )["key"]
    plan = {"models": ["demo/strong"], "benchmarks": [{"benchmark": "puzzles", "limit": 8}]}
    run_id = composed.ask("POST", "/api/v1/runs", key, plan)["run_id"]
    wait_for(lambda: _status(composed, key, run_id) == "completed", lambda: log)


def test_a_swarm_takes_the_same_file_and_starts_a_lost_worker_again(deployed: Deployed) -> None:
    """Addresses by name instead of virtual ones (IPVS), which this kernel may not have; all else is the file's."""
    docker = deployed.docker
    services = {
        name: {"deploy": {"endpoint_mode": "dnsrr"}} | _on_this_machine(service)
        for name, service in read("compose.yaml")["services"].items()
    }
    (deployed.folder / "swarm.yaml").write_text(yaml.safe_dump({"services": services}))
    files = (deployed.file("compose.yaml"), *(str(deployed.folder / f"{name}.yaml") for name in ("stand-ins", "swarm")))
    docker("swarm", "init", "--advertise-addr", ADDRESS)
    try:
        given = [part for file in files for part in ("-c", file)]
        docker("stack", "deploy", "--resolve-image", "never", "--detach=true", *given, "proctor", IMAGE=IMAGE)
        wait_for(lambda: _replicas(docker) == _wanted(services), lambda: _tasks(docker), 400)
        wait_for(deployed.answers, lambda: _tasks(docker), 120)
        here = ("exec", _container(docker, "api-1"), "proctor", "keys", "create", "--project", "local")
        key = json.loads(docker(*here, *RUN_SCOPES, "--json"))["key"]
        worker = _container(docker, "worker")
        run_id = _start_run(deployed, key)
        wait_for(lambda: _is_under_way(deployed, key, run_id), lambda: _tasks(docker))
        _kill(docker, worker)
        wait_for(lambda: _status(deployed, key, run_id) == "completed", lambda: _tasks(docker), 300)
        shown = deployed.ask("GET", f"/api/v1/runs/{run_id}", key)
        assert [(one["scored"], one["failed"]) for one in shown["evaluations"]] == [(SAMPLES, 0)] * 2
        wait_for(lambda: _replicas(docker) == _wanted(services), lambda: _tasks(docker), 300)
        assert worker not in docker("ps", "--quiet", "--no-trunc")
        _takes_a_key_for_prometheus(deployed, docker, docker(*here, "--scope", "admin:full", "--json"))
    finally:
        docker("swarm", "leave", "--force")


def _on_this_machine(service: dict[str, Any]) -> dict[str, Any]:
    """Ports without the network that a swarm spreads them over, which needs virtual addresses, too."""
    numbers = [port.rpartition(":")[2] for port in service.get("ports", ())]
    ports = [{"target": int(one), "published": int(one), "mode": "host"} for one in numbers]
    return {"ports": ports} if ports else {}


def _wanted(services: dict[str, Any]) -> dict[str, str]:
    named = {name: read("compose.yaml")["services"][name]["deploy"].get("replicas", 1) for name in services}
    return {name: f"{count}/{count}" for name, count in {**named, LEFT_OUT: 0}.items() if name != "migrate"}


def _replicas(docker: Docker) -> dict[str, str]:
    rows = [
        line.split()
        for line in docker("stack", "services", "proctor", "--format", "{{.Name}} {{.Replicas}}").splitlines()
    ]
    return {name.removeprefix("proctor_"): count for name, count, *_ in rows if name != "proctor_migrate"}


def _tasks(docker: Docker) -> str:
    shown = docker("stack", "ps", "proctor", "--no-trunc", "--format", "{{.Name}} {{.CurrentState}} {{.Error}}")
    return f"{shown}\n{docker.log()[-3000:]}"


def _container(docker: Docker, service: str) -> str:
    return docker("ps", "--quiet", "--no-trunc", "--filter", f"name=proctor_{service}.1").split()[0]


def _takes_a_key_for_prometheus(deployed: Deployed, docker: Docker, made: str) -> None:
    """As the page says: a swarm's secret cannot be changed, so it is replaced."""
    file = deployed.folder / "key"
    file.write_text(json.loads(made)["key"])
    docker("secret", "create", "prometheus.key.1", str(file))
    given = ("--secret-rm", "proctor_prometheus.key", "--secret-add", "source=prometheus.key.1,target=prometheus.key")
    docker("service", "update", "--quiet", "--detach", *given, "proctor_prometheus")

    def are_up() -> bool:
        ask = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:9090/api/v1/targets').read().decode())"
        with suppress(AssertionError, IndexError):  # it is being replaced
            found = json.loads(docker("exec", _container(docker, "prometheus"), "python3", "-c", ask))
            return [target["health"] for target in found["data"]["activeTargets"]] == ["up", "up"]
        return False

    wait_for(are_up, lambda: _tasks(docker), 180)
