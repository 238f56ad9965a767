"""Means and shares with their intervals."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy import optimize, stats

from metrics.reference import clustered_stderr, estimate_mean
from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.bootstrap import bootstrap_interval
from proctor.metrics.intervals import (
    estimate_rate,
    t_interval,
    wilson_interval,
)


def scores(values: Sequence[float], groups: Sequence[str | None] | None = None) -> list[SampleScore]:
    named = groups or [None] * len(values)
    return [SampleScore(str(i), value, group=group) for i, (value, group) in enumerate(zip(values, named, strict=True))]


def covers(make: Callable[[random.Random], Estimate], truth: float, runs: int, seed: int) -> float:
    rng = random.Random(seed)
    hits = 0
    for _ in range(runs):
        estimate = make(rng)
        assert estimate.low is not None
        assert estimate.high is not None
        hits += estimate.low <= truth <= estimate.high
    return hits / runs


@given(st.integers(1, 5_000), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_equals_scipys(n: int, place: float, level: float) -> None:
    k = round(n * place)
    expected = stats.binomtest(k, n).proportion_ci(level, method="wilson")
    assert wilson_interval(k, n, level) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-12)


def test_wilson_equals_statsmodels() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    assert wilson_interval(73, 99) == pytest.approx(proportion.proportion_confint(73, 99, method="wilson"), abs=1e-12)


@given(st.integers(0, 300), st.integers(1, 300))
def test_wilson_stays_inside_0_and_1_and_mirrors(k: int, extra: int) -> None:
    n = k + extra
    low, high = wilson_interval(k, n)
    assert 0 <= low <= k / n <= high <= 1
    assert low < high
    mirrored = wilson_interval(n - k, n)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(st.integers(1, 200), st.floats(0, 1))
def test_more_samples_at_the_same_share_give_a_narrower_interval(n: int, place: float) -> None:
    k = round(n * place)
    narrow, wide = wilson_interval(3 * k, 3 * n), wilson_interval(k, n)
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


def test_a_rate_of_nothing_is_not_measured_and_an_impossible_one_is_refused() -> None:
    assert estimate_rate(0, 0) == Estimate(None, 0)
    with pytest.raises(ValueError, match="4 of 3"):
        estimate_rate(4, 3)
    with pytest.raises(ValueError, match="at least one"):
        wilson_interval(0, 0)


def test_binary_scores_get_wilson() -> None:
    estimate = estimate_mean(scores([1.0] * 73 + [0.0] * 26))
    assert (estimate.value, estimate.n, estimate.method) == (73 / 99, 99, "wilson")
    assert (estimate.low, estimate.high) == wilson_interval(73, 99)
    assert estimate.stderr == pytest.approx(math.sqrt(73 / 99 * 26 / 99 / 99))


def wilson_of_error(mean: float, stderr: float, units: float) -> tuple[float, float]:
    """Where the score test turns, found by a general solver: Wilson's interval for 0/1 values with this error."""
    quantile = stats.t.ppf(0.975, max(1.0, units - 1))
    n = max(units / stats.norm.ppf(0.975) ** 2, mean * (1 - mean) / stderr**2 / quantile**2)

    def distance(p: float) -> float:
        return (mean - p) ** 2 - p * (1 - p) / n

    unseen = 1 - units / (units + stats.norm.ppf(0.975) ** 2)
    low, high = optimize.brentq(distance, 0, mean, xtol=1e-14), optimize.brentq(distance, mean, 1, xtol=1e-14)
    return min(low, 1 - unseen), max(high, unseen)


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=50).filter(
        lambda v: np.std(v) > 1e-6 and not {*v} <= {0, 1} and 1e-6 < np.mean(v) < 1 - 1e-6
    )
)
def test_other_scores_get_the_standard_error_of_scipy_and_the_interval_of_a_score_test(values: list[float]) -> None:
    estimate = estimate_mean(scores(values))
    assert estimate.method == "wilson-t"
    assert estimate.value == pytest.approx(np.mean(values), abs=1e-12)
    assert estimate.stderr == pytest.approx(stats.sem(values), rel=1e-9)
    expected = wilson_of_error(float(np.mean(values)), float(stats.sem(values)), len(values))
    assert (estimate.low, estimate.high) == pytest.approx(expected, abs=1e-9)


