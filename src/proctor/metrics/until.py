"""Rules that stop a run early: `ci<0.02` and `decided`."""

from __future__ import annotations

import re

from msgspec import Struct

from proctor.domain.errors import PlanError, did_you_mean

DECIDED = "decided"
_WIDTH = re.compile(r"ci\s*<\s*(?P<number>[0-9]*\.?[0-9]+(?:e-?[0-9]+)?)\s*(?P<percent>%?)", re.IGNORECASE)


class Until(Struct, frozen=True):
    """Stop when the interval, from end to end, is narrower than `width`; without one, when a difference is decided."""

    width: float | None = None

    @property
    def is_about_difference(self) -> bool:
        """Whether the rule watches the paired difference of two models instead of one model's score."""
        return self.width is None

    def is_met(self, *intervals: tuple[float, float]) -> bool:
        """Whether each of them says so: the intervals of several ways to count the same answers."""
        if self.width is None:
            return all(low > 0 for low, _ in intervals) or all(high < 0 for _, high in intervals)
        return all(high - low < self.width for low, high in intervals)

    def __str__(self) -> str:
        return DECIDED if self.width is None else f"ci<{self.width:g}"


def parse_until(text: str) -> Until:
    """Read a stop rule; anything else is an error that says what can be written."""
    word = text.strip()
    if word.lower() == DECIDED:
        return Until()
    match = _WIDTH.fullmatch(word)
    if match is None:
        hint = did_you_mean(word.lower(), (DECIDED, "ci<0.02"))
        raise PlanError(
            f"cannot read the stop rule {text!r}: write 'ci<0.02' (the interval is narrower than 0.02, end to end) or "
            f"'{DECIDED}' (one model is better than another).{hint}"
        )
    width = float(match["number"]) / (100 if match["percent"] else 1)
    if not 0 < width < 1:
        raise PlanError(
            f"cannot stop at {text!r}: the width of an interval of scores lies between 0 and 1, as in 'ci<0.02'"
        )
    return Until(width)
