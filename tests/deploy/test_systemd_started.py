"""The units, really started after their page: systemd in a container with PostgreSQL, Redis and the image's Proctor."""

from __future__ import annotations

import json
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local_processes import ROOT, wait_for
from deploy.made_images import IMAGE, MACHINE, NO_MORE_THAN_ROOT_HAS, podman
from sandboxes.engines import started_engine

NAME = "machine"
STARTED = ("proctor", "proctor-worker@default", "proctor-worker@sandbox", "proctor-beat")
SYSTEMD = "localhost/proctor-systemd:test"
BUILT = f"""
FROM {IMAGE} AS own
FROM {MACHINE}
COPY --from=own /opt/proctor /opt/proctor
RUN ln -s /opt/proctor /usr/local/lib/proctor
STOPSIGNAL SIGRTMIN+3
CMD ["/bin/sh", "-c", "mount --make-rshared / && exec /lib/systemd/systemd"]
"""
"""Mounts are shared, as on a machine: systemd hands credentials over by one."""
PREPARED = """
set -eu
useradd --system --home-dir /var/lib/proctor --shell /usr/sbin/nologin proctor
password=$(openssl rand -hex 16)
cd /; su postgres -c "psql -qc \\"CREATE ROLE proctor LOGIN PASSWORD '$password'\\""
su postgres -c 'createdb --owner proctor proctor'
install -d -m 0700 /etc/proctor/secrets
openssl rand -base64 36 > /etc/proctor/secrets/PROCTOR_SECRET
printf 'postgresql://proctor:%s@127.0.0.1/proctor' "$password" > /etc/proctor/secrets/PROCTOR_DATABASE_URL
printf 'redis://127.0.0.1:6379/0' > /etc/proctor/secrets/PROCTOR_BROKER_URL
echo 'ORIGIN=https://proctor.example' > /etc/proctor/environment
cp -r /deploy/systemd/* /etc/systemd/system/ && systemctl daemon-reload
"""
INSTEAD = """
set -eu
folder=/run/systemd/system/proctor-worker@sandbox.service.d
mkdir -p $folder
printf '[Service]\\nExecStart=\\nExecStart=%s\\nType=oneshot\\nRestart=no\\n' "$1" > $folder/instead.conf
systemctl daemon-reload && systemctl stop proctor-worker@sandbox
systemctl start proctor-worker@sandbox || true
journalctl --output cat --no-pager --unit proctor-worker@sandbox --lines 20
rm $folder/instead.conf && systemctl daemon-reload
"""
"""A command in the confinement of the sandbox pool's own unit."""
pytestmark = [pytest.mark.timeout(1800), pytest.mark.sqlite]


def inside(*command: str) -> str:
    return podman("exec", NAME, *command)


def as_proctor(*words: str) -> str:
    """A command as the page has one run it: as the units' user, with their settings."""
    read = "; ".join(
        f"export {name}=$(cat /etc/proctor/secrets/{name})" for name in ("PROCTOR_DATABASE_URL", "PROCTOR_BROKER_URL")
    )
    line = shlex.join(["/usr/local/lib/proctor/bin/proctor", *words])
    as_user = f"exec setpriv --reuid proctor --regid proctor --init-groups {line}"
    return inside("sh", "-c", f"{read}; export PROCTOR_HOME=/var/lib/proctor; cd /; {as_user}")


def said() -> str:
    shown = subprocess.run(
        ["podman", "exec", NAME, "journalctl", "--no-pager", "--output", "cat", "--unit", "proctor*", "--lines", "40"],
        capture_output=True,
        text=True,
        check=False,
    )
    return shown.stdout


def is_active(*units: str) -> bool:
    done = subprocess.run(["podman", "exec", NAME, "systemctl", "is-active", *units], capture_output=True, check=False)
    return done.returncode == 0


def times_ready(unit: str) -> int:
    return inside("journalctl", "--no-pager", "--output", "cat", "--unit", unit).count(" is ready, with ")


@pytest.fixture
def booted(own_image: Path, machine: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A machine on which systemd runs, with PostgreSQL and Redis."""
    folder = Path(tempfile.mkdtemp(prefix="pd-"))
    with started_engine("podman", folder, monkeypatch):
        podman("load", "--quiet", "--input", str(own_image))
        podman("import", "--quiet", str(machine), MACHINE)
        (tmp_path / "Dockerfile").write_text(BUILT)
        podman("build", "--quiet", "--tag", SYSTEMD, str(tmp_path))
        podman(
            *("run", "--detach", "--name", NAME, "--systemd", "always", "--privileged", "--network", "none"),
            *(*NO_MORE_THAN_ROOT_HAS, "-v", f"{ROOT / 'deploy'}:/deploy:ro", SYSTEMD),
        )
        try:
            wait_for(lambda: is_active("postgresql@15-main", "redis-server"), lambda: podman("logs", NAME))
            yield
        finally:
            podman("rm", "--force", "--time", "20", NAME)


def test_the_units_start_work_keep_their_confinement_and_end_when_told(booted: None) -> None:
    assert booted is None
    inside("sh", "-c", PREPARED)
    inside("systemctl", "enable", "--now", *STARTED, "proctor-backup.timer")
    ask = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:8000/ready').status)"

    def are_ready() -> bool:
        answer = subprocess.run(["podman", "exec", NAME, "python3", "-c", ask], capture_output=True, check=False)
        return answer.stdout == b"200\n" and is_active(*STARTED) and said().count(" is ready, with ") >= 3

    wait_for(are_ready, said, 300)
    assert "https://proctor.example/welcome#" in said()
    secrets = inside("sh", "-c", "tr '\\0' '\\n' < /proc/$(systemctl show --value -p MainPID proctor)/environ")
    assert "PROCTOR_SECRETS=/run/credentials/proctor.service" in secrets
    assert "postgresql://" not in secrets

    shown = json.loads(as_proctor("run", "puzzles", "-m", "demo/strong", "--limit", "20", "--json"))
    assert (shown["status"], shown["evaluations"][0]["scored"]) == ("completed", 20)
    wait_for(lambda: any(row["chunks"] for row in json.loads(as_proctor("workers", "--json"))["workers"]), said)
    held = inside("sh", "-c", INSTEAD, "sh", "/usr/local/lib/proctor/bin/proctor doctor --sandbox")
    [row] = [line.split()[1:] for line in held.splitlines() if line.startswith("namespaces ")]
    assert set(row) == {"holds"}, held
    inside("systemctl", "start", "proctor-worker@sandbox", "proctor-backup")
    assert len(json.loads(as_proctor("backup", "list", "--json"))["backups"]) == 1

    inside("sh", "-c", "kill -9 $(systemctl show --value -p MainPID proctor-worker@default)")
    again = ("systemctl", "show", "--value", "--property", "NRestarts", "proctor-worker@default")
    wait_for(lambda: inside(*again).strip() == "1", said)
    # Each was started twice by now; one that is only starting is ended by the signal itself.
    wait_for(lambda: all(times_ready(f"proctor-worker@{pool}") == 2 for pool in ("default", "sandbox")), said)
    inside("systemctl", "stop", *STARTED)
    results = inside("systemctl", "show", "--property", "Result", "--property", "ExecMainStatus", *STARTED)
    assert set(results.split()) == {"Result=success", "ExecMainStatus=0"}
