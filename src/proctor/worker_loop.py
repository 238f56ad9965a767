"""The inside of a worker process: reads questions, writes answers, ends with the process that started it."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable

from proctor.sandboxes.inside.frames import MAX_LENGTH, Channel, ChannelClosedError
from proctor.worker_process import LIMIT, READY

_GONE = 70
"""The exit code when nobody is left to answer."""


def answer_questions(answer: Callable[[bytes], bytes], get_ready: Callable[[], None]) -> None:
    """Answer each question on standard input until it ends; `get_ready` is on nobody's time.

    A question that takes more processor time than it may ends the process by a signal, whatever it is doing.
    """
    channel = Channel(0, os.dup(1), limit=MAX_LENGTH)
    os.dup2(2, 1)  # whatever libraries print must not be taken for an answer
    threading.Thread(target=_end_with_parent, daemon=True).start()
    get_ready()
    channel.send(READY)
    while True:
        try:
            message = channel.receive()
        except ChannelClosedError:
            return
        (seconds,) = LIMIT.unpack_from(message)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        said = answer(message[LIMIT.size :])
        signal.setitimer(signal.ITIMER_PROF, 0)
        channel.send(said)


def _end_with_parent() -> None:
    """End at once when standard input has no other end any more: an answer may take minutes, for nobody."""
    poll = select.poll()
    poll.register(0, 0)  # hanging up is always told
    poll.poll()
    os._exit(_GONE)
