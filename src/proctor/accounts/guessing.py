"""Stops whoever guesses passwords, by where he comes from: nobody can lock out somebody else by failing in his name.

Counted in this process's memory: behind several processes each counts for itself.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from proctor.domain.errors import TooManyTriesError

WINDOW_SECONDS = 900.0
OF_ADDRESS = 30
"""Failures from one address, whatever the names."""
OF_NAME = 8
"""Failures from one address with one name."""
MAX_COUNTED = 100_000
"""Places and names that are remembered; the oldest go first."""


class GuessLimit:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._failures: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()

    def check(self, name: str, address: str) -> None:
        """Raises TooManyTriesError for an address that has failed too often; asked before a password is looked at."""
        with self._lock:
            for key, most in (((address, ""), OF_ADDRESS), ((address, name), OF_NAME)):
                count, until = self._failures.get(key, (0, 0.0))
                left = until - self._clock()
                if count >= most and left > 0:
                    minutes = max(1, round(left / 60))
                    raise TooManyTriesError(f"Too many failed tries from here. Try again in {minutes} minutes.", left)

    def failed(self, name: str, address: str) -> None:
        now = self._clock()
        with self._lock:
            for key in ((address, ""), (address, name)):
                count, until = self._failures.pop(key, (0, 0.0))
                self._failures[key] = (1 if until <= now else count + 1, now + WINDOW_SECONDS)
            while len(self._failures) > MAX_COUNTED:
                self._failures.popitem(last=False)

    def succeeded(self, name: str, address: str) -> None:
        with self._lock:
            self._failures.pop((address, name), None)
