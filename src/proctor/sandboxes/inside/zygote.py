"""A warm parent: enters the sandbox once, then forks per execution. It is handed descriptors and never reads code."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
from typing import Any

from . import confinement, kernel, rehearsal, root, seccomp, syscalls
from .forking import Forker, preload, settle


def _write_maps(self_folder: int, uid: int, host_uid: int, host_gid: int) -> None:
    def write(name: str, text: str) -> None:
        fd = os.open(name, os.O_WRONLY, dir_fd=self_folder)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)

    write("setgroups", "deny")
    write("uid_map", f"{uid} {host_uid} 1")
    write("gid_map", f"{uid} {host_gid} 1")


def enter(config: dict[str, Any]) -> None:
    """Leave the host behind: file system, network, identity, processes. Returns in the first process of a new world."""
    layout, uid = config["layout"], config["layout"]["uid"]
    folder = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY)
    host_uid, host_gid = os.geteuid(), os.getegid()
    if host_uid == 0:
        host_uid = host_gid = config["host_uid"]
        # Folders only root may pass through are bound while we are root; what runs here never is.
        kernel.unshare(kernel.NEWNS | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS)
        root.build(layout)
        os.setgroups([])
        os.setresgid(host_gid, host_gid, host_gid)
        os.setresuid(host_uid, host_uid, host_uid)
        kernel.prctl(kernel.SET_DUMPABLE, 1)
        kernel.unshare(kernel.NEWUSER)
        _write_maps(folder, uid, host_uid, host_gid)
        kernel.unshare(kernel.NEWNS | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS | kernel.NEWPID)
    else:
        kernel.unshare(kernel.NEWUSER)
        _write_maps(folder, uid, host_uid, host_gid)
        kernel.unshare(kernel.NEWNS | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS | kernel.NEWPID)
        root.build(layout)
    os.close(folder)
    with contextlib.suppress(OSError):
        kernel.unshare(kernel.NEWCGROUP)
    socket.sethostname("sandbox")
    _become_first_process()


def _become_first_process() -> None:
    """Fork into the new process namespace; the outer process only waits, so that its end is the namespace's end."""
    child = os.fork()
    if child:
        os.closerange(0, 256)
        kernel.die_with_parent(os.getppid())
        with contextlib.suppress(InterruptedError):
            os.waitpid(child, 0)
        os._exit(0)
    kernel.prctl(kernel.SET_PDEATHSIG, signal.SIGKILL)


class Zygote(Forker):
    """Each child in process and mount namespaces of its own."""

    def __init__(self, control: socket.socket, config: dict[str, Any]) -> None:
        super().__init__(control)
        self._namespace = self._open_namespace()
        self._is_notifying = config["is_notifying"]
        machine = syscalls.machine()
        self._filters = {
            (profile, loopback): kernel.Filter(
                seccomp.compile_filter(
                    machine, profile=profile, loopback=loopback, is_notifying=self._notifies(profile)
                )
            )
            for profile in ("program", "judge")
            for loopback in (False, True)
        }
        self._has_memory_cgroup = config["has_memory_cgroup"]

    @staticmethod
    def _open_namespace() -> int:
        """Our own process namespace, to come back to after making one for a child."""
        kernel.mount("proc", "/proc", "proc", kernel.NOSUID | kernel.NODEV | kernel.NOEXEC)
        return os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def _separate(self, order: dict[str, Any]) -> int:
        # A judge starts no process and writes no file, so a fork is all the separation it needs from the next one.
        if order["role"] == "judge":
            return os.fork()
        kernel.unshare(kernel.NEWPID)
        pid = os.fork()
        if pid:
            kernel.setns(self._namespace, kernel.NEWPID)
        return pid

    def _notifies(self, profile: str) -> bool:
        """Trusted tests are confined too, but nobody counts what they try."""
        return self._is_notifying and profile == "program"

    def confine(self, order: dict[str, Any], control: socket.socket) -> None:
        """Take away everything that is not needed to compute; the last step before code is read."""
        profile = order["profile"]
        if profile == "program":
            kernel.unshare(kernel.NEWNS | kernel.NEWIPC | (kernel.NEWNET if order["loopback"] else 0))
            root.private_folders(order["disk_bytes"])
            if order["loopback"]:
                kernel.raise_loopback()
        confinement.be_killed_first(b"1000" if profile == "program" else b"500")
        confinement.limit(
            order, is_address_space_limited=order["is_address_space_limited"] or not self._has_memory_cgroup
        )
        kernel.drop_capabilities()
        given = [os.open("/tmp/work", os.O_RDONLY | os.O_DIRECTORY)] if order["is_folder_wanted"] else []  # noqa: S108
        chosen = self._filters[profile, order["loopback"]]
        confinement.install(chosen, profile, control, given, is_notifying=self._notifies(profile))


def main(fd: int) -> None:
    control = socket.socket(fileno=fd)
    config = json.loads(control.recv(1 << 16))
    os.setsid()
    kernel.die_with_parent(config["parent"])
    os.environ.pop("LD_BIND_NOW", None)  # was for us
    preload(config["role"])
    rehearsal.rehearse(config["role"])
    try:
        enter(config)
        kernel.drop_bounding_set()
        zygote = Zygote(control, config)
    except OSError as error:
        control.send(json.dumps({"fault": str(error)}).encode())
        sys.exit(1)
    control.send(json.dumps({"ready": os.getpid()}).encode())
    settle()
    zygote.serve()
