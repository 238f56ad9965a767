"""Is B better than A? Paired by sample, with an interval, a test and words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.distributions import normal_quantile
from proctor.metrics.flips import cohens_h, mcnemar, odds_ratio, score_interval
from proctor.metrics.intervals import LEVEL, t_interval, wilson_interval
from proctor.metrics.pairing import LeftOut, Mark, Pairs, pair
from proctor.metrics.permutation import sign_flip_test
from proctor.metrics.power import ALPHA, detectable_difference, samples_for_stderr

ANYTIME = "anytime-valid test"


class Comparison(Struct, frozen=True):
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
    effects: Mapping[str, float] = field(default_factory=dict)
    detectable: float | None = None
    """The smallest true difference that so many samples would have shown 80 % of the time; None when none would."""
    gained: int = 0
    """Samples that only B answered rightly; right means a score of at least a half."""
    lost: int = 0
    gained_ids: tuple[str, ...] = ()
    """The first of them, in the order of their ids, as many as were asked for."""
    lost_ids: tuple[str, ...] = ()
    left_out: LeftOut = field(default_factory=LeftOut)
    p_adjusted: float | None = None
    """The p-value after Holm's correction for the whole family; the plain one in a family of one."""
    family: int = 1

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

    def samples_to_see(self, difference: float) -> int | None:
        """How many samples in all would show this difference 80 % of the time; None when nothing is known yet."""
        stderr = _planning_stderr(self.difference)
        return None if stderr is None else samples_for_stderr(self.n, stderr, difference)


def compare(
    a: Iterable[SampleScore],
    b: Iterable[SampleScore],
    *,
    names: tuple[str, str] = ("A", "B"),
    seed: int = 0,
    keep: int = 0,
) -> Comparison:
    """Compare two systems on the samples both answered; the order of the samples does not matter."""
    sides = (sorted((one.sample_id, one.value, one.group) for one in side) for side in (a, b))
    return compare_marks(*sides, names=names, seed=seed, keep=keep)


def compare_marks(
    a: Iterable[Mark],
    b: Iterable[Mark],
    *,
    names: tuple[str, str] = ("A", "B"),
    seed: int = 0,
    keep: int = 0,
    is_sequential: bool = False,
) -> Comparison:
    """Compare two systems whose marks come in the order of their ids; neither side is held in memory.

    The ids of the first `keep` flipped samples are kept, each way. Where sampling ended because of what was seen
    (`is_sequential`), interval and p-value are those that hold then; there are none for samples that share groups.
    """
    pairs = pair(a, b, keep=keep, is_sequential=is_sequential)
    sides = (pairs.a.estimate(), pairs.b.estimate())
    if not pairs.n:
        return Comparison(names, 0, *sides, Estimate(None, 0), left_out=pairs.left_out)
    is_clustered = pairs.units.is_clustered
    if pairs.is_binary and not is_clustered:
        p_value, p_error, test = mcnemar(pairs.gained, pairs.lost), 0.0, "exact McNemar"
    else:
        outcome = sign_flip_test(pairs.units.sums(), seed=seed)
        p_value, p_error = outcome.p_value, outcome.error
        test = ("clustered " if is_clustered else "") + outcome.method
    difference = _difference(pairs, is_clustered)
    shown = _agreeing(difference, p_value)
    if pairs.sequence is not None and not is_clustered:
        p_value, p_error, test = pairs.sequence.p_value(0.0), 0.0, ANYTIME
        low, high = pairs.sequence.interval()
        shown = replace(difference, low=low, high=high, method="confidence sequence")
    return Comparison(
        names,
        pairs.n,
        *sides,
        shown,
        p_value,
        p_error,
        test,
        _effects(pairs, *sides),
        _detectable(difference),
        pairs.gained,
        pairs.lost,
        tuple(pairs.gained_ids),
        tuple(pairs.lost_ids),
        pairs.left_out,
        p_value,
    )


def _difference(pairs: Pairs, is_clustered: bool) -> Estimate:
    n, units = pairs.n, pairs.units
    mean = units.mean
    stderr = units.stderr(mean)
    if pairs.is_binary and not is_clustered:
        return Estimate(mean, n, stderr, *score_interval(pairs.gained, pairs.lost, n), "tango")
    if stderr is None and not any(units.sums()):
        # Nothing differed: as many silent samples bound how often something could.
        return Estimate(mean, n, None, *score_interval(0, 0, units.effective), "tango-bound")
    if stderr is None:
        size = units.effective
        low, high = wilson_interval((mean + 1) / 2 * size, size)
        return Estimate(mean, n, None, 2 * low - 1, 2 * high - 1, "wilson-bound")
    low, high = t_interval(mean, stderr, max(1.0, units.effective - 1))
    return Estimate(mean, n, stderr, max(-1.0, low), min(1.0, high), "clustered-t" if is_clustered else "t")


def _agreeing(difference: Estimate, p_value: float) -> Estimate:
    """Widen the interval to 0 where the test, which is the stricter of the two, cannot rule out 0."""
    if p_value < ALPHA or difference.low is None or difference.high is None:
        return difference
    return replace(difference, low=min(0.0, difference.low), high=max(0.0, difference.high))


def _planning_stderr(difference: Estimate) -> float | None:
    """The error to plan with, from the interval: never 0, because samples without a flip do not prove there is none."""
    if difference.low is None or difference.high is None or difference.n < 2:
        return None
    return (difference.high - difference.low) / (2 * normal_quantile((1 + LEVEL) / 2))


def _detectable(difference: Estimate) -> float | None:
    stderr = _planning_stderr(difference)
    found = None if stderr is None else detectable_difference(stderr)
    return found if found is not None and found <= 1 else None


def _effects(pairs: Pairs, a: Estimate, b: Estimate) -> dict[str, float]:
    if pairs.is_binary and a.value is not None and b.value is not None:
        return {"odds_ratio": odds_ratio(pairs.gained, pairs.lost), "cohens_h": cohens_h(a.value, b.value)}
    return {"cohens_d": pairs.units.mean / pairs.spread} if pairs.spread > 1e-12 else {}


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: the chance of any false claim in the family stays at the level."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def correct(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The same comparisons, corrected as one family; those without a p-value are not counted."""
    tested = [i for i, one in enumerate(comparisons) if one.p_value is not None]
    adjusted = holm([comparisons[i].p_value or 0.0 for i in tested])
    by_place = dict(zip(tested, adjusted, strict=True))
    return [
        replace(one, p_adjusted=by_place[i], family=len(tested)) if i in by_place else one
        for i, one in enumerate(comparisons)
    ]
