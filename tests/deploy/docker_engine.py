"""Docker with bridges, rules and ports as anywhere, in a network of its own, where they meet none of this machine's."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.local_processes import PLACES, end
from sandboxes.engines import skip_unless_engines_are_wanted, sweep

START_SECONDS = 60
ADDRESS = "10.99.0.1"
"""Of the machine in its network; a swarm must have one."""
_START = f"""
ip link set lo up && ip link add outside type bridge && ip addr add {ADDRESS}/24 dev outside && ip link set outside up
exec "$@"
"""


class Docker:
    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.folder, self.process = folder, process
        self.environment = {**os.environ, "DOCKER_HOST": f"unix://{folder}/s"}

    def __call__(self, *arguments: str, given: Path | None = None, **environment: str) -> str:
        with (given or Path(os.devnull)).open("rb") as opened:
            done = subprocess.run(
                ["docker", *arguments],
                env={**self.environment, **environment},
                stdin=opened,
                capture_output=True,
                text=True,
                timeout=600,
                check=False,
            )
        assert done.returncode == 0, f"{arguments}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def outside(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A command of this machine that sees the network in which Docker publishes ports."""
        inside = ["nsenter", "--target", str(self.process.pid), "--net", "--", *command]
        return subprocess.run(inside, capture_output=True, text=True, timeout=120, check=False)

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")


@contextmanager
def started_docker(folder: Path) -> Iterator[Docker]:
    """An engine that answers; skipped, with the reason, where there is none."""
    skip_unless_engines_are_wanted("docker")
    for name in ("dockerd", "docker", "nsenter", "ip", "iptables"):
        if shutil.which(name, path=PLACES) is None:
            pytest.skip(f"{name} is not installed")
    if os.geteuid() != 0:
        pytest.skip("only root can start an engine of its own")
    groups = [top / "docker" for top in Path("/sys/fs/cgroup").glob("*/") if not (top / "docker").exists()]
    command = [
        *("unshare", "--net", "--mount", "--propagation", "private", "sh", "-ec", _START, "sh"),
        *("dockerd", "--data-root", f"{folder}/data", "--exec-root", f"{folder}/run", "-H", f"unix://{folder}/s"),
        *("--pidfile", f"{folder}/pid", "--storage-driver", "overlay2"),
        *("--exec-opt", "native.cgroupdriver=cgroupfs"),
    ]
    with (folder / "log").open("wb") as said:
        process = subprocess.Popen(
            command, env={**os.environ, "PATH": PLACES}, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
    docker = Docker(folder, process)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not (folder / "s").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
        if process.poll() is not None or not (folder / "s").exists():
            pytest.fail(f"dockerd does not start here: {docker.log()[-500:]}")
        yield docker
    finally:
        end(process)
        sweep(folder, groups)
