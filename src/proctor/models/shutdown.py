"""Let the HTTP library's thread come to rest before the interpreter goes.

Its runtime is a thread of its own that takes Python's lock to hand over results. One that waits for the lock while the
interpreter ends aborts the whole process, exit code included: seen in one of eight short runs on Python 3.11.
"""

from __future__ import annotations

import atexit
import time
from functools import cache
from pathlib import Path

THREAD_NAME = "pyreqwest"
PAUSE_SECONDS = 0.004
CALM = 4
"""How many looks in a row must find the thread asleep."""
MOST_LOOKS = 250


@cache
def settle_at_exit() -> None:
    """Register once, however many clients are opened."""
    atexit.register(settle)


def settle() -> None:
    """Give the lock away until the thread has nothing more to do with it, for a second at most."""
    calm = 0
    for _ in range(MOST_LOOKS):
        time.sleep(PAUSE_SECONDS)
        calm = calm + 1 if _is_asleep() else 0
        if calm >= CALM:
            return


def _is_asleep() -> bool:
    """Whether no thread of the library is running; where threads cannot be looked at, the pauses alone must do."""
    try:
        return not any(_is_busy(task) for task in Path("/proc/self/task").iterdir())
    except OSError:
        return True


def _is_busy(task: Path) -> bool:
    try:
        name, _, rest = (task / "stat").read_text().partition("(")[2].rpartition(")")
    except OSError:
        return False
    return name.startswith(THREAD_NAME) and not rest.strip().startswith("S")
