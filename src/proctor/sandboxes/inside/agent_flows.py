"""Connections from outside to what listens in a workspace, carried over the agent's own channel."""

from __future__ import annotations

import errno
import os
import select
import socket
from collections.abc import Callable
from typing import Any

MAX_FLOWS = 256
WINDOW = 1 << 20
"""What may be on its way in either direction before the other side has taken it."""
_READ = 1 << 16

Tell = Callable[[dict[str, Any], bytes], None]
Watch = Callable[[int, Callable[[int], None], int], None]


class Flow:
    def __init__(self, number: int, order: int) -> None:
        self.number = number
        self.order: int | None = order
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pending = bytearray()
        self.waiting: list[int] = []
        """Orders to be answered once the service has taken what they brought."""
        self.is_open = False
        self.is_ending = False
        self.is_heard = False
        """The service has said everything."""
        self.credit = WINDOW


class Flows:
    """Every connection into the workspace; programs inside are only ever spoken to as by any client."""

    def __init__(self, tell: Tell, watch: Watch, unwatch: Callable[[int], None]) -> None:
        self._tell, self._watch, self._unwatch = tell, watch, unwatch
        self._flows: dict[int, Flow] = {}

    def connect(self, head: dict[str, Any], _: bytes) -> tuple[dict[str, Any], bytes] | None:
        """Answered when somebody listens there, or nobody does."""
        if len(self._flows) >= MAX_FLOWS:
            return {"is_open": False}, b""
        flow = Flow(head["flow"], head["id"])
        code = flow.socket.connect_ex((head.get("host", "127.0.0.1"), head["port"]))
        if code not in (0, errno.EINPROGRESS):
            flow.socket.close()
            return {"is_open": False}, b""
        self._flows[flow.number] = flow
        self._renew(flow)
        return None

    def pour(self, head: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes] | None:
        """Bytes for the service, or their end; answered when it has taken most of them."""
        flow = self._flows.get(head["flow"])
        if flow is None:
            return {}, b""
        flow.pending += body
        flow.is_ending = flow.is_ending or not body
        flow.waiting.append(head["id"])
        self._write(flow)
        return None

    def taken(self, head: dict[str, Any], _: bytes) -> tuple[dict[str, Any], bytes]:
        """The harness has passed on so much; or wants no more when it is nothing."""
        flow = self._flows.get(head["flow"])
        if flow is not None and not head["count"]:
            self._close(flow)
        elif flow is not None:
            flow.credit += head["count"]
            self._renew(flow)
        return {}, b""

    def _renew(self, flow: Flow) -> None:
        events = 0
        if not flow.is_open or flow.pending:
            events |= select.POLLOUT
        if flow.is_open and not flow.is_heard and flow.credit > 0:
            events |= select.POLLIN
        if events:
            self._watch(flow.socket.fileno(), lambda happened: self._on_event(flow, happened), events)
        else:
            self._unwatch(flow.socket.fileno())

    def _on_event(self, flow: Flow, events: int) -> None:
        if not flow.is_open:
            self._opened(flow)
            return
        if events & select.POLLOUT:
            self._write(flow)
        if events & (select.POLLIN | select.POLLHUP | select.POLLERR) and flow.number in self._flows:
            self._read(flow)

    def _opened(self, flow: Flow) -> None:
        code = flow.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        order, flow.order = flow.order, None
        flow.is_open = code == 0
        self._tell({"id": order, "is_open": flow.is_open}, b"")
        if flow.is_open:
            self._renew(flow)
        else:
            self._close(flow)

    def _write(self, flow: Flow) -> None:
        try:
            while flow.is_open and flow.pending:
                del flow.pending[: flow.socket.send(flow.pending[:_READ])]
            if flow.is_open and flow.is_ending and not flow.pending:
                flow.socket.shutdown(socket.SHUT_WR)
                flow.is_ending = False
        except BlockingIOError:
            pass
        except OSError:
            flow.pending.clear()
        if len(flow.pending) <= WINDOW:
            for order in flow.waiting:
                self._tell({"id": order}, b"")
            flow.waiting = []
        self._renew(flow)

    def _read(self, flow: Flow) -> None:
        try:
            data = flow.socket.recv(min(_READ, max(1, flow.credit)))
        except BlockingIOError:
            return
        except OSError:
            self._tell({"flow": flow.number, "is_broken": True}, b"")
            self._close(flow)
            return
        flow.credit -= len(data)
        flow.is_heard = not data
        self._tell({"flow": flow.number}, data)
        self._renew(flow)

    def _close(self, flow: Flow) -> None:
        self._flows.pop(flow.number, None)
        for order in flow.waiting:
            self._tell({"id": order}, b"")
        self._unwatch(flow.socket.fileno())
        flow.socket.close()


def cluster() -> list[Any] | None:
    """Where a pod is told its cluster's API is."""
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    return [host, int(port)] if host and port.isdigit() else None
