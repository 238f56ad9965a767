"""Starts the supervisor of a workspace, which starts the tool that makes it; closing the connection ends both."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
from collections.abc import Mapping
from typing import Any, Literal

import orjson

from proctor.domain.errors import SandboxError
from proctor.sandboxes.inside.frames import MAX_LENGTH, framed, read_frame
from proctor.sandboxes.slot import INTERPRETER
from proctor.sandboxes.workspaces.bundle import bundle, start_command

_CLOSE_SECONDS = 90.0


class SupervisedWorkspace:
    """The harness's hold on a supervisor: one question at a time, and an end that leaves nothing."""

    def __init__(
        self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._process, self._reader, self._writer = process, reader, writer
        self._counters: asyncio.Future[dict[str, Any]] | None = None
        self._turn = asyncio.Lock()
        loop = asyncio.get_running_loop()
        self.launched: asyncio.Future[dict[str, Any]] = loop.create_future()
        self.ended: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, config: Mapping[str, Any], agent: socket.socket, kept: list[int]) -> SupervisedWorkspace:
        """`agent` is the tool's end of the connection; `kept` stays open for as long as the supervisor lives."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: ASYNC220, S603  ourselves; a few milliseconds, once per workspace
                start_command(INTERPRETER),
                pass_fds=[agent.fileno(), *kept],
                env=dict(config["environment"]),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
            )
        try:
            reader, writer = await asyncio.open_connection(sock=ours)
        except BaseException:
            ours.close()
            process.wait(_CLOSE_SECONDS)  # it has been told nothing yet, and ends at once
            raise
        writer.write(bundle({**config, "agent": agent.fileno()}, "workspace_supervisor"))
        return cls(process, reader, writer)

    async def _listen(self) -> None:
        try:
            while True:
                self._deliver(orjson.loads(await read_frame(self._reader, MAX_LENGTH)))
        except (asyncio.IncompleteReadError, OSError):
            pass  # said below
        finally:
            self._settle(self.ended, {"exited": None, "said": "the supervisor of the workspace is gone", "memory": 0})

    def _deliver(self, message: dict[str, Any]) -> None:
        if "counters" in message:
            self._settle(self._counters, message["counters"])
        elif "exited" in message:
            self._settle(self.ended, message)
        else:
            self._settle(self.launched, message)

    @staticmethod
    def _settle(future: asyncio.Future[dict[str, Any]] | None, value: dict[str, Any]) -> None:
        if future is not None and not future.done():
            future.set_result(value)

    async def counters(self, op: Literal["count", "freeze", "thaw"] = "count") -> dict[str, Any]:
        """What the workspace's control group has counted so far; it is frozen or thawed first, if asked."""
        async with self._turn:
            self._counters = asyncio.get_running_loop().create_future()
            self._writer.write(framed(orjson.dumps({"op": op})))
            done, _ = await asyncio.wait({self._counters, self.ended}, timeout=10, return_when=asyncio.FIRST_COMPLETED)
            if self._counters in done:
                return self._counters.result()
            if self.ended in done:
                return {"is_frozen": False, "memory": self.ended.result()["memory"], "forks": 0, "cpu": None}
            raise SandboxError("The supervisor of the workspace does not answer.")

    async def close(self) -> None:
        """Hang up and wait until everything is removed."""
        self._writer.close()
        self._listening.cancel()
        await asyncio.wait({self._listening})
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
        await asyncio.to_thread(self._wait)

    def _wait(self) -> None:
        try:
            self._process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
