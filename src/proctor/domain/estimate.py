"""A number that says how sure it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """`value` is None when nothing was measured; the interval is the 95 % one."""

    value: float | None
    n: int
    stderr: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""


@dataclass(frozen=True, slots=True)
class SampleScore:
    """What metrics read: one sample's scores, averaged over its epochs."""

    sample_id: str
    value: float
    category: str | None = None
    group: str | None = None
    weight: int = 1
    """How many things of one kind the score is the share of; a score of three instructions weighs three."""
