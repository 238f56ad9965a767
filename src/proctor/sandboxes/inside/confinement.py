"""The last steps before code is read, the same in every backend: limits, and the system call filter."""

from __future__ import annotations

import os
import resource
import socket
from typing import Any

from . import kernel


def be_killed_first(score: bytes) -> None:
    """When memory runs out, it is this process that goes, not the warm parent."""
    fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    os.write(fd, score)
    os.close(fd)


def limit(order: dict[str, Any], *, is_address_space_limited: bool) -> None:
    cpu = max(1, round(order["cpu_seconds"] + 0.5))
    values = {
        resource.RLIMIT_CPU: cpu,
        resource.RLIMIT_FSIZE: order["file_bytes"],
        resource.RLIMIT_NOFILE: order["open_files"],
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_DATA: order["memory_bytes"],
    }
    if not order.get("has_process_cgroup"):  # counted per user, and some tools run every slot as one user
        values[resource.RLIMIT_NPROC] = order["processes"] + 4
    if is_address_space_limited:
        values[resource.RLIMIT_AS] = order["memory_bytes"] + (64 << 20)  # the interpreter's own mappings
    for which, value in values.items():
        hard = resource.getrlimit(which)[1]
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # One second between the signal that names the limit and the one nobody survives.
        is_extended = which == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY
        resource.setrlimit(which, (allowed, allowed + is_extended))


def install(
    chosen: kernel.Filter, profile: str, control: socket.socket, given: list[int], *, is_notifying: bool
) -> None:
    """Bind this process to the filter and hand the supervisor what it needs; nothing of it stays open here."""
    listener = chosen.install(is_notifying=is_notifying)
    hand_over(profile, control, given if listener is None else [*given, listener])


def hand_over(profile: str, control: socket.socket, given: list[int]) -> None:
    if profile == "program":
        socket.send_fds(control, [b"ready"], given)
    for fd in given:
        os.close(fd)
