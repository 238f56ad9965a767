"""docker and podman: containers without network or privileges, from an image made on this machine."""

from __future__ import annotations

import os
import resource
import subprocess

from msgspec import Struct

from proctor.domain.errors import SandboxError
from proctor.sandboxes.cold import bootstrap, tool
from proctor.sandboxes.images import IMAGE, image_status
from proctor.sandboxes.namespaces import ENVIRONMENT
from proctor.sandboxes.pool import SandboxPool

_ANSWER_SECONDS = 20
# Where the client looks for its engine and its own settings: the client's business, passed on to it alone.
_CLIENT_VARIABLES = """HOME PATH XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_HOME DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG
DOCKER_CERT_PATH DOCKER_TLS_VERIFY CONTAINER_HOST CONTAINERS_CONF CONTAINERS_STORAGE_CONF DBUS_SESSION_BUS_ADDRESS"""


class Engine(Struct, frozen=True):
    """A client that has just reached its engine."""

    name: str
    client: tuple[str, ...]
    environment: dict[str, str]


def find_engine(name: str) -> Engine:
    """The engine of that name; a SandboxError when it is not installed or does not answer."""
    client = tool(name)
    try:
        done = subprocess.run(  # noqa: S603  the engine itself
            [client, "info"], capture_output=True, check=False, timeout=_ANSWER_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise SandboxError(f"{name} does not answer. Start it, or choose another sandbox.") from None
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [""]
        raise SandboxError(f"{name} is installed but cannot be used: {last[0]}")
    kept = {key: os.environ[key] for key in _CLIENT_VARIABLES.split() if key in os.environ}
    return Engine(name, (client,), kept)


def isolation(*, user: str, memory_bytes: int | str, processes: int | str, network: str = "none") -> list[str]:
    """Arguments of `run` that take everything away from a container that it does not need."""
    files, tasks = _no_more_than(resource.RLIMIT_NOFILE, 1_024), _no_more_than(resource.RLIMIT_NPROC, 4_096)
    return [
        *("--pull", "never", "--network", network, "--read-only", "--hostname", "sandbox", "--user", user),
        *("--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
        *("--memory", str(memory_bytes), "--memory-swap", str(memory_bytes), "--pids-limit", str(processes)),
        # Said outright, because an engine's own defaults may lie above what this machine lets it set.
        *("--ulimit", f"nofile={files}:{files}", "--ulimit", f"nproc={tasks}:{tasks}", "--ulimit", "core=0:0"),
        *("--shm-size", "1m", "--log-driver", "none"),
    ]


def _no_more_than(which: int, wanted: int) -> int:
    hard = resource.getrlimit(which)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)


def scratch(engine: str, disk_bytes: int | str, at: str = "/tmp") -> list[str]:  # noqa: S108  the container's own
    """Arguments for a private folder in memory, of this size."""
    inodes = "" if engine == "podman" else "nr_inodes=8192,"  # podman does not know the word
    return ["--tmpfs", f"{at}:rw,size={disk_bytes},{inodes}mode=1777,nosuid,nodev"]


def _command(engine: Engine, image: str, role: str) -> list[str]:
    return [
        *engine.client,
        *("run", "--detach", "--rm", "--name", "{name}"),
        # Its first process, ours, changes to the run's own user and ends what that leaves; it can do nothing else.
        *isolation(user="0:0", memory_bytes="{memory}", processes="{processes}"),
        *("--cap-add", "SETUID", "--cap-add", "SETGID", "--cap-add", "KILL"),
        *(("--read-only-tmpfs=false",) if engine.name == "podman" else ()),
        # Ours is the stricter filter, and counts; the engine's, asked first, would refuse without telling.
        *("--security-opt", "seccomp=unconfined"),
        *(scratch(engine.name, "{disk}") if role == "candidate" else ()),
        *(part for key, value in ENVIRONMENT.items() for part in ("--env", f"{key}={value}")),
        *("--mount", "type=bind,source={folder},target=/run/proctor,readonly"),
        *(image, "python3", "-s", "-S", "-P", "-B", "/run/proctor/start.py"),
    ]


def _create(name: str, image: str, parallel: int | None) -> SandboxPool:
    engine = find_engine(name)
    if image_status(engine.client, name, image).size_bytes is None:
        raise SandboxError(
            f"{name} has no image {image!r}. Make it with 'proctor sandbox image build --engine {name}'."
        )
    config = {
        "contained": {role: _command(engine, image, role) for role in ("candidate", "judge")},
        "client": list(engine.client),
        "client_environment": engine.environment,
        "inside": bootstrap(),
        "environment": ENVIRONMENT,
        "is_using_cgroups": False,  # the engine's own
        "is_notifying": True,
        "enforced_by": {"memory": "cgroup", "processes": "cgroup", "cpu": "cgroup", "syscalls": "counted"},
    }
    return SandboxPool(name, config, python="python3", parallel=parallel)


def create_docker(*, parallel: int | None = None, image: str = IMAGE) -> SandboxPool:
    return _create("docker", image, parallel)


def create_podman(*, parallel: int | None = None, image: str = IMAGE) -> SandboxPool:
    return _create("podman", image, parallel)
