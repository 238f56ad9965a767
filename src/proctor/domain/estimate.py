"""A number that says how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Estimate(Struct, frozen=True):
    """`value` is None when nothing was measured; the interval is the 95 % one."""

    value: float | None
    n: int
    stderr: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    classes: Mapping[str, Mapping[str, Any]] | None = None
    """What the value is the mean of, class by class, where it is one."""

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)


class SampleScore(Struct, frozen=True):
    """What metrics read: one sample's scores, averaged over its epochs."""

    sample_id: str
    value: float
    category: str | None = None
    group: str | None = None
    weight: int = 1
    """How many things of one kind the score is the share of; a score of three instructions weighs three."""
    target: str | None = None
    """The class that was expected; only for metrics that read answers."""
    answers: tuple[str | None, ...] = ()
    """The class that each epoch answered, None where it named none; only for metrics that read answers."""
