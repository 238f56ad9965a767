"""A supervisor in a thread of this process, where its every step can be seen."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from proctor.domain.sandbox import Check, Program, SandboxLimits, SandboxResult, Verdict
from proctor.sandboxes.inside.frames import ENDING, Channel, ChannelClosedError
from proctor.sandboxes.inside.supervisor import Supervisor
from proctor.sandboxes.inside.watching import HarnessGoneError
from proctor.sandboxes.orders import check_order, execution_of, program_order, verdict_of
from proctor.sandboxes.pool import SandboxPool


class SupervisorClient:
    """Asks a supervisor in the same words as a slot does."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def ask(self, order: dict[str, Any]) -> dict[str, Any]:
        self.tell(order)
        while (frame := self._channel.receive()) == ENDING:
            pass
        answer: dict[str, Any] = json.loads(frame)
        return answer

    def tell(self, order: dict[str, Any]) -> None:
        self._channel.send(json.dumps(order).encode())

    def run(self, program: Program, limits: SandboxLimits) -> SandboxResult:
        return execution_of(self.ask(program_order(program, limits, "python3")), {})

    def check(self, check: Check, limits: SandboxLimits) -> Verdict:
        return verdict_of(self.ask(check_order(check, limits)), check, {})


@contextmanager
def supervisor(pool: SandboxPool, **changes: Any) -> Iterator[SupervisorClient]:
    """The supervisor a slot of this backend would have; hanging up ends it, and its thread with it."""
    ours, theirs = socket.socketpair()
    supervisor = Supervisor(theirs.fileno(), {**pool.config, **changes})

    def serve() -> None:
        try:
            supervisor.serve()
        except (ChannelClosedError, HarnessGoneError):
            pass
        finally:
            supervisor.close()
            theirs.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield SupervisorClient(Channel(ours.fileno(), limit=1 << 30))
    finally:
        ours.close()
        thread.join(60)
        assert not thread.is_alive()
