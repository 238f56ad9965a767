from __future__ import annotations

import os
import socket

from proctor.sandboxes.inside.watching import Supervised


def test_a_descriptor_that_got_the_number_of_a_closed_pipe_is_not_drained() -> None:
    """It was read for ever: the listener for refused calls stays readable when every process is dead."""
    harness, other = socket.socketpair()
    with harness, other, Supervised(harness.fileno(), {"wall_seconds": 5, "output_bytes": 1_000}) as run:
        run.streams(b"")
        run.close_given()  # nobody writes: both streams end
        while run._step(0):
            pass
        opened = [os.dup(other.fileno()) for _ in range(8)]
        harness.send(b"x")
        called: list[int] = []
        for number in opened:
            run._watch(number, called.append)
        run._drain()
        assert called == []
        for number in opened:
            run._unwatch(number)
            os.close(number)
