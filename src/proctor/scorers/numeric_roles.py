"""What a number is in its sentence: a result, what is said, or only a circumstance or known."""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from proctor.scorers.contrast import is_ruled_out_after
from proctor.scorers.numbers import FoundNumber
from proctor.scorers.numeric_patterns import (
    CIRCUMSTANCE,
    KNOWN,
    MEANWHILE,
    MISSED,
    OBJECT,
    RATE,
    RESULT,
    UNFINISHED,
)
from proctor.scorers.stance import is_hypothetical, is_supposed

MAX_SHORT = 120
"""A longer response says more than its answer."""


class NumberRole(IntEnum):
    """What a number is in its sentence; the least of them is the likeliest answer."""

    RESULT = 0
    """'= 18'."""
    SAID = 1
    RATE = 2
    """'20 pages a day'."""
    CIRCUMSTANCE = 3
    """'over 3 months', 'in 2019', 'after 4 hours'."""
    CIRCUMSTANTIAL_RATE = 4
    """'at 20 pages a day'."""
    KNOWN = 5
    """'for the 16 glasses', '14 of the 20', '33, not 36'."""


@lru_cache(maxsize=1024)
def role_of(text: str, number: FoundNumber) -> NumberRole:
    before = text[max(0, number.start - 60) : number.start].rstrip("*_")
    if number.text[0] in "$€£":
        before += number.text[0]
    if RESULT.search(before) and not UNFINISHED.match(text, number.end):
        return NumberRole.RESULT
    before = before[-24:]
    if (KNOWN.search(before) and not OBJECT.search(before)) or is_ruled_out_after(text, number.end):
        return NumberRole.KNOWN
    if is_supposed(text, number.start, number.end) or MISSED.match(text, number.end):
        return NumberRole.KNOWN
    if is_hypothetical(text, number.start, number.end):
        return NumberRole.KNOWN
    is_rate = RATE.match(text, number.end) is not None
    if CIRCUMSTANCE.search(before) or MEANWHILE.match(text, number.end):
        return NumberRole.CIRCUMSTANTIAL_RATE if is_rate else NumberRole.CIRCUMSTANCE
    return NumberRole.RATE if is_rate else NumberRole.SAID
