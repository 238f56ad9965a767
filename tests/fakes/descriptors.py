"""Open files, as a run with many connections has them."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

LAST = 1_100
"""Above what `select` can wait for."""


@contextmanager
def many_open_files() -> Iterator[None]:
    """What is opened inside gets a descriptor above 1,023."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2 * LAST)), hard))
    held = [os.open(os.devnull, os.O_RDONLY)]
    try:
        while held[-1] < LAST:
            held.append(os.dup(held[0]))
        yield
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
