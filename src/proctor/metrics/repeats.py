"""What several answers of one model to the same sample say together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from math import comb, fsum

from msgspec import Struct

from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.intervals import MeanAccumulator


class SampleRepeats(Struct, frozen=True):
    """One sample's epochs: their scores, what each answers (None where nothing could be read), and whole responses."""

    sample_id: str
    values: tuple[float, ...]
    answers: tuple[str | None, ...] = ()
    category: str | None = None
    group: str | None = None
    texts: tuple[str, ...] = ()

    def right(self, threshold: float = 1.0) -> int:
        """How many repeats reached the threshold."""
        return sum(value >= threshold for value in self.values)


def _check(n: int, right: int, k: int) -> None:
    if not 1 <= k <= n or not 0 <= right <= n:
        raise ValueError(f"cannot draw {k} of {n} repeats with {right} right ones")


def pass_at_k(n: int, right: int, k: int) -> float:
    """The chance that at least one of k repeats, drawn from n without returning them, is right (Chen et al. 2021)."""
    _check(n, right, k)
    return (comb(n, k) - comb(n - right, k)) / comb(n, k)


def pass_all_k(n: int, right: int, k: int) -> float:
    """The chance that all of k repeats, drawn from n without returning them, are right: pass^k (Yao et al. 2024)."""
    _check(n, right, k)
    return comb(right, k) / comb(n, k)


def majority_at_k(answers: Sequence[str | None], values: Sequence[float], k: int) -> float:
    """The expected score of the most frequent of k answers drawn from these; ties are settled by lot.

    An unreadable answer (None) is a vote of its own: no other agrees with it, and it is never right.
    """
    if len(answers) != len(values):
        raise ValueError("each answer needs its score")
    _check(len(answers), 0, k)
    votes = Counter(answer for answer in answers if answer is not None)
    alone = [1] * (len(answers) - votes.total())
    worth = {name: fsum(v for a, v in zip(answers, values, strict=True) if a == name) / votes[name] for name in votes}
    if k == len(answers):  # there is only one hand
        most = max([*votes.values(), *alone])
        winners = [worth[name] for name, count in votes.items() if count == most]
        return fsum(winners) / (len(winners) + (len(alone) if most == 1 else 0))
    return fsum(worth[name] * _chance_to_win(name, votes, alone, k) for name in votes if worth[name])


def _chance_to_win(name: str, votes: Counter[str], alone: Sequence[int], k: int) -> float:
    """The chance that `name` has the most votes among k draws, counting a tie of t as one in t."""
    others = [*(count for other, count in votes.items() if other != name), *alone]
    won, all_hands = 0.0, comb(votes[name] + sum(others), k)
    for most in range(1, min(k, votes[name]) + 1):
        # ways[drawn, tied]: how many hands of the others leave none of them with more than `most` votes.
        ways = {(most, 1): comb(votes[name], most)}
        for count in others:
            ways = _with_another(ways, count, most, k)
        won += fsum(hands / (tied * all_hands) for (drawn, tied), hands in ways.items() if drawn == k)
    return won


def _with_another(ways: dict[tuple[int, int], int], count: int, most: int, k: int) -> dict[tuple[int, int], int]:
    following: dict[tuple[int, int], int] = {}
    for (drawn, tied), hands in ways.items():
        for votes in range(min(count, most, k - drawn) + 1):
            state = (drawn + votes, tied + (votes == most))
            following[state] = following.get(state, 0) + hands * comb(count, votes)
    return following


def agreement(answers: Sequence[str | None]) -> float | None:
    """The share of pairs of repeats with the same answer; unreadable ones agree with nothing; None below two."""
    if len(answers) < 2:
        return None
    counts = Counter(answer for answer in answers if answer is not None)
    return sum(comb(count, 2) for count in counts.values()) / comb(len(answers), 2)


def similarity(answers: Sequence[str | None], alike: Callable[[str, str], float]) -> float | None:
    """The mean of `alike` over pairs of repeats; a pair with an unreadable answer counts 0; None below two repeats."""
    if len(answers) < 2:
        return None
    found = [0.0 if a is None or b is None else alike(a, b) for a, b in combinations(answers, 2)]
    return fsum(found) / len(found)


def shared_words(a: str, b: str) -> float:
    """How much two texts share, as the F1 of their words, each counted as often as it stands; 1 for the same words."""
    if a == b:
        return 1.0
    left, right = Counter(a.casefold().split()), Counter(b.casefold().split())
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0


def estimate_repeats(
    samples: Iterable[SampleRepeats], measures: Mapping[str, Callable[[SampleRepeats], float | None]]
) -> dict[str, Estimate]:
    """The mean of each measure over samples, with its interval; samples it cannot measure are left out of its n.

    For example `estimate_repeats(samples, {"pass@5": lambda s: pass_at_k(len(s.values), s.right(), 5)})`.
    """
    means = {name: MeanAccumulator() for name in measures}
    for sample in samples:
        for name, measure in measures.items():
            value = measure(sample)
            if value is not None:
                means[name].add(SampleScore(sample.sample_id, value, sample.category, sample.group))
    return {name: mean.estimate() for name, mean in means.items()}
