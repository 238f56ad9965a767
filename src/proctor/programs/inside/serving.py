"""The library's side: one process per connection imports the module and answers calls to it.

What the module prints goes where its descriptors lead, never into an answer; an answer holds only the module's own
values. It never sees a test or an expected value.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import os
import signal
import socket
import sys
from typing import Any

from proctor.programs.inside.peer import Peer
from proctor.sandboxes.inside.objects import OPERATIONS, ServedObjects

_TEXT = 2_000


class CallbackError(Exception):
    """What a check's own function raised, where it is no built-in error."""


class LibraryServer:
    """Serves one connection until it is closed."""

    def __init__(self, sock: socket.socket, module: str) -> None:
        self._module = module
        self._objects = ServedObjects(self._call_back)
        self._peer = Peer(sock, self.answer, "s", None)

    def serve(self) -> None:
        self._peer.begin()
        self._peer.serve()

    def answer(self, message: Any) -> Any:
        try:
            return {"v": self._objects.encoder().encode(self._do(message))}
        except BaseException as error:  # noqa: BLE001  whatever a library raises is its answer
            return {"x": self._described(error)}

    def _do(self, message: Any) -> Any:
        name, arguments, keywords = message
        if name == "module":
            return importlib.import_module(self._module)
        decoder = self._objects.decoder()
        args = [decoder.decode(item) for item in arguments]
        kwargs = {key: decoder.decode(item) for key, item in keywords.items()}
        return OPERATIONS[name](*args, **kwargs)

    def _call_back(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        encoder, decoder = self._objects.encoder(), self._objects.decoder()
        positional = [encoder.encode(item) for item in args]
        named = {key: encoder.encode(item) for key, item in kwargs.items()}
        answer = self._peer.ask([number, positional, named])
        if "x" in answer:
            found = getattr(builtins, str(answer["x"][0]), None)
            kind = found if isinstance(found, type) and issubclass(found, Exception) else CallbackError
            raise kind(*decoder.decode(answer["x"][1]))
        return decoder.decode(answer["v"])

    def _described(self, error: BaseException) -> dict[str, Any]:
        text = "<unreadable>"
        with contextlib.suppress(BaseException):  # an error's own methods may be hostile or broken
            text = str(error)[:_TEXT]
        export = self._objects.export
        return {"class": export(type(error)), "text": text, "value": export(error)}


def _child(connection: socket.socket, module: str, profile: str) -> None:
    """One connection's whole life; never returns into the server's loop."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if not connection.recv(1, socket.MSG_PEEK):
            code = 0  # somebody only looked whether we are here
        elif profile:
            from proctor.programs.inside.profiled import profiling

            with profiling(profile):
                LibraryServer(connection, module).serve()
            code = 0
        else:
            LibraryServer(connection, module).serve()
            code = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _end(child: int, grace: float) -> None:
    """A child whose connection is closed leaves by itself, unless it is stuck."""
    import time

    deadline = time.monotonic() + grace
    with contextlib.suppress(ChildProcessError, ProcessLookupError):
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return
            time.sleep(0.002)


def main(port: str, folder: str, module: str, profile: str = "") -> None:
    """Serve connections one after the other, each in a process of its own."""
    sys.path.insert(0, folder)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(port)))
    listener.listen(8)
    previous = 0
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if previous:
            _end(previous, 5.0 if profile else 0.05)
        previous = os.fork()
        if previous == 0:
            listener.close()
            _child(connection, module, profile)
        connection.close()
