"""The checker's line to the harness: questions from any thread, answers by number."""

from __future__ import annotations

import itertools
import os
import queue
import socket
import threading
from typing import Any

from proctor.programs.checking.frames import packed, unpacked
from proctor.sandboxes.inside.frames import MAX_LENGTH, ChannelClosedError, receive_frame


class HarnessLostError(BaseException):
    """The harness hung up; no test can catch this and carry on unnoticed."""


class HarnessLink:
    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._sending = threading.Lock()
        self._waiting: dict[int, queue.SimpleQueue[Any]] = {}
        self._numbers = itertools.count(1)

    def receive(self) -> Any:
        """The next message; before `begin` only."""
        try:
            return unpacked(receive_frame(self._sock.recv, MAX_LENGTH))
        except ChannelClosedError:
            raise HarnessLostError("the harness hung up") from None

    def begin(self) -> None:
        threading.Thread(target=self._listen, daemon=True, name="link").start()

    def tell(self, event: str, **fields: Any) -> None:
        self._send({"event": event, **fields})

    def ask(self, do: str, **fields: Any) -> Any:
        """The harness' answer; a ValueError where it refuses what a test asks for."""
        number = next(self._numbers)
        inbox = self._waiting[number] = queue.SimpleQueue()
        self._send({"id": number, "do": do, "with": fields})
        answer = inbox.get()
        self._waiting.pop(number, None)
        if "refused" in answer:
            raise ValueError(answer["refused"])
        return answer["value"]

    def _send(self, message: Any) -> None:
        data = packed(message)
        try:
            with self._sending:
                self._sock.sendall(data)
        except OSError as error:
            raise HarnessLostError("the harness is gone") from error

    def _listen(self) -> None:
        try:
            while True:
                answer = self.receive()
                inbox = self._waiting.get(answer["id"])
                if inbox is not None:
                    inbox.put(answer)
        except (HarnessLostError, OSError, MemoryError):
            os._exit(1)  # nobody is left to hear what a test finds, or no room to hear what it asked for
