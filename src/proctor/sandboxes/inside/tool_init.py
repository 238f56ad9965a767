"""The first process inside another tool's sandbox: limits itself as a warm child would, then does what one does."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
import sys
from typing import Any

from . import children, confinement, kernel, seccomp, syscalls
from .forking import add_site_builtins
from .frames import Channel


def confine(order: dict[str, Any], control: socket.socket) -> None:
    """The tool made the namespaces and mounts; limits, privileges and system calls are still ours to take."""
    profile = order["profile"]
    work = order["work"]
    os.makedirs(work, exist_ok=True)  # noqa: PTH103
    os.chdir(work)
    with contextlib.suppress(OSError):
        confinement.be_killed_first(b"1000" if profile == "program" else b"500")
    confinement.limit(
        order, is_address_space_limited=order["is_address_space_limited"] or not order["has_memory_cgroup"]
    )
    given = [os.open(work, os.O_RDONLY | os.O_DIRECTORY)] if order["is_folder_wanted"] else []
    if not order["is_filtered"]:
        confinement.hand_over(profile, control, given)
        return
    kernel.drop_capabilities()
    is_notifying = order["is_notifying"] and profile == "program"
    code = seccomp.compile_filter(
        syscalls.machine(), profile=profile, loopback=order["loopback"], is_notifying=is_notifying
    )
    confinement.install(kernel.Filter(code), profile, control, given, is_notifying=is_notifying)


def main(*fds: int) -> None:
    """Started with the descriptors the supervisor gave: control, and for judge and judged their common channel."""
    children.place_above(list(fds))
    order = json.loads(Channel(children.CONTROL).receive())
    add_site_builtins()
    role, code = order["role"], 70
    if role != "program":
        children.null_streams()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        code = children.run(order, confine)
    except BaseException as error:  # noqa: BLE001  said to the supervisor, who knows it is the sandbox's own fault
        with contextlib.suppress(BaseException):
            children.report_fault(role, f"{type(error).__name__}: {error}")
    finally:
        sys.stdout.flush()
        os._exit(code)
