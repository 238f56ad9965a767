"""docker and podman: a container per workspace, from the image made on this machine."""

from __future__ import annotations

import secrets
import subprocess

from proctor.domain.errors import SandboxError
from proctor.domain.workspace import WorkspaceLimits
from proctor.sandboxes.containers import Engine, find_engine, isolation, scratch
from proctor.sandboxes.images import IMAGE, image_status
from proctor.sandboxes.inside.agent_files import Folders
from proctor.sandboxes.inside.workspace_supervisor import OWN_BYTES, OWN_PROCESSES
from proctor.sandboxes.workspaces.accounts import anyone, lease
from proctor.sandboxes.workspaces.bundle import start_command
from proctor.sandboxes.workspaces.opening import Launch, open_workspace
from proctor.sandboxes.workspaces.workspace import OpenWorkspace

_VERSIONS = {"docker": "{{.Server.Version}}", "podman": "{{.Client.Version}}"}


class Containers:
    """Workspaces in containers without a network; the agent is a container's first process."""

    is_isolated = True

    def __init__(self, engine: Engine, image: str) -> None:
        self.name = engine.name
        self._engine, self._image = engine, image
        if image_status(engine.client, engine.name, image).size_bytes is None:
            raise SandboxError(
                f"{self.name} has no image {image!r}. Make it with 'proctor sandbox image build --engine {self.name}'."
            )
        self._version = _version(engine)

    def command(self, limits: WorkspaceLimits, uid: int, name: str) -> list[str]:
        # What is written to a workspace's folders is memory, too.
        memory = limits.memory_bytes + limits.disk_bytes + OWN_BYTES
        folders = [scratch(self.name, limits.disk_bytes, at) for at in Folders.NAMES]
        return [
            *self._engine.client,
            *("run", "--rm", "--interactive", "--name", name),
            *isolation(user=f"{uid}:{uid}", memory_bytes=memory, processes=limits.processes + OWN_PROCESSES),
            *(("--read-only-tmpfs=false",) if self.name == "podman" else ()),
            # Ours is the stricter filter, and counts; the engine's, asked first, would refuse without telling.
            *("--security-opt", "seccomp=unconfined"),
            *(part for flag, options in folders for part in (flag, f"{options},exec")),
            *("--workdir", "/", self._image),
            *start_command("python3"),
        ]

    async def open(self, limits: WorkspaceLimits = WorkspaceLimits()) -> OpenWorkspace:  # noqa: B008  frozen
        uid, held = lease()
        uid = uid if held is not None else anyone()
        name = f"proctor-workspace-{secrets.token_hex(8)}"
        inspect = (*self._engine.client, "inspect", "--format", "{{.State.Pid}}", name)
        try:
            launch = Launch(
                self.name,
                self._version,
                tuple(self.command(limits, uid, name)),
                is_using_cgroups=False,  # the engine's own
                is_counting_users=True,
                asking_pid=inspect,
                enforced_by={"memory": "cgroup", "processes": "cgroup", "disk": "tmpfs and supervision"},
                after=((*self._engine.client, "rm", "--force", "--volumes", name),),
                kept=(held.fileno(),) if held is not None else (),
                notes={"image": self._image},
                supervisor_environment=self._engine.environment,
            )
            return await open_workspace(launch, limits)
        finally:
            if held is not None:
                held.close()  # the supervisor has its own copy by now

    async def close(self) -> None:
        """Workspaces are closed one by one; a runner holds nothing."""


def _version(engine: Engine) -> str:
    done = subprocess.run(  # noqa: S603  the engine itself
        [*engine.client, "version", "--format", _VERSIONS[engine.name]],
        capture_output=True,
        check=False,
        timeout=20,
        env=engine.environment,
    )
    return done.stdout.decode(errors="replace").strip() or "unknown"


def create_docker(*, image: str = IMAGE) -> Containers:
    return Containers(find_engine("docker"), image)


def create_podman(*, image: str = IMAGE) -> Containers:
    return Containers(find_engine("podman"), image)
