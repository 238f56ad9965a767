"""docker and podman: whole programs in containers without network, from an image that has Python."""

from __future__ import annotations

import subprocess

from proctor.domain.errors import SandboxError
from proctor.sandboxes.cold import bootstrap, cold_pool, tool
from proctor.sandboxes.pool import Pool

IMAGE = "python:3.12-slim"
_ANSWER_SECONDS = 20


def command(engine: str, image: str) -> list[str]:
    return [
        tool(engine),
        *("run", "--rm", "-i", "--init", "--name", "{name}", "--pull", "never", "--network", "none", "--read-only"),
        *("--tmpfs", "/tmp:rw,size={disk},mode=1777,nosuid,nodev", "--workdir", "/tmp"),  # noqa: S108
        *(
            "--memory",
            "{container_memory}",
            "--memory-swap",
            "{container_memory}",
            "--cpus",
            "1",
            "--pids-limit",
            "{processes}",
        ),
        *("--ulimit", "fsize={file}", "--ulimit", "nofile={files}:{files}", "--ulimit", "core=0"),
        *("--user", "60001:60001", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--hostname", "sandbox"),
        image,
    ]


def _check_engine(engine: str) -> None:
    """An engine that is installed but does not answer is as good as none; better said now than by every run."""
    try:
        done = subprocess.run(  # noqa: S603  the engine itself
            [tool(engine), "info"], capture_output=True, check=False, timeout=_ANSWER_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise SandboxError(f"{engine} does not answer. Start it, or choose another sandbox.") from None
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [""]
        raise SandboxError(f"{engine} is installed but cannot be used: {last[0]}")


def _create(engine: str, image: str, parallel: int | None) -> Pool:
    _check_engine(engine)
    return cold_pool(
        engine,
        command(engine, image),
        python="python3",
        inside=bootstrap(),
        is_carrying=True,
        parallel=parallel,
        is_stdio=True,
        is_using_cgroups=False,  # the engine's own
        is_notifying=False,
        after=[[tool(engine), "rm", "-f", "{name}"]],
        enforced_by={"memory": "cgroup", "processes": "cgroup", "cpu": "rlimit", "syscalls": "refused"},
    )


def create_docker(*, parallel: int | None = None, image: str = IMAGE) -> Pool:
    return _create("docker", image, parallel)


def create_podman(*, parallel: int | None = None, image: str = IMAGE) -> Pool:
    return _create("podman", image, parallel)
