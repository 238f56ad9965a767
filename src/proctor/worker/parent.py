"""Ties a process to the one that started it: however that ends, nothing of it is left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

SET_PDEATHSIG = 1
GONE = 71
"""The exit code of a process whose parent was gone before it could be tied to it."""


def die_with(parent: int) -> None:
    """Be killed by the kernel when the process `parent`, which forked this one, ends; on Linux only.

    A lost parent's children would ring, and hold chunks, for nobody. What they were doing is taken up by others.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), *[ctypes.c_ulong(0)] * 3):
        raise OSError(ctypes.get_errno(), "this process cannot be tied to its parent")
    if os.getppid() != parent:  # it ended before this process had asked to hear of it
        os._exit(GONE)
