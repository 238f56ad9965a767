"""What a checker itself may use: a program that hands over values without end fails its check, and fills no machine."""

from __future__ import annotations

import resource
import traceback

MAX_BYTES = 2 << 30
"""Of address space, which is more than memory: threads and libraries reserve some and never use it."""


def limit() -> None:
    """Hold this process to it; whoever set a lower limit before is heard."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MAX_BYTES if hard == resource.RLIM_INFINITY else min(MAX_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def used_up(error: MemoryError) -> str:
    """What is to be said of it; what the frames it came through held is let go first, to have room for saying so."""
    traceback.clear_frames(error.__traceback__)
    return f"what the program handed over does not fit into the {MAX_BYTES >> 20} MiB of its checker"
