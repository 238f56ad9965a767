"""Is B better than A? Paired by sample, with an interval, a test and words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.distributions import normal_quantile, t_quantile
from proctor.metrics.flips import cohens_h, mcnemar, odds_ratio, score_interval
from proctor.metrics.intervals import LEVEL, t_interval, unseen_share, wilson_interval
from proctor.metrics.pairing import LeftOut, Mark, Pairs, pair
from proctor.metrics.permutation import sign_flip_test
from proctor.metrics.power import ALPHA, detectable_difference, samples_for_stderr
from proctor.metrics.sequences import ConfidenceSequence

ANYTIME = "anytime-valid test"
MIN_GROUPS = 6
"""Fewer groups can show no difference: with five, all of one sign, the permutation test gives p = 0.0625."""


class StoppedEarly(Struct, frozen=True):
    """What was seen could end the sampling: one value counts for each group, and only groups that were asked whole."""

    whole_groups: frozenset[str] | None = None
    """Those of which all planned samples were asked; None where each sample stands for itself."""


def either_stopped(a: StoppedEarly | None, b: StoppedEarly | None) -> StoppedEarly | None:
    """How the sampling of a pair could end; None where nothing that was seen could end either side's."""
    if a is None or b is None:
        return a or b
    if a.whole_groups is None or b.whole_groups is None:
        return a if b.whole_groups is None else b
    return StoppedEarly(a.whole_groups & b.whole_groups)


class PairedComparison(Struct, frozen=True):
    """What two systems' shared samples say; differences are B minus A."""

    names: tuple[str, str]
    n: int
    a: Estimate
    b: Estimate
    difference: Estimate
    p_value: float | None = None
    p_error: float = 0.0
    """The Monte-Carlo standard error of the p-value; 0 where it is exact."""
    test: str = ""
    effects: Mapping[str, float | None] = field(default_factory=dict)
    detectable: float | None = None
    """The smallest true difference that so many samples would have detected with 80 % power; None when none would."""
    gained: int = 0
    """Samples that only B answered rightly; right means a score of at least a half."""
    lost: int = 0
    gained_ids: tuple[str, ...] = ()
    """The first of them, in the order of their ids, as many as were asked for."""
    lost_ids: tuple[str, ...] = ()
    left_out: LeftOut = field(default_factory=LeftOut)
    groups: int = 0
    """How many groups were compared where samples share them; 0 where each sample stands for itself."""
    p_adjusted: float | None = None
    """The p-value after Holm's correction for the whole family; the plain one in a family of one."""
    family: int = 1
    is_weighted: bool = False
    """Whether some samples weigh more than others."""
    unlike_weights: int = 0
    """Samples that the two sides weigh differently: the larger weight counts for both."""

    @property
    def is_shown(self) -> bool:
        """A difference counts as shown when the test and the interval both say so."""
        low, high = self.difference.low, self.difference.high
        if self.p_adjusted is None or low is None or high is None:
            return False
        return self.p_adjusted < ALPHA and (low > 0 or high < 0)

    @property
    def better(self) -> str | None:
        """The name of the better system; None while no difference is shown."""
        if not self.is_shown or self.difference.value is None:
            return None
        return self.names[1] if self.difference.value > 0 else self.names[0]

    @property
    def has_too_few_groups(self) -> bool:
        """Whether samples share so few groups that no difference could have been shown, however large."""
        return 0 < self.groups < MIN_GROUPS

    def samples_to_see(self, difference: float) -> int | None:
        """How many samples in all detect this difference with 80 % power; None when nothing is known yet."""
        stderr = _planning_stderr(self.difference, is_clustered=self.groups > 0)
        return None if stderr is None else samples_for_stderr(self.n, stderr, difference)


def compare(
    a: Iterable[SampleScore],
    b: Iterable[SampleScore],
    *,
    names: tuple[str, str] = ("A", "B"),
    seed: int = 0,
    keep: int = 0,
) -> PairedComparison:
    """Compare two systems on the samples both answered; the order of the samples does not matter."""
    sides = (sorted((one.sample_id, one.value, one.group, one.weight) for one in side) for side in (a, b))
    return compare_marks(*sides, names=names, seed=seed, keep=keep)


