"""Stops whoever guesses passwords, by where he comes from: nobody can lock out somebody else by failing in his name."""

from __future__ import annotations

from proctor.accounts.counters import Counters, MemoryCounters
from proctor.domain.errors import TooManyTriesError

WINDOW_SECONDS = 900.0
OF_ADDRESS = 30
"""Failures from one address, whatever the names."""
OF_NAME = 8
"""Failures from one address with one name."""


class GuessLimit:
    """Counted in this process's memory, or by all processes of a server together."""

    def __init__(self, counters: Counters | None = None) -> None:
        self._counters = counters or MemoryCounters()

    def check(self, name: str, address: str) -> None:
        """Raises TooManyTriesError for an address that has failed too often; asked before a password is looked at."""
        for key, most in ((_of_address(address), OF_ADDRESS), (_of_name(name, address), OF_NAME)):
            count, left = self._counters.read(key)
            if count >= most:
                minutes = max(1, round(left / 60))
                raise TooManyTriesError(f"Too many failed tries from here. Try again in {minutes} minutes.", left)

    def failed(self, name: str, address: str) -> None:
        for key in (_of_address(address), _of_name(name, address)):
            self._counters.add(key, WINDOW_SECONDS, is_sliding=True)

    def succeeded(self, name: str, address: str) -> None:
        self._counters.forget(_of_name(name, address))


def _of_address(address: str) -> str:
    return f"guesses {address}"


def _of_name(name: str, address: str) -> str:
    return f"guesses {address} {name}"
