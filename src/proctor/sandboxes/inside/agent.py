"""The first process of a workspace: keeps its files, starts its commands, and ends with whoever asked for it.

It decides nothing about a program but which limit it passed. Programs run as the same user; still they cannot read or
trace it (it is undumpable) nor signal it (it is the first process of their namespace), and it trusts nothing they left
in files.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import Any

from . import kernel
from .agent_feeding import Feeding
from .agent_files import BlockedError, Folders, PathRefusedError
from .agent_flows import Flows, cluster
from .agent_frames import joined
from .agent_jobs import RunningCommand, filter_for
from .agent_loop import ControllerGoneError, Loop
from .agent_notices import MAX_REFUSED, Notices, wake_together
from .agent_processes import Population, memory_kills, offer_first, send, shared_fairly
from .agent_writes import can_be_seen

MAX_JOBS = 16
_TICK_SECONDS = 0.05
_DISK_TICKS = 4


class WorkspaceAgent:
    def __init__(self, incoming: int, outgoing: int, config: dict[str, Any]) -> None:
        self._config = config
        self._loop = Loop(incoming, outgoing, self._obey)
        self._folders = Folders(config["root"])
        self._population = Population()
        is_seeing_writes = config["is_filtered"] and config["is_notifying"] and can_be_seen()
        self._notices = Notices(is_seeing_writes=is_seeing_writes)
        self._filter = filter_for(config, is_seeing_writes=is_seeing_writes)
        self._jobs: dict[int, RunningCommand] = {}
        self._feeding = Feeding(self._loop)
        self._flows = Flows(self._loop.tell, self._loop.watch, self._loop.unwatch)
        self._next_tick = 0.0
        self._peak = 0
        self._memory_kills = 0
        self._ticks = 0
        self._orders: dict[str, Callable[[dict[str, Any], bytes], tuple[dict[str, Any], bytes] | None]] = {
            **self._folders.orders(),
            "start": self._start,
            "send": self._send,
            "signal": self._signal,
            "end": self._end_order,
            "logs": self._logs,
            "spent": self._spent,
            "seen": self._seen,
            "connect": self._flows.connect,
            "pour": self._flows.pour,
            "taken": self._flows.taken,
        }

    # The loop

    def serve(self) -> None:
        self._folders.make()
        wake, woken = os.pipe()
        for fd in (wake, woken):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._loop.watch(wake, lambda _: self._on_child(wake))
        self._loop.tell({"ready": True, "is_first": self._population.is_first, "cluster": cluster()})
        while True:
            self._loop.turn(self._patience())
            self._look_after()

    def _patience(self) -> int | None:
        if not self._jobs:
            return None
        soonest = min(self._next_tick, *(job.deadline for job in self._jobs.values()))
        return max(0, int((soonest - time.monotonic()) * 1000) + 1)

    def _look_after(self) -> None:
        """Clocks and limits; whoever passed one is ended."""
        if not self._jobs:
            return
        now = time.monotonic()
        for job in self._jobs.values():
            if now >= job.deadline and job.ending is None:
                job.ending = "timeout"
            elif job.violations.total() > MAX_REFUSED and job.ending is None:
                job.ending = "violation"
        if now >= self._next_tick:
            self._next_tick = now + _TICK_SECONDS
            self._observe()
        for job in list(self._jobs.values()):
            if job.ending is not None:
                self._finish(job)

    def _observe(self) -> None:
        mains, everyone = self._mains(), self._population.everyone()
        tags = {one.pid: self._population.tag(one, mains) for one in everyone}
        self._ticks += 1
        used: tuple[int, bool] | None = None
        if self._ticks % (_DISK_TICKS if not self._folders.is_hosted else 10 * _DISK_TICKS) == 0:
            used = self._folders.used()
        self._peak = max(self._peak, sum(one.memory for one in everyone))
        for job in self._jobs.values():
            job.observe([one for one in everyone if tags[one.pid] == job.tag], shared_fairly)
            if used is not None:
                self._check_disk(job, used[0])

    def _check_disk(self, job: RunningCommand, used: int) -> None:
        allowed = min(self._config["disk_bytes"], job.disk_before + job.limits["disk_bytes"])
        if used > max(allowed, job.disk_before) and job.ending is None:
            job.ending = "disk"

    def close(self) -> None:
        """With the first process of a namespace everyone goes; elsewhere they are ended one by one."""
        if not self._population.is_first:
            self._population.end_everyone(self._reap)

    # Talking with the harness

    def report(self, fault: str) -> None:
        with contextlib.suppress(ControllerGoneError):
            self._loop.tell_last({"fault": fault})

    def _obey(self, head: dict[str, Any], body: bytes) -> None:
        try:
            answer = self._orders[head["op"]](head, body)
        except PathRefusedError as error:
            answer = {"blocked" if isinstance(error, BlockedError) else "refused": str(error)}, b""
        except OSError as error:
            answer = {"failed": str(error), "is_full": error.errno in (errno.ENOSPC, errno.EDQUOT)}, b""
        if answer is not None:
            self._loop.tell({"id": head["id"], **answer[0]}, answer[1])

    # Commands

    def _start(self, head: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        taken = {job.tag for job in self._jobs.values()}
        tag = next((number for number in range(1, MAX_JOBS + 1) if number not in taken), None)
        if tag is None:
            raise PathRefusedError(f"{MAX_JOBS} commands are running already")
        environment = {**self._config["environment"], **head["environment"]}
        head["command"] = [self._folders.translated(part) for part in head["command"]]
        environment = {name: self._folders.translated(value) for name, value in environment.items()}
        head["tasks"] = sum(one.threads for one in self._population.everyone()) + 2 if self._jobs else 3
        job = RunningCommand(head, tag, body)
        job.disk_before = self._folders.used()[0]
        try:
            job.start(self._config, environment, self._folders.translated(head["folder"]), self._filter)
        except BlockingIOError:  # services hold every process there may be
            return {"job": None}, b""
        self._jobs[job.number] = job
        self._next_tick = time.monotonic() + _TICK_SECONDS
        self._loop.watch(job.report.fileno(), lambda _: self._on_report(job))  # type: ignore[union-attr]
        for name in ("stdout", "stderr"):
            self._loop.watch(job.fds[name], lambda _, name=name: self._on_output(job, name))  # type: ignore[misc]
        self._feeding.feed(job)
        return {"job": job.number}, b""

    def _on_report(self, job: RunningCommand) -> None:
        """The descriptor on which refusals are announced, then nothing: the child has become the program."""
        assert job.report is not None  # noqa: S101  watched only while it is there
        try:
            data, fds, _, _ = socket.recv_fds(job.report, 4096, 1)
        except OSError:
            data, fds = b"", []
        if fds:
            job.listener = fds[0]
            wake_together(fds[0])
            self._loop.watch(fds[0], lambda events: self._on_refusal(job, events))
        if data.startswith(b"f"):
            job.fault = data[1:].decode(errors="replace")
        elif not data:
            self._loop.unwatch(job.report.fileno())
            job.report.close()
            job.report = None
            offer_first(job.pid)

    def _on_refusal(self, job: RunningCommand, events: int) -> None:
        assert job.listener is not None  # noqa: S101  watched only while it is there
        if events & select.POLLIN:
            self._notices.answer(job.listener, job.violations)
        elif events & (select.POLLHUP | select.POLLERR):
            self._loop.unwatch(job.listener)

    def _on_output(self, job: RunningCommand, name: str) -> None:
        if not job.read(name):
            self._loop.unwatch(job.fds[name])

    def _send(self, head: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes] | None:
        job = self._jobs.get(head["job"])
        return self._feeding.send(job, head, body) if job is not None else ({}, b"")

    def _signal(self, head: dict[str, Any], _: bytes) -> tuple[dict[str, Any], bytes]:
        job = self._jobs.get(head["job"])
        if job is not None:
            job.signals.add(head["number"])
            if head["number"] == signal.SIGKILL:
                self._kill(job)
            else:
                send(self._pids_of(job), head["number"])
        return {}, b""

    def _end_order(self, head: dict[str, Any], _: bytes) -> tuple[dict[str, Any], bytes]:
        job = self._jobs.get(head["job"])
        if job is not None:
            job.signals.add(signal.SIGKILL)
            self._kill(job)
        return {}, b""

    def _logs(self, head: dict[str, Any], _: bytes) -> tuple[dict[str, Any], bytes]:
        job = self._jobs.get(head["job"])
        if job is None:
            return {"job": None}, b""
        for name in ("stdout", "stderr"):
            if self._loop.is_watched(job.fds[name]):
                self._on_output(job, name)
        names, data = joined({name: output.value() for name, output in job.output.items()})
        return {"job": job.number, "files": names}, data

    def _spent(self, head: dict[str, Any], _: bytes) -> tuple[dict[str, Any], bytes]:
        job = self._jobs.get(head["job"])
        if job is None:
            return {"job": None}, b""
        self._observe()
        return {"job": job.number, "spent": job.spent()}, b""

    def _seen(self, _: dict[str, Any], __: bytes) -> tuple[dict[str, Any], bytes]:
        if self._jobs:
            self._observe()
        return {**self._notices.seen(), "peak": self._peak}, b""

    # Endings

    def _on_child(self, wake: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(wake, 4096)
        self._reap()
        for job in list(self._jobs.values()):
            if job.status is not None:
                self._finish(job)

    def _reap(self) -> None:
        mains = {job.pid: job for job in self._jobs.values() if job.status is None}
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in mains:
                mains[pid].exited(status, usage)

    def _mains(self) -> dict[int, int]:
        """Who is a command's first process; a number that was waited for may be anybody's by now."""
        return {job.pid: job.tag for job in self._jobs.values() if job.status is None}

    def _pids_of(self, job: RunningCommand) -> list[int]:
        mains = self._mains()
        return [one.pid for one in self._population.everyone() if self._population.tag(one, mains) == job.tag]

    def _kill(self, job: RunningCommand) -> None:
        """End the command and everyone it started; strays, who belong to no command any more, go with them."""
        if len(self._jobs) == 1:
            is_done = self._population.end_everyone(self._reap)
        else:
            mains = self._mains()
            tags = {0, job.tag} if self._population.base is None else {job.tag}
            is_done = self._population.end(lambda one: self._population.tag(one, mains) in tags, self._reap)
        if not is_done:
            job.fault = job.fault or "some of the command's processes could not be ended"

    def _finish(self, job: RunningCommand) -> None:
        """The main process has ended, or a limit was passed: nobody of the command stays."""
        if job.status is None:
            with contextlib.suppress(OSError):
                self._observe_once(job)
        self._kill(job)
        self._reap()
        for name in ("stdout", "stderr"):
            if self._loop.is_watched(job.fds[name]):
                job.drain(name)
        used, is_full = self._folders.used()
        self._check_disk(job, used)
        while job.report is not None:
            self._on_report(job)  # to its end, which has come: nobody is left to write
        for fd in (*job.fds.values(), *([job.listener] if job.listener is not None else [])):
            self._loop.unwatch(fd)
        self._feeding.close(job)
        self._peak = max(self._peak, job.peak)
        if self._config["is_seeing_cgroup"] and job.is_killed() and (kills := memory_kills()) > self._memory_kills:
            self._memory_kills = kills
            job.ending = "memory"
        result = job.result(is_disk_full=is_full)
        job.close()
        del self._jobs[job.number]
        names, data = joined({name: output.value() for name, output in job.output.items()})
        self._loop.tell({"ended": job.number, "fault": job.fault, "files": names, **result}, data)

    def _observe_once(self, job: RunningCommand) -> None:
        mains, everyone = self._mains(), self._population.everyone()
        job.observe([one for one in everyone if self._population.tag(one, mains) == job.tag], shared_fairly)


def _channel() -> tuple[int, int]:
    """Take the standard streams for ourselves: nobody started here inherits them."""
    high = [os.dup(fd) for fd in (0, 1)]
    null = os.open("/dev/null", os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.close(null)
    return high[0], high[1]


def main(config_text: str) -> None:
    config = json.loads(config_text)
    os.chdir("/")  # in none of the workspace's folders: a path through /proc/self must not seem to lead there
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    kernel.prctl(kernel.SET_DUMPABLE, 0)
    if os.getpid() != 1:
        kernel.prctl(kernel.SET_CHILD_SUBREAPER, 1)
    kernel.drop_capabilities()
    agent, code = WorkspaceAgent(*_channel(), config), 0
    try:
        agent.serve()
    except ControllerGoneError:
        pass
    except BaseException:  # noqa: BLE001  the harness is told: a fault of the sandbox's own
        import traceback  # dear to import, and never needed

        code = 70
        agent.report(traceback.format_exc(limit=-4))
    finally:
        agent.close()
        os._exit(code)
