"""What a user may choose about a marking."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace


class MarkOptions(Struct, frozen=True):
    """Everything by default; what is left out is recorded as not measured."""

    wheelhouse: Path | None = None
    """A folder with wheels of the packages a program may use."""
    index_url: str | None = None
    """A package index, or a mirror of one, to download such wheels from; without either, pip's own setting counts."""
    packages: Path | None = None
    """A folder where fetched packages are kept for the next time; None keeps none."""
    is_measuring: bool = True
    """Load and profile it. Without them only the checks and the reading of the source are left."""
    is_reading: bool = True
    """Scan and read the source."""
    is_running_own_tests: bool = True
    rounds: int = 3
    """How often the load is measured at least, gold and submission in turn."""
    most_rounds: int = 30
    """On a busy machine there are more rounds, up to so many, until both have shown their speed."""
    test_seconds: float = 60.0
    """What one check may take."""
    check_seconds: float = 600.0
    """What all checks may take together."""
    place_seconds: float = 1800.0

    def checks_only(self) -> MarkOptions:
        """The same, without anything that takes measure or reads the source."""
        return replace(self, is_measuring=False, is_reading=False, is_running_own_tests=False)
