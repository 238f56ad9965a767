"""Strengths from preferences (Bradley–Terry): who was preferred to whom becomes one rating for each, with an interval.

Ratings are on the scale of Elo: 400 points more are odds of 10 to 1. 1000 is the mean of those ranked. A tie counts as
half a win. Each also ties once with an imagined opponent of the mean strength, or whoever only won would be infinitely
strong; with few votes that draws ratings together, and says so by wide intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from msgspec import Struct

from proctor.metrics.compare import holm
from proctor.metrics.distributions import normal_cdf, normal_quantile
from proctor.metrics.intervals import LEVEL
from proctor.metrics.power import ALPHA
from proctor.metrics.ranking import Rank, rank_by

MEAN_RATING = 1000.0
POINTS = 400 / math.log(10)
MAX_STEPS = 100
CLOSE = 1e-10

Matrix = list[list[float]]


class Duel(Struct, frozen=True):
    """Two that were held against one another."""

    first: str
    second: str
    credit: float
    """1 where the first was preferred, 0 where the second was, 0.5 for a tie."""


class Strength(Struct, frozen=True):
    name: str
    rating: float
    low: float
    high: float
    rank: Rank
    wins: int
    ties: int
    losses: int
    votes: int
    """How many votes it was part of."""


def rank_preferred(votes: Sequence[Sequence[Duel]]) -> list[Strength]:
    """Everybody in these votes, the strongest first; the duels of one vote are not taken for independent."""
    names = sorted({name for vote in votes for duel in vote for name in (duel.first, duel.second)})
    if not names:
        return []
    place = {name: index for index, name in enumerate(names)}
    strengths = _fit(len(names), [(place[d.first], place[d.second], d.credit) for vote in votes for d in vote])
    spread = _Spread(strengths, [[(place[d.first], place[d.second], d.credit) for d in vote] for vote in votes])
    mean = math.fsum(strengths) / len(names)
    quantile = normal_quantile((1 + LEVEL) / 2)
    ranks = {rank.name: rank for rank in _ranks(names, strengths, spread)}
    found = []
    for index, name in enumerate(names):
        rating = MEAN_RATING + POINTS * (strengths[index] - mean)
        reach = quantile * POINTS * spread.error([(other == index) - 1 / len(names) for other in range(len(names))])
        received = [_credit(duel, name) for vote in votes for duel in vote if name in (duel.first, duel.second)]
        wins, ties, losses = (sum(credit == value for credit in received) for value in (1, 0.5, 0))
        among = sum(any(name in (duel.first, duel.second) for duel in vote) for vote in votes)
        found.append(Strength(name, rating, rating - reach, rating + reach, ranks[name], wins, ties, losses, among))
    return sorted(found, key=lambda one: (-one.rating, one.name))


def _credit(duel: Duel, name: str) -> float:
    return duel.credit if duel.first == name else 1 - duel.credit


def _ranks(names: Sequence[str], strengths: Sequence[float], spread: _Spread) -> list[Rank]:
    pairs = list(combinations(range(len(names)), 2))
    p_values = []
    for a, b in pairs:
        error = spread.error([(other == a) - (other == b) for other in range(len(names))])
        p_values.append(2 * normal_cdf(-abs(strengths[a] - strengths[b]) / error))
    shown = {pair for pair, p in zip(pairs, holm(p_values), strict=True) if p < ALPHA}
    values = dict(zip(names, strengths, strict=True))
    told = {
        (names[a], names[b]) if strengths[a] > strengths[b] else (names[b], names[a]) for a, b in shown
    }  # fmt: skip
    return rank_by(values, lambda a, b: (a, b) in told)


def _fit(count: int, duels: Sequence[tuple[int, int, float]]) -> list[float]:
    """The likeliest strengths, by Newton's method; steps are halved where they overshoot."""
    strengths = [0.0] * count
    likelihood = _likelihood(strengths, duels)
    for _ in range(MAX_STEPS):
        step = _solve(_information(strengths, duels), _gradient(strengths, duels))
        size = 1.0
        while True:
            tried = [old + size * change for old, change in zip(strengths, step, strict=True)]
            reached = _likelihood(tried, duels)
            if reached >= likelihood - CLOSE or size < CLOSE:
                break
            size /= 2
        strengths, likelihood = tried, reached
        if max(map(abs, step)) < CLOSE:
            break
    return strengths


