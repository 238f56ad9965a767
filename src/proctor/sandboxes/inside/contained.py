"""The supervisor's hold on one container: reused from run to run, replaced when memory or processes ran out.

Between two runs every process of the first is dead and everything it wrote is gone; the container's own first process
is another user, out of its reach.
"""

from __future__ import annotations

import contextlib
import json
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .cgroups import Cgroup
from .forking import REPORT
from .warm import Ended, SandboxFaultError, spawned

_OWN_BYTES = 48 << 20  # the container init, before any code is read
_OWN_PROCESSES = 4
_START_SECONDS = 60.0
_END_SECONDS = 6.0
_LOOK_SECONDS = 2.0


class Container:
    """A container on its way to our socket; the socket is closed behind it, so that nobody else comes in."""

    def __init__(
        self, name: str, command: list[str], start: str, environment: dict[str, str], is_there: Callable[[str], bool]
    ) -> None:
        self.name = name
        self._is_there = is_there
        self.is_used = False
        self._folder = Path(tempfile.mkdtemp(prefix="proctor-control-"))
        self._folder.chmod(0o711)  # the container's user is nobody here
        script = self._folder / "start.py"
        script.write_text(start)
        script.chmod(0o644)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(str(self._folder / "control"))
        (self._folder / "control").chmod(0o666)
        self._listener.listen(1)
        self._control: socket.socket | None = None
        self.cgroup = Cgroup(name, is_used=False)
        text = [part.replace("{folder}", str(self._folder)).replace("{name}", name) for part in command]
        self._client = subprocess.Popen(  # noqa: S603  the engine itself
            text,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=self._folder,  # podman's monitor stays there, and leaves a file when memory runs out
        )

    @property
    def control_socket(self) -> socket.socket:
        """Its container init, once it has come."""
        if self._control is None:
            self._control = self._accept()
            pid = struct.unpack("3i", self._control.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
            self.cgroup = Cgroup.of(pid)
        return self._control

    def _accept(self) -> socket.socket:
        now = time.monotonic()
        deadline, look = now + _START_SECONDS, now + _LOOK_SECONDS
        try:
            while (now := time.monotonic()) < deadline:
                if select.select([self._listener], [], [], 0.05)[0]:
                    return self._listener.accept()[0]
                if self._client.poll():
                    said = self._client.stderr.read() if self._client.stderr else b""
                    raise SandboxFaultError(f"no container: {said.decode(errors='replace').strip()[-300:]}")
                if now >= look and self._client.returncode == 0:
                    look = now + _LOOK_SECONDS
                    if not self._is_there(self.name) and not select.select([self._listener], [], [], 0)[0]:
                        raise SandboxFaultError("a container ended at once: has its image Python 3.11 or newer?")
            raise SandboxFaultError(f"a container did not come to life in {_START_SECONDS:.0f} s")
        finally:
            self._shut()

    def _shut(self) -> None:
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def end(self) -> None:
        """Hang up: the container init ends, and the container with it."""
        self._shut()
        if self._control is not None:
            self._control.close()
        self.cgroup.forget()

    def hang_up(self) -> None:
        self.control_socket.shutdown(socket.SHUT_RDWR)

    def reap_client(self) -> None:
        """The engine's client, which has done its work when the container runs."""
        try:
            self._client.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._client.kill()
            self._client.wait()
        if self._client.stderr:
            self._client.stderr.close()


class CgroupSnapshot:
    """What a group counted, for when it is gone."""

    def __init__(self, group: Cgroup) -> None:
        self._kills, self._forks, self._cpu = 0, 0, None
        with contextlib.suppress(OSError):
            self._kills, self._forks, self._cpu = group.memory_kills(), group.refused_forks(), group.cpu_seconds()

        self.has_memory, self.has_processes = group.has_memory, group.has_processes

    def memory_kills(self) -> int:
        return self._kills

    def refused_forks(self) -> int:
        return self._forks

    def cpu_seconds(self) -> float | None:
        return self._cpu

    def is_calm(self, before: CgroupSnapshot) -> bool:
        """Nothing was killed or refused for want of room since then."""
        return (self._kills, self._forks) == (before._kills, before._forks)


class ContainedParent:
    """The same face as a warm parent; a container that is to be replaced is replaced while nobody waits for it."""

    is_disk_supervised = False
    is_all_killed = False
    carried: bytes | None = None
    extra_order: dict[str, Any] = {}  # noqa: RUF012  a child of ours has its order already

    def __init__(self, name: str, config: dict[str, Any]) -> None:
        self.is_alive = True
        self._name = name
        self._config = config
        self._is_judge = config["role"] == "judge"
        self._count = 0
        self._command: list[str] = []
        self._made: Container | None = None
        self._ended: list[Container] = []
        self._is_lasting = False
        self.cgroup: Cgroup | CgroupSnapshot = Cgroup(name, is_used=False)

    def prepare(self, limits: dict[str, Any]) -> None:
        """Have a container on its way that was made for these limits, or is clean again."""
        values = {
            # What lies in its /tmp is memory to the kernel, and disk to us.
            "memory": limits["memory_bytes"] + limits["disk_bytes"] + _OWN_BYTES,
            "processes": limits["processes"] + _OWN_PROCESSES,
            "disk": limits["disk_bytes"],
        }
        wanted = [
            _filled(part, values) for part in self._config["contained"]["judge" if self._is_judge else "candidate"]
        ]
        is_fit = wanted == self._command and (self._made is None or self._is_judge or self._is_clean(self._made))
        self._command = wanted
        if not is_fit:
            self._end()
        if self._made is None:
            self._start()

    def _is_clean(self, container: Container) -> bool:
        if not container.is_used:
            return True
        container.is_used = False
        try:
            container.control_socket.send(json.dumps({"role": "wipe", "uid": self._config["host_uid"]}).encode())
            return container.control_socket.recv(64) == b"clean"
        except OSError:
            return False

    def settle(self) -> None:
        """Wait until it has come; the clock of a run starts after that."""
        try:
            _ = self._container.control_socket
        except SandboxFaultError:
            self._end()
            raise
        self.cgroup = self._container.cgroup

    def _start(self) -> None:
        self._count += 1
        role = "judge" if self._is_judge else "candidate"
        start = f"{self._config['inside']}\nfrom inside import container_init\ncontainer_init.main({role!r})\n"
        name = f"proctor-{self._name}-{self._count}"
        environment = self._config["client_environment"]
        self._made = Container(name, self._command, start, environment, lambda name: bool(self._running(name)))

    @property
    def exit_fd(self) -> int:
        """Readable when the child has ended."""
        return self._container.control_socket.fileno()

    @property
    def _container(self) -> Container:
        if self._made is None:
            raise SandboxFaultError("no container was prepared")
        return self._made

    def limit(self, limits: dict[str, Any]) -> None:
        """A container is made with its limits."""

    def spawn(self, order: dict[str, Any], fds: list[int]) -> int:
        """Fork a child around these descriptors; returns a descriptor for the process."""
        confinement = {
            "uid": self._config["host_uid"],
            "has_memory_cgroup": True,
            "has_process_cgroup": True,
            "is_notifying": self._config["is_notifying"],
            "is_filtered": True,
            "work": "/" if self._is_judge else "/tmp/work",  # noqa: S108  the container's own
        }
        self._container.is_used = True
        # Connections of a run can outlive it in the kernel.
        self._is_lasting = not order["loopback"]
        self._before = CgroupSnapshot(self._container.cgroup)
        try:
            return spawned(self._container.control_socket, {**order, **confinement}, fds)
        except SandboxFaultError:
            self._end()
            raise

    def kill(self, pidfd: int) -> None:
        """End the child, or where it is out of our reach the container."""
        try:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        except PermissionError:
            self._container.hang_up()

    def collect(self, timeout_seconds: float) -> Ended | None:
        """How the child ended; None when the container ended with it."""
        control_socket, data = self._container.control_socket, b""
        ready, _, _ = select.select([control_socket], [], [], timeout_seconds)
        if ready:
            with contextlib.suppress(OSError):
                data = control_socket.recv(64)
        self.cgroup = CgroupSnapshot(self._container.cgroup)
        status, user, system, peak = REPORT.unpack(data) if len(data) == REPORT.size else (-1, 0.0, 0.0, 0)
        if status == -1 or not (self._is_judge or (self._is_lasting and self.cgroup.is_calm(self._before))):
            self._end()
            self._start()
        return None if status == -1 else Ended(status, user + system, peak * 1024)

    def _end(self) -> None:
        if self._made is not None:
            self._made.end()
            self._ended.append(self._made)
            self._made = None

    def close(self) -> None:
        """End every container, and wait until the engine has removed them."""
        self.is_alive = False
        self._end()
        for container in self._ended:
            container.reap_client()
        deadline = time.monotonic() + _END_SECONDS
        while (left := self._left()) and time.monotonic() < deadline:
            time.sleep(0.1)
        if left:
            self._ask("rm", "--force", *left)

    def _running(self, name: str) -> str:
        return self._ask("ps", "--quiet", "--filter", f"name={name}")

    def _left(self) -> list[str]:
        return self._ask("ps", "--all", "--quiet", "--filter", f"name=proctor-{self._name}-").split()

    def _ask(self, *arguments: str) -> str:
        done = subprocess.run(  # noqa: S603  the engine itself
            [*self._config["client"], *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env=self._config["client_environment"],
            text=True,
        )
        return done.stdout


def _filled(text: str, values: dict[str, Any]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text
