"""A warm parent: enters the sandbox once, then forks per execution. It is handed descriptors and never reads code."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import struct
import sys
from typing import Any

from . import children, confinement, kernel, root, seccomp, syscalls

# Not threading, nor what imports it: its work after every fork would cost as much as the fork.
_PRELOADED = {
    "judge": "collections collections.abc copy itertools linecache math re reprlib traceback typing",
    "candidate": """abc array bisect cmath collections collections.abc contextlib copy dataclasses datetime decimal
    enum fractions functools heapq io itertools json linecache math numbers operator random re statistics string struct
    textwrap time traceback types typing unicodedata""",
}


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


class Zygote:
    """Forks one child at a time, each in process and mount namespaces of its own."""

    def __init__(self, control: socket.socket, config: dict[str, Any]) -> None:
        self._control = control
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

    def serve(self) -> None:
        while True:
            message, fds, _, _ = socket.recv_fds(self._control, 4096, 8)
            if not message:
                os._exit(0)
            self._fork(json.loads(message), fds)

    def _fork(self, order: dict[str, Any], fds: list[int]) -> None:
        # A judge starts no process and writes no file, so a fork is all the separation it needs from the next one.
        is_judge = order["role"] == "judge"
        if not is_judge:
            kernel.unshare(kernel.NEWPID)
        pid = os.fork()
        if pid == 0:
            self._be_child(order, fds)
        if not is_judge:
            kernel.setns(self._namespace, kernel.NEWPID)
        for fd in fds:
            os.close(fd)
        pidfd = os.pidfd_open(pid)
        socket.send_fds(self._control, [b"started"], [pidfd])
        os.close(pidfd)
        _, status, usage = os.wait4(pid, 0)
        report = struct.pack("=iddq", status, usage.ru_utime, usage.ru_stime, usage.ru_maxrss)
        self._control.send(report)

    def _be_child(self, order: dict[str, Any], fds: list[int]) -> None:
        """Never returns: whatever happens, the child ends here."""
        code = 70
        try:
            os.setsid()
            children.place(order["role"], fds)
            code = children.run(order, self.confine)
        except BaseException as error:  # noqa: BLE001  said to the supervisor, who knows it is the sandbox's own fault
            with contextlib.suppress(BaseException):
                children.report_fault(order["role"], f"{type(error).__name__}: {error}")
        finally:
            os._exit(code)

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
    for name in _PRELOADED[config["role"]].split():
        importlib.import_module(name)
    _add_site_builtins()
    try:
        enter(config)
        kernel.drop_bounding_set()
        zygote = Zygote(control, config)
    except OSError as error:
        control.send(json.dumps({"fault": str(error)}).encode())
        sys.exit(1)
    control.send(json.dumps({"ready": os.getpid()}).encode())
    _settle()
    zygote.serve()


def _add_site_builtins() -> None:
    import site

    site.setquit()
    site.setcopyright()
    site.sethelper()


def _settle() -> None:
    """Nothing allocated so far is ever freed: keep the collector from touching, and so copying, its pages."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # the supervisor ignores them; programs do not
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.collect()
    gc.freeze()
