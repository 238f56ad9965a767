"""The supervisor of one workspace: trusted, on the host. It starts the tool that makes it, and leaves nothing of it.

The harness says when to end by hanging up, however it ended itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from typing import Any

from . import cgroups, kernel
from .frames import Channel, ChannelClosedError

OWN_BYTES = 96 << 20  # the tool and the workspace agent
OWN_PROCESSES = 12
_SAID = 4_096
_DIE_SECONDS = 5.0
_GRACE_SECONDS = 10.0
_PID_SECONDS = 30.0
_COMMAND_SECONDS = 60.0
_UNWRITABLE = "/proc"
"""Where tools are started: podman's monitor stays there, and creates a file when memory runs out. A folder of our own
would be left behind when we are killed."""


class WorkspaceSupervisor:
    def __init__(self, harness: int, config: dict[str, Any]) -> None:
        self._config = config
        self._channel = Channel(harness)
        self._harness, self._agent = harness, config["agent"]
        self._folder = _new_folder() if config["is_hosted"] else ""
        self.cgroup = cgroups.Cgroup(f"{os.getpid()}-workspace", is_used=config["is_using_cgroups"])
        limits = config["limits"]
        # What is written to a workspace's folders is memory, too.
        memory = limits["memory_bytes"] + (0 if config["is_hosted"] else limits["disk_bytes"]) + OWN_BYTES
        self.cgroup.limit(memory, limits["processes"] + OWN_PROCESSES)
        # The harness ends its commands on time; this is for when it does not.
        self._counting = self.cgroup
        self._deadline = time.monotonic() + limits["seconds"] + _GRACE_SECONDS
        self._said = bytearray()
        self._process: subprocess.Popen[bytes] | None = None
        self._poll = select.poll()

    def launch(self) -> None:
        """Start the tool inside its control group, so whatever it forks is born there."""
        info, given = os.pipe()
        told = {"{info}": given, **{f"{{data:{name}}}": _pipe_of(text) for name, text in self._config["data"].items()}}
        command = [str(told.get(part, part)) for part in self._config["command"]]
        self._process = subprocess.Popen(  # noqa: S603  the runner's own command
            command,
            stdin=self._agent,
            stdout=self._agent,
            stderr=subprocess.PIPE,
            pass_fds=list(told.values()),
            env=self._config["environment"],
            start_new_session=True,
            cwd=_UNWRITABLE,
            preexec_fn=self._join,  # noqa: PLW1509  single-threaded
        )
        for fd in (*told.values(), self._agent):
            os.close(fd)
        pid: int | None = self._process.pid
        if self._config["is_telling_pid"]:
            pid = self._inner_pid(info)
        elif self._config["asking_pid"]:
            pid = self._asked_pid()
            self._counting = cgroups.Cgroup.of(pid) if pid is not None else self.cgroup
        os.close(info)
        if pid is None:
            return  # its end, which is being watched, says why
        self._channel.send(json.dumps({"pid": pid, "root": self._folder, "enforced_by": self._enforced_by()}).encode())

    def _join(self) -> None:
        kernel.die_with_parent(os.getppid())
        self.cgroup.attach(os.getpid())

    def _inner_pid(self, info: int) -> int | None:
        """The first process inside, as this side numbers it; None when the tool ended before there was one."""
        text = b""
        deadline = time.monotonic() + _PID_SECONDS
        while time.monotonic() < deadline:
            if not select.select([info], [], [], deadline - time.monotonic())[0]:
                break
            part = os.read(info, 4096)
            text += part
            if b"}" in part:
                return int(json.loads(text)["child-pid"])
            if not part:
                break
        return None

    def _asked_pid(self) -> int | None:
        """The same for a tool that is asked; None when it ended, or did not get that far.

        An engine goes on making what it was asked for when its client is gone. So we leave, when the harness has,
        only once there is something to remove.
        """
        assert self._process is not None  # noqa: S101
        deadline = time.monotonic() + _PID_SECONDS
        is_alone = False
        while self._process.poll() is None and time.monotonic() < deadline:
            done = self._run(self._config["asking_pid"])
            text = done.stdout.strip()
            if done.returncode == 0 and is_alone:
                raise ChannelClosedError
            if done.returncode == 0 and text.isdigit() and int(text):
                return int(text)
            # Nothing is asked before the start: a harness that can be heard is gone.
            if select.select([] if is_alone else [self._harness], [], [], 0.05)[0]:
                is_alone = True
        return None

    def _enforced_by(self) -> dict[str, str]:
        given = self._config["enforced_by"]
        return {
            "memory": "cgroup" if self.cgroup.has_memory else "supervision",
            "processes": "cgroup" if self.cgroup.has_processes else "supervision",
            **given,
        }

    def watch(self) -> None:
        """Until the harness hangs up, the time is over, or the tool has ended."""
        process = self._process
        assert process is not None and process.stderr is not None  # noqa: PT018, S101  launched before
        exit_fd = os.pidfd_open(process.pid)
        os.set_blocking(process.stderr.fileno(), False)
        for fd in (self._harness, exit_fd, process.stderr.fileno()):
            self._poll.register(fd, select.POLLIN)
        is_ended = False
        try:
            while True:
                left = self._deadline - time.monotonic()
                if left <= 0 and not is_ended:
                    return
                for fd, events in self._poll.poll(None if is_ended else int(left * 1000) + 1):
                    if fd == self._harness:
                        self._answer(events)
                    elif fd == exit_fd:
                        self._poll.unregister(exit_fd)
                        self._collect_words(0.2)
                        self._tell_end()
                        is_ended = True
                    else:
                        self._hear()
        finally:
            os.close(exit_fd)

    def _answer(self, events: int) -> None:
        if not events & select.POLLIN:
            raise ChannelClosedError
        order = json.loads(self._channel.receive()).get("op")
        is_frozen = self._counting.freeze() if order == "freeze" else False
        if order == "thaw":
            self._counting.thaw()
        try:
            counters = {
                "is_frozen": is_frozen,
                "memory": self._counting.memory_kills(),
                "forks": self._counting.refused_forks(),
                "cpu": self._counting.cpu_seconds(),
            }
        except OSError:
            return  # an engine has removed its group: the workspace's end, which is being watched, says why
        self._channel.send(json.dumps({"counters": counters}).encode())

    def _hear(self) -> bool:
        assert self._process is not None and self._process.stderr is not None  # noqa: PT018, S101
        fd = self._process.stderr.fileno()
        try:
            data = os.read(fd, 1 << 16)
        except BlockingIOError:
            return False
        if not data:
            with contextlib.suppress(KeyError):
                self._poll.unregister(fd)
            return False
        self._said += data
        del self._said[:-_SAID]
        return True

    def _collect_words(self, seconds: float) -> None:
        """What the tool said last; its own end may come a moment before its words."""
        assert self._process is not None and self._process.stderr is not None  # noqa: PT018, S101
        fd = self._process.stderr.fileno()
        deadline = time.monotonic() + seconds
        while select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
            os.set_blocking(fd, False)
            if not self._hear():
                break

    def _tell_end(self) -> None:
        assert self._process is not None  # noqa: S101
        with contextlib.suppress(ChannelClosedError):
            self._channel.send(
                json.dumps(
                    {
                        "exited": self._process.poll(),
                        "said": self._said.decode(errors="replace"),
                        "memory": self._memory_kills(),
                    }
                ).encode()
            )

    def _memory_kills(self) -> int:
        """How often memory ran out; an engine may have removed its group by now, or be asked instead."""
        if self._config["explaining"]:
            return int(b"OOMKilled" in self._run(self._config["explaining"]).stdout)
        try:
            return self._counting.memory_kills()
        except OSError:
            return 0

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[bytes]:
        """One of the runner's own commands; one that takes too long has failed."""
        try:
            return subprocess.run(  # noqa: S603  the runner's own command
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=_COMMAND_SECONDS,
                env=self._config["environment"],
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, b"", b"")

    def close(self) -> None:
        self._counting.thaw()  # the frozen do not even die
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
        for command in self._config["after"]:
            self._run(command)
        if self._process is not None:
            self._process.wait()
            if self._process.stderr is not None:
                self._process.stderr.close()
        self._end_stragglers()
        if self._counting is not self.cgroup:
            self._counting.forget()
        self.cgroup.remove()
        if self._folder:
            _remove(self._folder)

    def _end_stragglers(self) -> None:
        """A control group tells who is left; without one, those we adopted are."""
        deadline = time.monotonic() + _DIE_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            left = {*self.cgroup.members(), *_children()}
            if not left:
                return
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.002)


def _new_folder() -> str:
    import tempfile  # dear to import, and seldom needed

    return tempfile.mkdtemp(prefix=f"proctor-workspace-{os.getpid()}-")


def _remove(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _pipe_of(text: str) -> int:
    """A descriptor to read a short text from."""
    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    return read


def _children() -> list[int]:
    """Our children by the kernel's list; a workspace agent that was killed leaves its own to us."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:  # noqa: PTH123
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def main(config_text: str) -> None:
    """Standard input is the line to the harness."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    kernel.prctl(kernel.SET_CHILD_SUBREAPER, 1)
    config, harness = json.loads(config_text), os.dup(0)
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    if config["is_using_cgroups"]:
        cgroups.sweep()
    supervisor = WorkspaceSupervisor(harness, config)
    try:
        supervisor.launch()
        supervisor.watch()
    except ChannelClosedError:
        pass
    except OSError as error:
        with contextlib.suppress(ChannelClosedError):
            Channel(harness).send(json.dumps({"exited": None, "said": str(error), "memory": 0}).encode())
    finally:
        supervisor.close()
    os._exit(0)
