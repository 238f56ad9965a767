"""Ranks that admit what is not known.

A system's rank runs from one more than the number of systems shown to be better, to the number of systems not shown to
be worse. All pairs are one family (Holm), so with 95 % confidence every true rank lies in its range at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations

from msgspec import Struct

from proctor.domain.estimate import Estimate
from proctor.metrics.compare import PairedComparison, correct, holm
from proctor.metrics.distributions import normal_cdf, normal_quantile
from proctor.metrics.intervals import LEVEL
from proctor.metrics.power import ALPHA


class Rank(Struct, frozen=True):
    name: str
    value: float
    place: int
    """By value alone; equal values share a place."""
    best: int
    worst: int

    def __str__(self) -> str:
        return str(self.best) if self.best == self.worst else f"{self.best}–{self.worst}"


def rank_paired(values: Mapping[str, float], comparisons: Iterable[PairedComparison]) -> list[Rank]:
    """Ranks from paired comparisons of systems; a pair that was not compared is a pair not told apart.

    Nor is one whose shared samples say the opposite of the values that are shown.
    """
    found = {(one.better, _other(one)) for one in correct(list(comparisons)) if one.better is not None}
    winners = {(better, other) for better, other in found if values[better] >= values[other]}
    return rank_by(values, lambda a, b: (a, b) in winners)


def _other(comparison: PairedComparison) -> str:
    first, second = comparison.names
    return second if comparison.better == first else first


def rank_unpaired(estimates: Mapping[str, Estimate], worst: Mapping[str, float] | None = None) -> list[Rank]:
    """Ranks from separate estimates, where samples are not shared; systems without a value are left out.

    On shared samples `rank_paired` tells far more systems apart. `worst` are the values that some systems have if what
    could not be read is counted as wrong: two are told apart only where the difference is there both ways.
    """
    values = {name: one.value for name, one in estimates.items() if one.value is not None}
    least = {**values, **(worst or {})}
    pairs = list(combinations(values, 2))
    p_values = []
    for a, b in pairs:
        gaps = (values[a] - values[b], least[a] - least[b])
        gap = min(map(abs, gaps)) if gaps[0] * gaps[1] > 0 else 0.0
        better, worse = (a, b) if values[a] > values[b] else (b, a)
        p_values.append(2 * normal_cdf(-gap / _error_between(estimates[better], estimates[worse])) if gap else 1.0)
    shown = {pair for pair, p in zip(pairs, holm(p_values), strict=True) if p < ALPHA}
    return rank_by(values, lambda a, b: values[a] > values[b] and ((a, b) in shown or (b, a) in shown))


def _error_between(better: Estimate, worse: Estimate) -> float:
    """The error of the gap, from how far each interval reaches towards the other value (Zou and Donner, 2008).

    Intervals of shares are not symmetrical, and those of few samples are wider than their standard errors say.
    """
    if better.value is None or better.low is None or worse.value is None or worse.high is None:
        return math.inf
    return math.hypot(better.value - better.low, worse.high - worse.value) / normal_quantile((1 + LEVEL) / 2)


def rank_by(values: Mapping[str, float], beats: Callable[[str, str], bool]) -> list[Rank]:
    """Ranks from values, and from which system was shown to be better than which."""
    ranks = []
    for name, value in values.items():
        place = 1 + sum(other > value for other in values.values())
        best = 1 + sum(beats(other, name) for other in values if other != name)
        worst = len(values) - sum(beats(name, other) for other in values if other != name)
        ranks.append(Rank(name, value, place, best, worst))
    return sorted(ranks, key=lambda rank: (rank.place, rank.best, rank.worst, rank.name))
