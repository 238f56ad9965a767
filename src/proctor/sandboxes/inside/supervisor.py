"""The supervisor of one slot: trusted, on the host, single-threaded. It decides how every run ended.

It starts the warm parents, hands them descriptors, watches the clock, answers refused system calls, and ends everything
when the harness hangs up, however the harness ended.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from . import cgroups, leases
from .cold import ColdParent
from .contained import ContainedParent
from .frames import ENDING, Channel, ChannelClosedError
from .reaping import REAPER
from .supervision import SupervisedRun
from .warm import SandboxFaultError, WarmParent
from .watching import HarnessGoneError, Parent

_JUDGE_LIMITS = {"processes": 8, "file_bytes": 0, "disk_bytes": 1 << 20, "open_files": 64}
_KINDS: dict[str, type[Parent]] = {"prefix": ColdParent, "contained": ContainedParent}


class Supervisor:
    """Runs one order at a time for the harness at the other end of the channel."""

    def __init__(self, harness: int, config: dict[str, Any]) -> None:
        self._harness = harness
        self._config = config
        self._parents: dict[str, Parent] = {}
        self._lease: tuple[int, int] | None = None

    def _first_user(self) -> int:
        """Of this slot alone; not root, there is no choosing."""
        first, count = self._config["uids"]
        if os.geteuid() != 0:
            return int(first)
        if self._lease is None:
            try:
                self._lease = leases.lease(first, count)
            except leases.NoUserLeftError as error:
                raise SandboxFaultError(str(error)) from error
        return self._lease[0]

    def parent(self, role: str) -> Parent:
        """The parent of a role's children, started again if it has died."""
        kept = self._parents.get(role)
        if kept is not None and kept.is_alive:
            return kept
        if kept is not None:
            kept.close()
        uid = self._first_user() + (1 if role == "judge" else 0)
        kind = next((kind for key, kind in _KINDS.items() if key in self._config), WarmParent)
        made: Parent = kind(f"{os.getpid()}-{role}", {**self._config, "host_uid": uid, "role": role})
        self._parents[role] = made
        return made

    def describe(self) -> dict[str, Any]:
        if "enforced_by" in self._config:
            return dict(self._config["enforced_by"])
        cgroup = self.parent("candidate").cgroup
        return {
            "memory": "cgroup" if cgroup.has_memory else "rlimit",
            "processes": "cgroup" if cgroup.has_processes else "rlimit",
            "cpu": "cgroup" if cgroup.cpu_seconds() is not None else "rlimit",
            "syscalls": self._config.get("syscalls") or ("counted" if self._config["is_notifying"] else "refused"),
        }

    def check(self, request: dict[str, Any]) -> dict[str, Any]:
        limits = request["limits"]
        # It may hold the submission's answer and the expected one, and read the one from JSON.
        memory = max(1 << 30, 2 * limits["memory_bytes"] + (512 << 20))
        judge_limits = {**limits, **_JUDGE_LIMITS, "memory_bytes": memory, "cpu_seconds": limits["wall_seconds"]}
        candidate, judge = self.parent("candidate"), self.parent("judge")
        candidate.prepare(limits)
        judge.prepare(judge_limits)
        candidate.settle()
        judge.settle()
        with SupervisedRun(self._harness, limits, self._say_ending) as run:
            peer_c, peer_j = run.pair()
            run.start(candidate, "candidate", limits, [peer_c.fileno()], request["candidate"])
            run.start(judge, "judge", judge_limits, [peer_j.fileno()], request["judge"])
            peer_c.close()
            peer_j.close()
            run.wait_for("judge")
            return run.verdict()

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        limits = request["limits"]
        parent, payload = self.parent("candidate"), request["payload"]
        options = {"loopback": request["loopback"], "is_folder_wanted": True}
        if payload["mode"] != "script":
            options["is_address_space_limited"] = request["is_address_space_limited"]
        parent.prepare(limits)
        parent.settle()
        with SupervisedRun(self._harness, limits, self._say_ending) as run:
            streams = run.streams(base64.b64decode(request["stdin"]))
            run.start(parent, "program", limits, streams, payload, options)
            run.close_given()
            run.wait_for("program")
            return run.execution(collect=request["collect"])

    def _say_ending(self) -> None:
        """Comes before the answer: another slot may run something meanwhile."""
        with contextlib.suppress(ChannelClosedError):  # nobody waits any more, and the next look at the harness says so
            Channel(self._harness).send(ENDING)

    def serve(self) -> None:
        channel = Channel(self._harness, limit=1 << 30)
        orders: dict[str, Callable[[dict[str, Any]], dict[str, Any]]]
        orders = {"check": self.check, "run": self.run, "describe": lambda _: self.describe()}
        while True:
            request = json.loads(channel.receive())
            try:
                answer = orders[request["op"]](request)
            except SandboxFaultError as error:
                answer = {"fault": str(error)}
            channel.send(json.dumps(answer).encode())

    def close(self) -> None:
        for parent in self._parents.values():
            parent.close()
        if self._lease is not None:
            os.close(self._lease[1])


def main(fd: int) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the harness says when to end, by hanging up
    harness = socket.socket(fileno=fd)
    try:
        config = json.loads(Channel(fd).receive())
    except ChannelClosedError:
        sys.exit(0)  # whoever wanted a slot wants none any more
    if config["is_using_cgroups"]:
        cgroups.sweep()
    if "prefix" in config:
        REAPER.adopt_orphans()
    supervisor = Supervisor(fd, config)
    try:
        supervisor.serve()
    except (ChannelClosedError, HarnessGoneError):
        pass
    finally:
        supervisor.close()
        with contextlib.suppress(OSError):
            harness.close()
    sys.exit(0)
