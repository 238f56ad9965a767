"""Counts failed logins by name and locks a name after too many in a row."""

import math
import threading
import time
from collections.abc import Callable

MOST_FAILURES = 5
LOCK_SECONDS = 3.0


class GuessingLock:
    """Five failures in a row lock a name for a while, whether there is such an account or not."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, tuple[int, float]] = {}
        self._mutex = threading.Lock()

    def wait_seconds(self, name: str) -> int:
        """Whole seconds until the name may log in again; 0 when it may now."""
        with self._mutex:
            count, latest = self._failures.get(name, (0, 0.0))
            if count < MOST_FAILURES:
                return 0
            left = latest + LOCK_SECONDS - self._clock()
            return max(1, math.ceil(left))

    def fail(self, name: str) -> None:
        """Count a failure."""
        with self._mutex:
            count, _ = self._failures.get(name, (0, 0.0))
            self._failures[name] = (count + 1, self._clock())

    def forget(self, name: str) -> None:
        """Forget what was counted."""
        with self._mutex:
            self._failures.pop(name, None)