def _win(gap: float) -> float:
    """The chance of whoever is so much stronger."""
    return 1 / (1 + math.exp(-gap)) if gap >= 0 else math.exp(gap) / (1 + math.exp(gap))


def _log_win(gap: float) -> float:
    return -math.log1p(math.exp(-gap)) if gap >= 0 else gap - math.log1p(math.exp(gap))


def _likelihood(strengths: Sequence[float], duels: Sequence[tuple[int, int, float]]) -> float:
    imagined = math.fsum(0.5 * (_log_win(value) + _log_win(-value)) for value in strengths)
    return imagined + math.fsum(
        credit * _log_win(strengths[a] - strengths[b]) + (1 - credit) * _log_win(strengths[b] - strengths[a])
        for a, b, credit in duels
    )


def _gradient(strengths: Sequence[float], duels: Sequence[tuple[int, int, float]]) -> list[float]:
    found = [0.5 - _win(value) for value in strengths]
    for a, b, credit in duels:
        surprise = credit - _win(strengths[a] - strengths[b])
        found[a] += surprise
        found[b] -= surprise
    return found


def _information(strengths: Sequence[float], duels: Sequence[tuple[int, int, float]]) -> Matrix:
    count = len(strengths)
    found = [[0.0] * count for _ in range(count)]
    for index, value in enumerate(strengths):
        found[index][index] = _win(value) * _win(-value)
    for a, b, _ in duels:
        weight = _win(strengths[a] - strengths[b]) * _win(strengths[b] - strengths[a])
        found[a][a] += weight
        found[b][b] += weight
        found[a][b] -= weight
        found[b][a] -= weight
    return found


class _Spread:
    """How far off sums of strengths may be: by the model, or by how much the votes differ, whichever says more."""

    def __init__(self, strengths: Sequence[float], votes: Sequence[Sequence[tuple[int, int, float]]]) -> None:
        self._information = _information(strengths, [duel for vote in votes for duel in vote])
        self._surprises: list[list[tuple[int, float]]] = []
        for vote in votes:
            found: dict[int, float] = {}
            for a, b, credit in vote:
                surprise = credit - _win(strengths[a] - strengths[b])
                found[a] = found.get(a, 0.0) + surprise
                found[b] = found.get(b, 0.0) - surprise
            self._surprises.append(list(found.items()))

    def error(self, weights: Sequence[float]) -> float:
        """The standard error of the weighted sum."""
        solved = _solve(self._information, weights)
        by_model = math.fsum(weight * value for weight, value in zip(weights, solved, strict=True))
        by_votes = math.fsum(
            math.fsum(solved[index] * surprise for index, surprise in vote) ** 2 for vote in self._surprises
        )
        return math.sqrt(max(by_model, by_votes, 0.0)) or CLOSE


def _solve(matrix: Matrix, right: Sequence[float]) -> list[float]:
    """The solution for a symmetric matrix whose diagonal outweighs the rest: no pivot is needed."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    count = len(rows)
    for index in range(count):
        pivot = rows[index]
        for other in rows[index + 1 :]:
            if factor := other[index] / pivot[index]:
                for column in range(index, count + 1):
                    other[column] -= factor * pivot[column]
    found = [0.0] * count
    for index in reversed(range(count)):
        row = rows[index]
        known = math.fsum(row[column] * found[column] for column in range(index + 1, count))
        found[index] = (row[count] - known) / row[index]
    return found