def test_in_the_middle_of_the_scale_it_is_the_t_interval_of_scipy() -> None:
    rng = random.Random(9)
    values = [rng.betavariate(20, 20) for _ in range(400)]
    low, high = stats.t.interval(0.95, 399, loc=np.mean(values), scale=stats.sem(values))
    estimate = estimate_mean(scores(values))
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=2e-5)


def test_t_intervals_are_not_clipped_where_the_range_is_unknown() -> None:
    assert t_interval(0.9, 0.1, 4) == pytest.approx(stats.t.interval(0.95, 4, loc=0.9, scale=0.1), rel=1e-12)


def clustered_data(seed: int, n: int = 60) -> tuple[list[float], list[str]]:
    rng = random.Random(seed)
    groups = [f"g{rng.randrange(9)}" for _ in range(n)]
    effect = {group: rng.random() / 2 for group in groups}
    return [effect[group] + rng.random() / 2 for group in groups], groups


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("corrected", [True, False])
def test_clustered_errors_equal_statsmodels(seed: int, corrected: bool) -> None:
    api = pytest.importorskip("statsmodels.api")
    values, groups = clustered_data(seed)
    codes = [int(group[1:]) for group in groups]
    fit = api.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(codes), "use_correction": corrected}
    )
    assert clustered_stderr(values, groups, corrected=corrected) == pytest.approx(fit.bse[0], rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_clustered_errors_equal_the_sandwich_written_as_matrices(seed: int) -> None:
    values, groups = clustered_data(seed)
    residuals = np.array(values) - np.mean(values)
    same = np.array([[one == other for one in groups] for other in groups], dtype=float)
    sandwich = math.sqrt(residuals @ same @ residuals) / len(values)
    units = len(set(groups))
    assert clustered_stderr(values, groups, corrected=False) == pytest.approx(sandwich, rel=1e-9)
    assert clustered_stderr(values, groups) == pytest.approx(sandwich * math.sqrt(units / (units - 1)), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_samples_that_share_a_group_get_the_corrected_clustered_error(seed: int) -> None:
    values, groups = clustered_data(seed)
    estimate = estimate_mean(scores(values, groups))
    expected = clustered_stderr(values, groups)
    sizes = np.unique(groups, return_counts=True)[1]
    units = len(values) ** 2 / (sizes**2).sum()
    assert units < len(set(groups))
    assert estimate.method == "clustered-wilson-t"
    assert estimate.n == len(values)
    assert estimate.stderr == pytest.approx(expected, rel=1e-9)
    found = wilson_of_error(float(np.mean(values)), expected, float(units))
    assert (estimate.low, estimate.high) == pytest.approx(found, rel=1e-9)


def test_a_sample_without_a_group_is_a_cluster_of_its_own() -> None:
    values, groups = clustered_data(7)
    some = [None if i % 3 == 0 else group for i, group in enumerate(groups)]
    named = [group or f"own{i}" for i, group in enumerate(some)]
    mixed, explicit = estimate_mean(scores(values, some)), estimate_mean(scores(values, named))
    assert mixed.stderr == pytest.approx(explicit.stderr, rel=1e-12)
    assert (mixed.low, mixed.high) == pytest.approx((explicit.low, explicit.high), rel=1e-12)


def test_groups_of_one_sample_change_nothing() -> None:
    values = [1.0, 0.0, 1.0, 1.0]
    assert estimate_mean(scores(values, ["a", "b", "c", "d"])) == estimate_mean(scores(values))


def test_nothing_measured_has_no_value() -> None:
    assert estimate_mean([]) == Estimate(None, 0)


@pytest.mark.parametrize(
    ("values", "groups"),
    [
        ([0.5], None),
        ([1.0], None),
        ([0.3] * 20, None),
        ([1.0] * 20, None),
        ([0.0] * 20, None),
        ([1.0] * 20, ["a"] * 20),
        ([0.5] * 20, ["a"] * 20),
        ([1.0] * 20, ["a", "b"] * 10),
        ([0.1 + 0.2, 0.3, 0.3], None),
    ],
)
def test_no_spread_is_never_presented_as_certainty(values: list[float], groups: list[str] | None) -> None:
    estimate = estimate_mean(scores(values, groups))
    assert estimate.value == pytest.approx(sum(values) / len(values))
    assert estimate.stderr is None
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.high - estimate.low > 0.1


def test_groups_that_balance_exactly_are_no_surer_than_independent_samples() -> None:
    """Each group half right: their means do not differ at all, which independent samples would rarely do."""
    balanced = estimate_mean(scores([1.0, 0.0] * 40, [f"g{i // 4}" for i in range(80)]))
    low, high = wilson_interval(40, 80)
    assert balanced.low is not None
    assert balanced.high is not None
    assert balanced.low <= low < high <= balanced.high
    assert balanced.high - balanced.low < 1.1 * (high - low)


@pytest.mark.parametrize("right", [0, 125, 249, 250])
def test_the_samples_of_one_group_are_independent_samples_of_that_group(right: int) -> None:
    """A row of a category table whose samples all share a group: 250 answers are not one."""
    values = [1.0] * right + [0.0] * (250 - right)
    estimate = estimate_mean(scores(values, ["a"] * 250))
    assert estimate == replace(estimate_mean(scores(values)), method="within-group-wilson")


def test_one_group_beside_a_stray_sample_is_still_one_group() -> None:
    values = [1.0] * 240 + [0.0] * 10
    for stray in (None, "b"):
        estimate = estimate_mean(scores(values, [*["a"] * 249, stray]))
        assert (estimate.low, estimate.high) == wilson_interval(240, 250)
        assert estimate.method == "within-group-wilson"


@pytest.mark.parametrize("sizes", [(125, 126), (150, 100), (90, 5, 5)])
def test_two_groups_are_groups_whatever_their_sizes(sizes: tuple[int, ...]) -> None:
    """125 and 125 samples once gave [0.342, 0.987], and 125 and 126 gave [0.853, 0.928]."""
    names = [f"g{group}" for group, size in enumerate(sizes) for _ in range(size)]
    values = [float(i % 10 > 0) for i in range(len(names))]
    estimate = estimate_mean(scores(values, names))
    assert estimate.method == "clustered-wilson-t"
    assert estimate.low is not None
    assert estimate.low < 0.35


def test_weighed_scores_of_one_group_are_weighed_scores() -> None:
    weighed = [SampleScore("a", 2 / 3, weight=3), SampleScore("b", 0.5, weight=2), SampleScore("c", 0.0, weight=2)]
    grouped = [replace(one, group="g") for one in weighed]
    assert estimate_mean(grouped) == replace(estimate_mean(weighed), method="within-group-clustered-wilson-t")


@pytest.mark.untraced
@pytest.mark.parametrize("groups", [2, 3, 5])
@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
def test_few_groups_widen_no_further_than_as_many_independent_samples(groups: int, share: float) -> None:
    rng = random.Random(groups)
    for _ in range(50):
        values = [float(rng.random() < share) for _ in range(40 * groups)]
        estimate = estimate_mean(scores(values, [f"g{i % groups}" for i in range(40 * groups)]))
        assert estimate.value is not None
        low, high = wilson_interval(estimate.value * groups, groups)
        unseen = 1 - wilson_interval(groups, groups)[0]
        assert min(low, 1 - unseen) - 1e-12 <= (estimate.low or 0.0)
        assert (estimate.high or 0.0) <= max(high, unseen) + 1e-12


@pytest.mark.untraced
@pytest.mark.parametrize(("groups", "size"), [(10, 5), (20, 3), (20, 10), (60, 1), (100, 11)])
@pytest.mark.parametrize("are_epochs", [False, True])
def test_errors_in_one_group_after_another_never_raise_the_lower_end(groups: int, size: int, are_epochs: bool) -> None:
    """20 groups of 3 once gave 0.839 with no error and 0.948 with one."""
    before = 1.0
    for wrong in range(groups):
        if are_epochs:
            found = estimate_mean(scores([1 - (i < wrong) / size for i in range(groups)]))
        else:
            values = [float(i % size > 0 or i // size >= wrong) for i in range(groups * size)]
            found = estimate_mean(scores(values, [f"g{i // size}" for i in range(groups * size)]))
        assert found.low is not None
        assert found.low <= before + 1e-12
        before = found.low


@st.composite
def grouped_results(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Size and right answers of groups, no fewer than would say as much as ten of one size."""
    sizes = draw(st.lists(st.integers(1, 25), min_size=10, max_size=25).filter(is_promised))
    shape = draw(st.sampled_from([(0, 0), (1, 1), (0, 1)]))
    return [(size, draw(st.sampled_from((round(shape[0] * size), round(shape[1] * size))) | st.integers(0, size)))
            for size in sizes]  # fmt: skip


def is_promised(sizes: Sequence[int]) -> bool:
    return max(sizes) > 1 and sum(sizes) <= 300 and sum(sizes) ** 2 >= 10 * sum(size**2 for size in sizes)


def estimate_groups(groups: Sequence[tuple[int, int]]) -> tuple[float, float]:
    values = [float(place < right) for size, right in groups for place in range(size)]
    # A group of one sample is as good as none.
    names = [f"g{number}" if size > 1 else None for number, (size, _) in enumerate(groups) for _ in range(size)]
    found = estimate_mean(scores(values, names))
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


@pytest.mark.untraced
@given(grouped_results(), st.randoms(use_true_random=False))
def test_one_more_error_raises_neither_end_from_ten_groups_on(
    groups: list[tuple[int, int]], random_source: random.Random
) -> None:
    before = estimate_groups(groups)
    for number in random_source.sample(range(len(groups)), 3):
        size, right = groups[number]
        if right:
            after = estimate_groups([*groups[:number], (size, right - 1), *groups[number + 1 :]])
            assert after[0] <= before[0] + 1e-9
            assert after[1] <= before[1] + 1e-9


@pytest.mark.parametrize(
    ("sizes", "right", "best"),
    [
        ((10,) * 10, (10, 4, 3, 4, 4, 4, 4, 3, 4, 4), 0),
        ((31, *(1 + n % 5 * 3 for n in range(1, 20))), (31, *(n % 5 for n in range(1, 20))), 0),
    ],
)
def test_an_error_in_the_one_good_group_does_not_raise_the_lower_end(
    sizes: tuple[int, ...], right: tuple[int, ...], best: int
) -> None:
    """It makes the groups more alike; the lower end once rose by a point."""
    groups = list(zip(sizes, right, strict=True))
    lows = []
    for wrong in range(sizes[best]):
        groups[best] = (sizes[best], right[best] - wrong)
        lows.append(estimate_groups(groups)[0])
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(lows))


def test_with_more_than_300_samples_one_error_raises_an_end_by_less_than_half_a_point() -> None:
    groups = [(31, 31), (31, 21), (31, 20), (31, 21), (31, 23), (31, 21), (31, 19), (31, 21), (31, 21), (31, 21)]
    before, after = estimate_groups(groups), estimate_groups([(31, 30), *groups[1:]])
    assert 0 < after[0] - before[0] < 0.005
    assert after[1] < before[1]


@pytest.mark.parametrize(("groups", "size"), [(10, 5), (20, 3), (60, 2)])
def test_the_widening_leaves_groups_that_are_one_answer_each_as_they_were(groups: int, size: int) -> None:
    """Each is a single right-or-wrong sample then, whose interval never rose."""
    for wrong in range(groups + 1):
        found = estimate_groups([(size, size * (number >= wrong)) for number in range(groups)])
        assert found == pytest.approx(wilson_interval(groups - wrong, groups), abs=1e-9)


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf])
def test_a_score_outside_0_and_1_is_refused_by_its_sample(value: float) -> None:
    with pytest.raises(ValueError, match="sample '0'"):
        estimate_mean(scores([value]))


def test_a_clustered_error_of_one_group_is_refused() -> None:
    with pytest.raises(ValueError, match="two groups"):
        clustered_stderr([1.0, 0.0], ["a", "a"])
    with pytest.raises(ValueError, match="each value"):
        clustered_stderr([1.0, 0.0], ["a"])


@given(
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from([None, "a", "b", "c"])), min_size=1, max_size=40), st.randoms()
)
def test_the_order_of_samples_does_not_matter(pairs: list[tuple[float, str | None]], rng: random.Random) -> None:
    before = scores([value for value, _ in pairs], [group for _, group in pairs])
    after = list(before)
    rng.shuffle(after)
    one, other = estimate_mean(before), estimate_mean(after)
    assert one.value == pytest.approx(other.value, abs=1e-12)
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-6)
    assert 0 <= one.low <= one.value <= one.high <= 1


def test_the_bootstrap_agrees_with_scipys_within_its_noise() -> None:
    rng = random.Random(3)
    values = [rng.betavariate(5, 1) for _ in range(60)]
    stderr, low, high = bootstrap_interval([(value, 1) for value in values], resamples=8_000, seed=1)
    reference = stats.bootstrap((values,), np.mean, n_resamples=8_000, method="BCa", rng=1)
    assert stderr == pytest.approx(reference.standard_error, rel=0.04)
    noise = 0.06 * stderr
    assert low == pytest.approx(reference.confidence_interval.low, abs=2 * noise)
    assert high == pytest.approx(reference.confidence_interval.high, abs=2 * noise)
    assert high - np.mean(values) < np.mean(values) - low, "BCa leans towards the longer tail"


def test_the_bootstrap_repeats_itself_whatever_the_order() -> None:
    units = [(i % 7 / 7, 1) for i in range(50)]
    assert bootstrap_interval(units, seed=5) == bootstrap_interval(units[::-1], seed=5)
    assert bootstrap_interval(units, seed=5) != bootstrap_interval(units, seed=6)
    with pytest.raises(ValueError, match="two units"):
        bootstrap_interval(units[:1])


def test_a_batched_bootstrap_has_the_error_of_all_its_values() -> None:
    rng = random.Random(4)
    values = [rng.random() for _ in range(5_000)]
    stderr, low, high = bootstrap_interval([(value, 1) for value in values], seed=1)
    assert stderr == pytest.approx(stats.sem(values), rel=0.08)
    assert high - low == pytest.approx(2 * 1.96 * stats.sem(values), rel=0.12)


def test_a_bootstrap_of_groups_resamples_groups() -> None:
    values, groups = clustered_data(2, n=400)
    units = {group: [0.0, 0] for group in groups}
    for value, group in zip(values, groups, strict=True):
        units[group][0] += value
        units[group][1] += 1
    stderr, _, _ = bootstrap_interval([(total, int(n)) for total, n in units.values()], seed=1)
    assert stderr == pytest.approx(clustered_stderr(values, groups, corrected=False), rel=0.1)


@pytest.mark.parametrize(("n", "p"), [(50, 0.3), (100, 0.5), (100, 0.8), (300, 0.9), (1_000, 0.97)])
def test_95_percent_wilson_intervals_cover_93_to_97_percent(n: int, p: float) -> None:
    # Coverage of Wilson is a finite sum, so it is computed, not simulated.
    intervals = [wilson_interval(k, n) for k in range(n + 1)]
    chances = stats.binom.pmf(range(n + 1), n, p)
    coverage = sum(chance for (low, high), chance in zip(intervals, chances, strict=True) if low <= p <= high)
    assert 0.93 <= coverage <= 0.97


def test_wilson_is_outside_93_to_97_percent_where_the_documentation_says_so() -> None:
    intervals = [wilson_interval(k, 10) for k in range(11)]
    chances = stats.binom.pmf(range(11), 10, 0.98)
    coverage = sum(chance for (low, high), chance in zip(intervals, chances, strict=True) if low <= 0.98 <= high)
    assert not 0.93 <= coverage <= 0.97


@pytest.mark.untraced
@pytest.mark.parametrize(("n", "shape"), [(20, (2, 2)), (50, (4, 2)), (100, (6, 1))])
def test_95_percent_intervals_of_other_scores_cover_93_to_97_percent(n: int, shape: tuple[float, float]) -> None:
    def make(rng: random.Random) -> Estimate:
        return estimate_mean(scores([rng.betavariate(*shape) for _ in range(n)]))

    assert 0.93 <= covers(make, shape[0] / sum(shape), 2_000, seed=n) <= 0.97


@pytest.mark.untraced
@pytest.mark.parametrize("n", [20, 50])
def test_intervals_of_few_very_skewed_scores_cover_too(n: int) -> None:
    """Student's t covers 77 and 89 % here: nearly all scores are near 0."""

    def make(rng: random.Random) -> Estimate:
        return estimate_mean(scores([rng.betavariate(0.05, 1) for _ in range(n)]))

    assert covers(make, 0.05 / 1.05, 1_000, seed=1) > 0.93


@pytest.mark.untraced
def test_95_percent_clustered_intervals_cover_93_to_97_percent_where_plain_ones_do_not() -> None:
    groups = [f"g{i // 10}" for i in range(300)]

    def values(rng: random.Random) -> list[float]:
        level = {group: rng.betavariate(2, 2) for group in dict.fromkeys(groups)}
        return [float(rng.random() < level[group]) for group in groups]

    assert 0.93 <= covers(lambda rng: estimate_mean(scores(values(rng), groups)), 0.5, 1_000, seed=2) <= 0.97
    assert covers(lambda rng: estimate_mean(scores(values(rng))), 0.5, 1_000, seed=2) < 0.85


@pytest.mark.untraced
def test_one_large_group_widens_the_interval_until_it_covers() -> None:
    groups = [f"g{max(0, i - 40) // 10}" for i in range(150)]

    def values(rng: random.Random) -> list[float]:
        level = {group: rng.betavariate(2, 2) for group in dict.fromkeys(groups)}
        return [float(rng.random() < level[group]) for group in groups]

    assert 0.92 <= covers(lambda rng: estimate_mean(scores(values(rng), groups)), 0.5, 1_000, seed=2) <= 0.97


@pytest.mark.untraced
def test_95_percent_bootstrap_intervals_cover_93_to_97_percent() -> None:
    def make(rng: random.Random) -> Estimate:
        values = [(rng.betavariate(4, 2), 1) for _ in range(50)]
        _, low, high = bootstrap_interval(values, resamples=300, seed=rng.randrange(10**9))
        return Estimate(None, 50, None, low, high)

    assert 0.93 <= covers(make, 4 / 6, 600, seed=3) <= 0.97


def test_a_weighed_score_is_a_share_of_so_many_things() -> None:
    """Three of four instructions followed in one prompt, one of one in the other: four of five in all."""
    scores = [SampleScore("a", 0.75, weight=4), SampleScore("b", 1.0, weight=1)]
    estimate = estimate_mean(scores)
    assert estimate.value == pytest.approx(0.8)
    assert estimate.n == 5


def test_weighing_is_grouping_what_is_weighed() -> None:
    """A prompt's instructions are not independent, so their error is the clustered one."""
    weighed = [SampleScore("a", 1.0, weight=3), SampleScore("b", 0.5, weight=2), SampleScore("c", 0.0, weight=2)]
    single = [
        *(SampleScore(f"a{n}", 1.0, group="a") for n in range(3)),
        *(SampleScore(f"b{n}", value, group="b") for n, value in enumerate((1.0, 0.0))),
        *(SampleScore(f"c{n}", 0.0, group="c") for n in range(2)),
    ]
    one, other = estimate_mean(weighed), estimate_mean(single)
    assert one.value == pytest.approx(other.value)
    assert one.stderr == pytest.approx(other.stderr)
    assert (one.low, one.high) == pytest.approx((other.low, other.high))
