"""The harness's line to an agent: many orders at once, each with its answer; and news of commands that ended."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Mapping
from typing import Any

from proctor.domain.errors import SandboxError, UserError, WorkspaceSpentError
from proctor.sandboxes.inside.agent_frames import MAX_ANSWER, MAX_FRAME, Unpacker, packed
from proctor.sandboxes.inside.frames import FrameTooLargeError

Answer = tuple[dict[str, Any], bytes]
_TIMEOUT_SECONDS = 60.0


class WorkspaceFullError(WorkspaceSpentError):
    """A folder of the workspace has no room for what was to be written."""


class WorkspaceLostError(SandboxError):
    """The workspace ended before it was closed."""


class AgentConnection:
    """Sends orders and hands out answers; once the other side is gone every waiter is told."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Answer]] = {}
        self._ended: dict[int, asyncio.Future[Answer]] = {}
        self._flows: dict[int, asyncio.Queue[bytes | None]] = {}
        self.ready: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.fault: str | None = None
        self.is_lost = False
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        unpacker = Unpacker(MAX_ANSWER)
        try:
            while data := await self._reader.read(1 << 18):
                for head, body in unpacker.feed(data):
                    self._deliver(head, body)
        except OSError as error:
            self.fault = self.fault or f"the line to the agent broke ({error})"
        except (FrameTooLargeError, ValueError) as error:
            self.fault = self.fault or f"the agent answered nonsense ({error})"
        finally:
            self.is_lost = True
            for future in (self.ready, *self._answers.values(), *self._ended.values()):
                if not future.done():
                    future.set_exception(WorkspaceLostError(self.fault or "the agent is gone"))
                    future.exception()  # nobody may be waiting, which is no reason to complain
            for flow in self._flows.values():
                flow.put_nowait(None)

    def _deliver(self, head: dict[str, Any], body: bytes) -> None:
        if "ready" in head:
            future: asyncio.Future[Answer] | None = self.ready
        elif "ended" in head:
            future = self._ended.get(head["ended"])
        elif "flow" in head:
            flow = self._flows.get(head["flow"])
            if flow is not None:
                flow.put_nowait(None if head.get("is_broken") else body)
            return
        elif "fault" in head:
            self.fault = str(head["fault"]).strip()
            return
        else:
            future = self._answers.get(head["id"])
        if future is not None and not future.done():
            future.set_result((head, body))

    def expect(self) -> tuple[int, asyncio.Future[Answer]]:
        """A number for a new command, and what will be known when it has ended."""
        number = next(self._numbers)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        if self.is_lost:
            future.set_exception(WorkspaceLostError(self.fault or "the agent is gone"))
            future.exception()
        self._ended[number] = future
        return number, future

    def forget(self, number: int) -> None:
        self._ended.pop(number, None)

    def flow(self, number: int) -> asyncio.Queue[bytes | None]:
        """What comes over a connection into the workspace: bytes, none at their end, None when it broke."""
        self._flows[number] = asyncio.Queue()
        return self._flows[number]

    def forget_flow(self, number: int) -> None:
        self._flows.pop(number, None)

    def say(self, head: Mapping[str, Any]) -> None:
        """An order nobody waits for."""
        if not self.is_lost:
            with contextlib.suppress(OSError, RuntimeError):
                self._writer.write(packed({"id": next(self._numbers), **head}))

    async def ask(
        self, head: Mapping[str, Any], body: bytes = b"", *, timeout_seconds: float | None = _TIMEOUT_SECONDS
    ) -> Answer:
        if len(body) > MAX_FRAME - (1 << 20):
            raise UserError(f"{len(body)} bytes are too many for one order; {MAX_FRAME - (1 << 20)} is the most.")
        if self.is_lost:
            raise WorkspaceLostError(self.fault or "the agent is gone")
        number = next(self._numbers)
        future = self._answers[number] = asyncio.get_running_loop().create_future()
        try:
            self._writer.write(packed({"id": number, **head}, body))
            await self._writer.drain()
            async with asyncio.timeout(timeout_seconds):
                answer = await future
        except TimeoutError:
            raise WorkspaceLostError(f"the agent does not answer ({head['op']})") from None
        except OSError as error:
            await asyncio.wait({self._listening}, timeout=1)  # its last words may say why
            raise WorkspaceLostError(self.fault or f"the agent is gone ({error})") from error
        finally:
            del self._answers[number]
        return _checked(answer)

    async def close(self) -> None:
        self._writer.transport.abort()  # what is still to be sent is for a workspace that ends now
        self._listening.cancel()
        await asyncio.wait({self._listening})
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


def _checked(answer: Answer) -> Answer:
    head, _ = answer
    if "refused" in head:
        raise UserError(f"The workspace refused: {head['refused']}.")
    if "blocked" in head:
        raise WorkspaceSpentError(f"The program has blocked its own workspace: {head['blocked']}.")
    if "failed" in head:
        kind = WorkspaceFullError if head["is_full"] else SandboxError
        raise kind(f"The workspace could not do it: {head['failed']}.")
    return answer
