"""Two processes that call each other over one socket, from any number of threads.

A stream is a pair of threads, one on each side, that take turns: whoever waits for an answer serves the other's calls
meanwhile. A stream nobody knows yet gets a thread of its own.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import socket
import threading
from collections.abc import Callable
from typing import Any

from proctor.sandboxes.inside.codec import CodecError, dumps, loads
from proctor.sandboxes.inside.frames import MAX_FRAME, ChannelClosedError, FrameTooLargeError, framed, receive_frame

MAIN = "main"


class PeerLostError(Exception):
    """The other side is gone, late, or talks nonsense."""


class _OwnStream(threading.local):
    """The stream of the thread that asks; None until it has one."""

    name: str | None = None


class Peer:
    """One end. `handle` answers a call of the other side and never raises."""

    def __init__(
        self,
        sock: socket.socket,
        handle: Callable[[Any], Any],
        side: str,
        timeout: float | None,
        most_bytes: int | None = None,
    ) -> None:
        self._sock = sock
        self._left = most_bytes
        """What is still taken from the other side; None: as much as it says."""
        self._handle = handle
        self._timeout = timeout
        self._sending = threading.Lock()
        self._inboxes: dict[str, queue.SimpleQueue[Any]] = {MAIN: queue.SimpleQueue()}
        self._own = _OwnStream()
        self._names = (f"{side}{number}" for number in itertools.count())
        self._lost: str | None = None

    def begin(self) -> None:
        """Listen; the thread that calls this has the main stream."""
        self._own.name = MAIN
        threading.Thread(target=self._listen, daemon=True, name="peer").start()

    def ask(self, message: Any) -> Any:
        """The other side's answer; its own calls meanwhile are served here."""
        stream = self._stream()
        self._send([stream, "ask", message])
        return self._serve(stream)

    def serve(self) -> None:
        """Answer on the main stream until the other side hangs up."""
        try:
            self._serve(MAIN, is_endless=True)
        except PeerLostError:
            return

    def close(self) -> None:
        self._lose("it was closed")
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)  # wakes whoever listens; closing alone would not
        self._sock.close()

    def _stream(self) -> str:
        stream = self._own.name
        if stream is None:
            stream = self._own.name = next(self._names)
            self._inboxes[stream] = queue.SimpleQueue()
        return stream

    def _serve(self, stream: str, *, is_endless: bool = False) -> Any:
        inbox = self._inboxes[stream]
        while True:
            if self._lost and inbox.empty():
                raise PeerLostError(self._lost)
            try:
                item = inbox.get(timeout=None if is_endless else self._timeout)
            except queue.Empty:
                self._lose(f"no answer within {self._timeout:g} s")
                raise PeerLostError(self._lost) from None
            if item is None:
                raise PeerLostError(self._lost)
            what, message = item
            if what == "answer":
                return message
            self._send([stream, "answer", self._handle(message)])

    def _send(self, message: Any) -> None:
        body = dumps(message)
        if len(body) > MAX_FRAME:
            body = dumps([message[0], message[1], {"too large": len(body)}])
        try:
            with self._sending:
                self._sock.sendall(framed(body))
        except OSError as error:
            raise PeerLostError(self._lost or "its process ended") from error

    def _listen(self) -> None:
        try:
            while True:
                stream, what, message = loads(self._taken(receive_frame(self._sock.recv)))
                self._deliver(str(stream), (str(what), message))
        except PeerLostError as error:
            self._lose(str(error))
        except ChannelClosedError:
            self._lose("its process ended")
        except FrameTooLargeError as error:
            self._lose(f"an answer that is too long ({error})")
        except MemoryError:
            self._lose("an answer there is no memory for")
        except (OSError, ValueError, TypeError, CodecError) as error:
            self._lose(f"an answer that cannot be read ({error})" if not isinstance(error, OSError) else "it hung up")

    def _taken(self, body: bytes) -> bytes:
        if self._left is not None:
            self._left -= len(body)
            if self._left < 0:
                raise PeerLostError("it handed over more than it may in all")
        return body

    def _deliver(self, stream: str, item: tuple[str, Any]) -> None:
        if stream not in self._inboxes:
            if item[0] != "ask" or len(self._inboxes) > 256:
                raise PeerLostError("an answer to nothing")
            self._inboxes[stream] = queue.SimpleQueue()
            threading.Thread(target=self._serve_stream, args=(stream,), daemon=True).start()
        self._inboxes[stream].put(item)

    def _serve_stream(self, stream: str) -> None:
        self._own.name = stream
        try:
            self._serve(stream, is_endless=True)
        except PeerLostError:
            return

    def _lose(self, reason: str) -> None:
        self._lost = self._lost or reason
        for inbox in list(self._inboxes.values()):
            inbox.put(None)