def compare_marks(
    a: Iterable[Mark],
    b: Iterable[Mark],
    *,
    names: tuple[str, str] = ("A", "B"),
    seed: int = 0,
    keep: int = 0,
    stopped: StoppedEarly | None = None,
) -> PairedComparison:
    """Compare two systems whose marks come in the order of their ids; neither side is held in memory.

    The ids of the first `keep` flipped samples are kept, each way. Where what was seen could end the sampling
    (`stopped`), interval and p-value are those that hold then.
    """
    pairs = pair(a, b, keep=keep)
    sides = (pairs.a.estimate(), pairs.b.estimate())
    if not pairs.n:
        return PairedComparison(names, 0, *sides, Estimate(None, 0), left_out=pairs.left_out)
    is_clustered = pairs.units.is_clustered
    if pairs.is_binary and not is_clustered and not pairs.units.is_weighted:
        p_value, p_error, test = mcnemar(pairs.gained, pairs.lost), 0.0, "exact McNemar"
    else:
        outcome = sign_flip_test(pairs.units.sums(), seed=seed)
        p_value, p_error = outcome.p_value, outcome.error
        test = ("clustered " if is_clustered else "") + outcome.method
    difference = _difference(pairs, is_clustered)
    shown = agree_with_test(difference, p_value)
    if stopped is not None:
        shown, p_value = _watched(pairs, difference, stopped)
        p_error, test = 0.0, ANYTIME
    return PairedComparison(
        names,
        pairs.n,
        *sides,
        shown,
        p_value,
        p_error,
        test,
        _effects(pairs, *sides),
        detectable_by(difference, pairs.units.groups, pairs.units.effective),
        pairs.gained,
        pairs.lost,
        tuple(pairs.gained_ids),
        tuple(pairs.lost_ids),
        pairs.left_out,
        pairs.units.groups,
        p_value,
        is_weighted=pairs.units.is_weighted,
        unlike_weights=pairs.unlike,
    )


def _difference(pairs: Pairs, is_clustered: bool) -> Estimate:
    n, units = pairs.n, pairs.units
    mean = units.mean
    stderr = units.stderr(mean)
    if pairs.is_binary and not is_clustered and not units.is_weighted:
        return Estimate(mean, n, stderr, *score_interval(pairs.gained, pairs.lost, n), "tango")
    size = units.effective
    if stderr is None:
        # All alike: so many samples bound how many of another kind there could be, at either end of the scale.
        unseen = unseen_share(size)
        return Estimate(mean, n, None, mean - unseen * (1 + mean), mean + unseen * (1 - mean), "no-spread-bound")
    if pairs.is_binary and not units.is_weighted:
        return Estimate(mean, n, stderr, *_clustered_flips(pairs, stderr), "clustered-tango-t")
    low, high = t_interval(mean, stderr, max(1.0, size - 1))
    # No differences vary more than those of -1 and 1 with this mean.
    least, most = (2 * end - 1 for end in wilson_interval((mean + 1) / 2 * size, size))
    return Estimate(mean, n, stderr, max(least, low), min(most, high), "clustered-t" if is_clustered else "t")


def _clustered_flips(pairs: Pairs, stderr: float) -> tuple[float, float]:
    """Tango's interval for as many single pairs as would have this error, with Student's quantile.

    It is never wider than that of one pair a unit: few units tell no less than as many samples.
    """
    units = pairs.units
    quantiles = normal_quantile((1 + LEVEL) / 2) / t_quantile((1 + LEVEL) / 2, max(1.0, units.effective - 1))
    share = (quantiles * units.single_stderr(units.mean) / stderr) ** 2
    share = max(share, units.effective / pairs.n)
    return score_interval(pairs.gained * share, pairs.lost * share, pairs.n * share)


