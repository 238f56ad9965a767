"""What an agent waits for, and its words with the harness: nobody it talks to can make it wait."""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from typing import Any

from .agent_frames import Unpacker, packed

_CHUNK = 1 << 20


class ControllerGoneError(Exception):
    """Nobody is there to keep a workspace for."""


class Loop:
    """Descriptors and their handlers; orders come in over one of them, answers go out over another."""

    def __init__(self, incoming: int, outgoing: int, obey: Callable[[dict[str, Any], bytes], None]) -> None:
        self._in, self._out = incoming, outgoing
        self._obey = obey
        self._unpacker = Unpacker()
        self._to_send = bytearray()
        self._poll = select.poll()
        self._watched: dict[int, Callable[[int], None]] = {}
        for fd in (incoming, outgoing):
            os.set_blocking(fd, False)
        self.watch(incoming, self._on_order)

    def watch(self, fd: int, handler: Callable[[int], None], events: int = select.POLLIN) -> None:
        self._watched[fd] = handler
        self._poll.register(fd, events)

    def unwatch(self, fd: int) -> None:
        if self._watched.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def is_watched(self, fd: int) -> bool:
        return fd in self._watched

    def turn(self, milliseconds: int | None) -> None:
        """Handle what has happened, or happens within that time."""
        for fd, events in self._poll.poll(milliseconds):
            handler = self._watched.get(fd)  # one handler may end what another waits for
            if handler is not None:
                handler(events)

    def tell(self, head: dict[str, Any], body: bytes = b"") -> None:
        self._to_send += packed(head, body)
        self._flush(0)

    def _flush(self, _: int) -> None:
        try:
            while self._to_send:
                del self._to_send[: os.write(self._out, self._to_send[:_CHUNK])]
        except BlockingIOError:
            self.watch(self._out, self._flush, select.POLLOUT)
            return
        except OSError as error:
            raise ControllerGoneError from error
        self.unwatch(self._out)

    def tell_last(self, head: dict[str, Any]) -> None:
        """Said even if it has to be waited for: nothing is done afterwards."""
        os.set_blocking(self._out, True)
        self.tell(head)

    def _on_order(self, _: int) -> None:
        try:
            data = os.read(self._in, _CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            raise ControllerGoneError from error
        if not data:
            raise ControllerGoneError
        for head, body in self._unpacker.feed(data):
            self._obey(head, body)
