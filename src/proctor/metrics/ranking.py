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
from proctor.metrics.compare import Comparison, correct, holm
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


def rank_paired(values: Mapping[str, float], comparisons: Iterable[Comparison]) -> list[Rank]:
    """Ranks from paired comparisons of systems; a pair that was not compared is a pair not told apart."""
    winners = {(one.better, _other(one)) for one in correct(list(comparisons)) if one.better is not None}
    return _rank(values, lambda a, b: (a, b) in winners)


def _other(comparison: Comparison) -> str:
    first, second = comparison.names
    return second if comparison.better == first else first


def rank_unpaired(estimates: Mapping[str, Estimate]) -> list[Rank]:
    """Ranks from separate estimates, where samples are not shared; systems without a value are left out.

    On shared samples `rank_paired` tells far more systems apart.
    """
    values = {name: one.value for name, one in estimates.items() if one.value is not None}
    pairs = list(combinations(values, 2))
    p_values = []
    for a, b in pairs:
        error = math.hypot(_stderr(estimates[a]), _stderr(estimates[b]))
        p_values.append(2 * normal_cdf(-abs(values[a] - values[b]) / error))
    shown = {pair for pair, p in zip(pairs, holm(p_values), strict=True) if p < ALPHA}
    return _rank(values, lambda a, b: values[a] > values[b] and ((a, b) in shown or (b, a) in shown))


def _stderr(estimate: Estimate) -> float:
    """The standard error, or the one the interval implies where the values had no spread."""
    if estimate.stderr:
        return estimate.stderr
    if estimate.low is None or estimate.high is None:
        return math.inf
    return (estimate.high - estimate.low) / (2 * normal_quantile((1 + LEVEL) / 2)) or math.inf


def _rank(values: Mapping[str, float], beats: Callable[[str, str], bool]) -> list[Rank]:
    ranks = []
    for name, value in values.items():
        place = 1 + sum(other > value for other in values.values())
        best = 1 + sum(beats(other, name) for other in values if other != name)
        worst = len(values) - sum(beats(name, other) for other in values if other != name)
        ranks.append(Rank(name, value, place, best, worst))
    return sorted(ranks, key=lambda rank: (rank.place, rank.best, rank.worst, rank.name))
