"""Figures out of rounds: what a program has shown, and how it compares with the gold solution's rounds in between."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from proctor.domain.problem import Threshold
from proctor.metrics.distributions import t_quantile
from proctor.programs.marks import MEASURED_AS, NOISE, gold_share, is_within_gold

AGREEING = 3
"""A program has shown its speed when so many of its rounds, the best ones, differ by no more than `NOISE`."""
# A busy machine only ever takes speed away, so the best round is the one that tells most of the program.
TIMED: Mapping[str, Callable[[Iterable[float]], float]] = {
    "work_seconds": min,
    "throughput_rps": max,
    "p50_ms": min,
    "p95_ms": min,
    "p99_ms": min,
    "start_seconds": min,
}
"""The measures that a busy machine makes worse, and which of the rounds is the best."""
_COUNTS: Mapping[str, Callable[[Iterable[float]], float]] = {**TIMED, "peak_memory_mib": max}
CONFIDENCE = 0.95
MIN_PAIRS = 6
"""With fewer, noise that happens to be small looks like none."""
MAX_DOUBT = 0.15
"""By so much may the marks at both ends of a ratio's interval differ."""
_TINY = 1e-9  # load generators may round to nothing

Rounds = Sequence[Mapping[str, float]]


def figures(rounds: Rounds) -> dict[str, float]:
    """What every round has: of some measures the best or the highest, of the others the median."""
    names = set.intersection(*(set(one) for one in rounds)) if rounds else set()
    return {name: round(_COUNTS.get(name, statistics.median)(one[name] for one in rounds), 6) for name in sorted(names)}


def unsettled(rounds: Rounds) -> dict[str, float]:
    """Which measures the best rounds do not agree on, and by what factor they differ; too few rounds agree on none."""
    found: dict[str, float] = {}
    for name, best in TIMED.items():
        values = sorted((one[name] for one in rounds if name in one), reverse=best is max)
        if values:
            better, worse = sorted((values[0], values[AGREEING - 1] if len(values) >= AGREEING else math.inf))
            factor = worse / better if better > 0 else 1.0 if worse == better else math.inf
            if factor > NOISE:
                found[name] = factor
    return found


@dataclass(frozen=True, slots=True)
class PairedRatio:
    """Program ÷ gold over pairs of rounds: the geometric mean, its interval, and the pair that comes nearest to it."""

    ratio: float
    low: float
    high: float
    nearest: tuple[float, float]
    pairs: int

    def is_known(self, threshold: Threshold) -> bool:
        """Whether the interval leaves no doubt about the threshold's mark, nor about a requirement that rests on it."""
        if self.pairs < MIN_PAIRS:
            return False
        if threshold.requirement and is_within_gold(threshold, self.low) != is_within_gold(threshold, self.high):
            return False
        return abs(gold_share(threshold, self.low) - gold_share(threshold, self.high)) <= MAX_DOUBT


def paired_ratio(program: Rounds, gold: Rounds, name: str) -> PairedRatio:
    """What slows both down alike cancels out; there is at least one pair of rounds with this measure.

    Only noise that the gold solution shows, too, widens the interval: a program whose rounds vary more than the gold
    solution's cannot make itself unmeasurable by that.
    """
    pairs = [(one[name], other[name]) for one, other in zip(program, gold, strict=False)]
    logs = [_log_ratio(*pair) for pair in pairs]
    middle, half = statistics.fmean(logs), math.inf
    if len(pairs) > 1:
        # Two rounds of the gold solution, one after the other, differ as much as a pair with an equal program does.
        steps = [_log_ratio(after, before) for (_, before), (_, after) in pairwise(pairs)]
        noise = min(statistics.stdev(logs), math.sqrt(statistics.fmean(step * step for step in steps)))
        half = t_quantile((1 + CONFIDENCE) / 2, len(pairs) - 1) * noise / math.sqrt(len(pairs))
    nearest = min(range(len(pairs)), key=lambda workspace: abs(logs[workspace] - middle))
    low, high = (math.exp(min(middle + side, 700.0)) for side in (-half, half))
    return PairedRatio(math.exp(middle), low, high, pairs[nearest], len(pairs))


def _log_ratio(value: float, other: float) -> float:
    return math.log((value + _TINY) / (other + _TINY))


@dataclass(frozen=True, slots=True)
class RoundsCompared:
    """The values of program and gold that a threshold in gold compares; why there are none, where there are none."""

    values: tuple[float, float] | None
    is_final: bool
    """Whether more rounds would change little."""
    reason: str = ""


def compare(threshold: Threshold, program: Rounds, gold: Rounds) -> RoundsCompared:
    """Of a timed measure that both have: the best rounds where they agree, else pairs of rounds, else nothing.

    Only the gold solution's own rounds can make a measure impossible.
    """
    name = MEASURED_AS[threshold.measure][0]
    is_gold_settled, is_program_settled = name not in unsettled(gold), name not in unsettled(program)
    if is_gold_settled and is_program_settled:
        best = figures(program)[name], figures(gold)[name]
        # A few rounds in a row may have been unlucky: no mark is lost by as few as prove a full one.
        is_full = gold_share(threshold, math.exp(_log_ratio(*best))) == 1
        return RoundsCompared(best, is_final=is_full or len(gold) >= MIN_PAIRS)
    found = paired_ratio(program, gold, name)
    is_known = found.is_known(threshold)
    if is_known or is_gold_settled:
        return RoundsCompared(found.nearest, is_final=is_known)
    said = (
        f"the machine is too busy: after {found.pairs} rounds of both it may be {found.low:.2f} to {found.high:.2f} "
        "times the gold solution's"
    )
    return RoundsCompared(None, is_final=False, reason=said)
