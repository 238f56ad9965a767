"""No sandbox: limits only. Chosen by an explicit flag alone, and said in every result."""

from __future__ import annotations

import os
import sys

from proctor.sandboxes.cold import bootstrap, cold_pool
from proctor.sandboxes.pool import SandboxPool

NAME = "none"


def create(*, parallel: int | None = None) -> SandboxPool:
    """Code runs as this user, with this user's files and network; only time, memory and output are limited."""
    return cold_pool(
        NAME,
        [],
        python=os.path.realpath(sys.executable),
        inside=bootstrap(),
        is_carrying=True,
        parallel=parallel,
        is_isolated=False,
        is_filtered=False,
        is_hosted=True,
        syscalls="allowed",
    )
