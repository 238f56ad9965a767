"""A score corrected by people's marks of a few answers: prediction-powered inference (Angelopoulos and others, 2023).

A scorer's marks of all samples are cheap and may be biased; people's marks of a random draw are dear and are what is
meant. The mean of the first is corrected by how far the two differ where there are both, so it holds whatever the
scorer does, and its interval is narrower than that of the people's marks alone as far as the scorer is any good.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from proctor.domain.estimate import Estimate
from proctor.metrics.intervals import t_interval

MIN_MARKED = 30
"""Marks from which there is an estimate: with fewer its interval would not hold."""
METHOD = "prediction-powered"

# One disagreement each way that was not seen: without them, marks that all agree would promise certainty.
UNSEEN = ((1.0, 0.0), (0.0, 1.0))


def prediction_powered_mean(marked: Sequence[tuple[float, float]], rest: Sequence[float]) -> Estimate:
    """The mean of what people would say of all samples.

    `marked` has the scorer's value and the people's of each sample of a random draw, `rest` the scorer's values of all
    others. Without enough marks it has no value; `n` is their number.
    """
    n = len(marked)
    if n < MIN_MARKED:
        return Estimate(None, n)
    trust = _trust(marked, len(rest)) if rest else 0.0
    mean = fmean(person - trust * scorer for scorer, person in marked)
    corrections = [person - trust * scorer for scorer, person in [*marked, *UNSEEN]]
    # Near 0 and 1 an interval around the mean itself would miss the truth too often: its centre has what was not seen.
    centre, variance = fmean(corrections), _variance(corrections) / n
    if rest:
        scores = [*rest, 0.0, 1.0]
        mean += trust * fmean(rest)
        centre += trust * fmean(scores)
        variance += trust**2 * _variance(scores) / len(rest)
    stderr = math.sqrt(variance)
    mean = min(1.0, max(0.0, mean))
    low, high = t_interval(centre, stderr, n - 1)
    return Estimate(mean, n, stderr, max(0.0, min(low, mean)), min(1.0, max(high, mean)), METHOD)


def _trust(marked: Sequence[tuple[float, float]], others: int) -> float:
    """How much of the scorer's mean is used, from 0 to 1: as much as makes the interval narrowest."""
    pairs = [*marked, *UNSEEN]
    mean = fmean(scorer for scorer, _ in pairs)
    centre = fmean(person for _, person in pairs)
    covariance = fmean((scorer - mean) * (person - centre) for scorer, person in pairs)
    spread = fmean((scorer - mean) ** 2 for scorer, _ in pairs)
    return min(1.0, max(0.0, covariance / ((1 + len(marked) / others) * spread)))


def _variance(values: Sequence[float]) -> float:
    mean = fmean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