def _watched(pairs: Pairs, difference: Estimate, stopped: StoppedEarly) -> tuple[Estimate, float]:
    """The difference with an interval that holds though what was seen decided when to stop, and its p-value."""
    sequence = ConfidenceSequence.of_differences()
    for mean in pairs.units.means(stopped.whole_groups):
        sequence.update(mean)
    low, high = sequence.interval()
    # Whole groups count alike in the sequence, all samples in the difference.
    low, high = min(low, difference.value or 0.0), max(high, difference.value or 0.0)
    return replace(difference, low=low, high=high, method="confidence sequence"), sequence.p_value(0.0)


def agree_with_test(difference: Estimate, p_value: float) -> Estimate:
    """Widen the interval to 0 where the test, which is the stricter of the two, cannot rule out 0."""
    if p_value < ALPHA or difference.low is None or difference.high is None:
        return difference
    return replace(difference, low=min(0.0, difference.low), high=max(0.0, difference.high))


def _planning_stderr(difference: Estimate, *, is_clustered: bool) -> float | None:
    """The error to plan with, from the interval: never 0, because samples without a flip do not prove there is none.

    The interval of few groups is wide because their error is hardly known; more groups make it known.
    """
    if is_clustered and difference.stderr is not None:
        return difference.stderr
    if difference.low is None or difference.high is None or difference.n < 2:
        return None
    return (difference.high - difference.low) / (2 * normal_quantile((1 + LEVEL) / 2))


def detectable_by(difference: Estimate, groups: int = 0, effective: float | None = None) -> float | None:
    """The smallest true difference that an interval of this width detects with 80 % power; None where none would.

    `effective` is how many groups of one size would say as much as these; all of them, where it is not given.
    """
    if 0 < groups < MIN_GROUPS:
        return None
    stderr = _planning_stderr(difference, is_clustered=groups > 0)
    if stderr is None:
        return None
    found = detectable_difference(stderr, df=max(1.0, (effective or groups) - 1) if groups else math.inf)
    return found if found <= 1 else None


def _effects(pairs: Pairs, a: Estimate, b: Estimate) -> dict[str, float | None]:
    if pairs.is_binary and a.value is not None and b.value is not None:
        return {"odds_ratio": odds_ratio(pairs.gained, pairs.lost), "cohens_h": cohens_h(a.value, b.value)}
    return {"cohens_d": pairs.units.mean / pairs.spread} if pairs.spread > 1e-12 else {}


def rest_on_worse(measured: PairedComparison, worst: PairedComparison) -> PairedComparison:
    """The comparison with no more than what holds in both: the wider interval, the larger p-value.

    For two ways to count the same answers; `worst` is the one that counts what could not be read as wrong.
    """
    if measured.p_value is None or worst.p_value is None or measured.difference.value is None:
        return replace(measured, p_value=None, p_adjusted=None)
    is_alike = measured.difference.value * (worst.difference.value or 0.0) > 0
    p_value = max(measured.p_value, worst.p_value) if is_alike else 1.0
    ends = [(one.difference.low, one.difference.high) for one in (measured, worst)]
    lows, highs = ([end for end in side if end is not None] for side in zip(*ends, strict=True))
    is_bounded = len(lows) == len(highs) == len(ends)
    shown = replace(
        measured.difference, low=min(lows) if is_bounded else None, high=max(highs) if is_bounded else None
    )  # fmt: skip
    shown = agree_with_test(shown, p_value)
    return replace(
        measured, difference=shown, p_value=p_value, p_adjusted=p_value, p_error=max(measured.p_error, worst.p_error),
        detectable=detectable_by(shown, measured.groups),
    )  # fmt: skip


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: the chance of any false claim in the family stays at the level."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def correct(comparisons: Sequence[PairedComparison]) -> list[PairedComparison]:
    """The same comparisons, corrected as one family; those without a p-value are not counted."""
    tested = [i for i, one in enumerate(comparisons) if one.p_value is not None]
    adjusted = holm([comparisons[i].p_value or 0.0 for i in tested])
    by_place = dict(zip(tested, adjusted, strict=True))
    return [
        replace(one, p_adjusted=by_place[i], family=len(tested)) if i in by_place else one
        for i, one in enumerate(comparisons)
    ]
