"""Two systems on the same samples."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from metrics.reference import clustered_stderr
from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.compare import PairedComparison, compare, correct, holm
from proctor.metrics.flips import cohens_h, mcnemar, odds_ratio, score_interval
from proctor.metrics.intervals import wilson_interval
from proctor.metrics.pairing import LeftOut
from proctor.metrics.verdicts import verdict


def scores(values: Sequence[float], groups: Sequence[str | None] | None = None) -> list[SampleScore]:
    named = groups or [None] * len(values)
    return [SampleScore(f"s{i}", v, group=g) for i, (v, g) in enumerate(zip(values, named, strict=True))]


def flips(gained: int, lost: int, both: int, neither: int) -> tuple[list[SampleScore], list[SampleScore]]:
    a = [0.0] * gained + [1.0] * lost + [1.0] * both + [0.0] * neither
    b = [1.0] * gained + [0.0] * lost + [1.0] * both + [0.0] * neither
    return scores(a), scores(b)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_exact_binomial_test_of_the_flips(gained: int, lost: int) -> None:
    expected = stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert mcnemar(gained, lost) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_equals_statsmodels() -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    assert mcnemar(31, 14) == pytest.approx(tables.mcnemar([[50, 31], [14, 20]], exact=True).pvalue, rel=1e-9)


def score_distance(gained: int, lost: int, n: int, delta: float) -> float:
    """The score statistic with its nuisance parameter found by a general optimiser instead of the closed form."""

    def unlikelihood(q: float) -> float:
        return -(gained * np.log(q + delta) + lost * np.log(q) + (n - gained - lost) * np.log(1 - 2 * q - delta))

    low, high = max(0.0, -delta) + 1e-12, (1 - delta) / 2 - 1e-12
    q = optimize.minimize_scalar(unlikelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-13}).x
    return (gained - lost - n * delta) / np.sqrt(n * (2 * q + delta * (1 - delta)))


@pytest.mark.parametrize(("gained", "lost", "n"), [(7, 1, 21), (40, 21, 300), (5, 5, 20), (120, 90, 5_000)])
def test_tangos_interval_ends_where_the_score_test_turns(gained: int, lost: int, n: int) -> None:
    low, high = score_interval(gained, lost, n)
    assert score_distance(gained, lost, n, low) == pytest.approx(1.959963984540054, abs=1e-5)
    assert score_distance(gained, lost, n, high) == pytest.approx(-1.959963984540054, abs=1e-5)


def test_tangos_interval_equals_the_published_one() -> None:
    # Airway hyper-responsiveness before and after stem-cell transplantation: Fagerland, Lydersen and Laake (2014).
    assert score_interval(1, 7, 21) == pytest.approx((-0.517, -0.026), abs=5e-4)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 200))
def test_tangos_interval_holds_the_difference_and_mirrors(gained: int, lost: int, same: int) -> None:
    n = gained + lost + same
    low, high = score_interval(gained, lost, n)
    assert -1 <= low < high <= 1
    assert low <= (gained - lost) / n <= high
    assert score_interval(lost, gained, n) == pytest.approx((-high, -low), abs=1e-9)


def test_impossible_flips_are_refused() -> None:
    with pytest.raises(ValueError, match="not possible"):
        score_interval(5, 6, 10)


@pytest.mark.untraced
def test_where_the_exact_test_sees_a_difference_the_interval_sees_it_too() -> None:
    for total in range(1, 160):
        for lost in range(total // 2 + 1):
            if mcnemar(total - lost, lost) < 0.05:
                assert score_interval(total - lost, lost, 3 * total)[0] > 0


@pytest.mark.untraced
@pytest.mark.parametrize(("n", "discordance", "difference"), [(100, 0.2, 0.05), (400, 0.1, 0.0), (60, 0.4, 0.2)])
def test_95_percent_intervals_of_a_difference_cover_93_to_97_percent(
    n: int, discordance: float, difference: float
) -> None:
    rng = random.Random(n)
    hits, runs = 0, 2_000
    for _ in range(runs):
        draws = [rng.random() for _ in range(n)]
        gained = sum(u < (discordance + difference) / 2 for u in draws)
        lost = sum(u < discordance for u in draws) - gained
        low, high = score_interval(gained, lost, n)
        hits += low <= difference <= high
    assert 0.93 <= hits / runs <= 0.97


def test_binary_samples_are_compared_by_their_flips() -> None:
    result = compare(*flips(45, 14, 800, 141), names=("old", "new"), keep=3)
    assert (result.n, result.test) == (1_000, "exact McNemar")
    assert result.p_value == mcnemar(45, 14)
    assert result.difference.value == pytest.approx(0.031)
    assert (result.difference.low, result.difference.high) == score_interval(45, 14, 1_000)
    assert (result.a.value, result.b.value) == (0.814, 0.845)
    assert (result.gained, result.lost) == (45, 14)
    assert result.gained_ids == ("s0", "s1", "s10")
    assert result.lost_ids == ("s45", "s46", "s47")
    assert result.effects == {"odds_ratio": 45 / 14, "cohens_h": pytest.approx(0.0828, abs=1e-3)}
    assert (result.is_shown, result.better) == (True, "new")
    assert verdict(result) == "new is better by 3.1 points [1.7, 4.7], p < 0.001"


def test_the_better_one_is_named_from_either_side() -> None:
    a, b = flips(40, 19, 800, 141)
    assert verdict(compare(a, b)) == "B is better by 2.1 points [0.6, 3.7], p = 0.009"
    assert verdict(compare(b, a)) == "A is better by 2.1 points [0.6, 3.7], p = 0.009"


def test_what_could_not_be_shown_says_what_it_would_take() -> None:
    result = compare(*flips(30, 22, 400, 48))
    assert result.better is None
    assert verdict(result) == "no difference could be shown; 1,700 more samples would be needed to detect 2 points"
    needed = result.samples_to_see(0.02)
    assert needed is not None
    assert 2_100 <= needed <= 2_200
    assert "to see 10 points" not in verdict(result, target=0.1)
    assert verdict(result, target=0.1).endswith("4.1 points or more would have been detected with 80 % power")


def test_nothing_shared_and_one_shared_sample_are_said_plainly() -> None:
    empty = compare([SampleScore("x", 1.0)], [SampleScore("y", 1.0)])
    assert (empty.n, empty.p_value) == (0, None)
    assert empty.left_out == LeftOut(only_a_not_asked_in_b=1, only_b_not_asked_in_a=1)
    assert empty.difference == Estimate(None, 0)
    assert verdict(empty) == "nothing to compare: no sample was answered by both"
    assert not empty.is_shown
    single = compare(scores([0.0]), scores([1.0]))
    assert verdict(single) == "no difference could be shown: 1 shared sample is too few"
    assert single.detectable is None


def test_two_equal_systems_are_not_certainly_equal() -> None:
    for value in (1.0, 0.4):
        same = compare(scores([value] * 200), scores([value] * 200))
        assert same.difference.value == 0
        assert (same.difference.low, same.difference.high) == pytest.approx(score_interval(0, 0, 200))
        assert same.p_value == 1
        assert same.detectable is not None
        assert same.detectable > 0.01


def test_a_constant_difference_of_other_scores_is_not_certain_either() -> None:
    result = compare(scores([0.4] * 30), scores([0.6] * 30))
    assert result.difference.method == "no-spread-bound"
    unseen = 1 - wilson_interval(30, 30)[0]
    # So large a share might differ by 1 in either direction without one of 30 having shown it.
    ends = (0.2 * (1 - unseen) - unseen, 0.2 * (1 - unseen) + unseen)
    assert (result.difference.low, result.difference.high) == pytest.approx(ends)
    assert result.effects == {}


def test_other_scores_get_a_paired_t_interval_and_a_permutation_test() -> None:
    rng = random.Random(1)
    a = [rng.random() for _ in range(200)]
    b = [min(1.0, max(0.0, x + rng.gauss(0.04, 0.1))) for x in a]
    result = compare(scores(a), scores(b))
    differences = np.array(b) - np.array(a)
    reference = stats.ttest_rel(b, a)
    interval = reference.confidence_interval()
    assert result.test == "Monte-Carlo permutation"
    assert (result.difference.low, result.difference.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
    assert result.effects == {"cohens_d": pytest.approx(differences.mean() / differences.std(ddof=1), rel=1e-9)}
    assert result.p_value is not None
    assert abs(result.p_value - reference.pvalue) < 4 * result.p_error + 0.001


def test_samples_of_one_group_are_compared_as_one() -> None:
    rng = random.Random(2)
    groups = [f"g{i // 8}" for i in range(160)]
    better = {group: rng.random() < 0.7 for group in groups}
    a = [0.0 if better[group] else 1.0 for group in groups]
    b = [1 - x for x in a]
    result, naive = compare(scores(a, groups), scores(b, groups)), compare(scores(a), scores(b))
    differences = [y - x for x, y in zip(a, b, strict=True)]
    assert result.test == "clustered exact permutation"
    assert result.difference.method == "clustered-tango-t"
    assert result.difference.stderr == pytest.approx(clustered_stderr(differences, groups), rel=1e-9)
    wins = sum(better.values())
    assert result.p_value == pytest.approx(stats.binomtest(wins, 20).pvalue, rel=1e-9)
    assert naive.p_value is not None
    assert naive.p_value < 0.05 < result.p_value


def test_groups_that_flip_as_one_are_one_sample_each() -> None:
    ups = [1] * 14 + [0] * 4 + [-1] * 2
    groups = [f"g{i // 8}" for i in range(160)]
    a, b = ([float(sign * ups[i // 8] > 0) for i in range(160)] for sign in (-1, 1))
    result = compare(scores(a, groups), scores(b, groups))
    assert (result.difference.low, result.difference.high) == pytest.approx(score_interval(14, 2, 20), abs=1e-9)


@pytest.mark.untraced
def test_intervals_of_few_groups_that_differ_in_one_direction_hold() -> None:
    """Student's t covers 88 to 90 % here, with five groups of 50 expected to differ."""
    groups, size, share = 50, 4, 0.1
    rng = random.Random(groups)
    names = [f"g{i // size}" for i in range(groups * size)]
    hits = 0
    for _ in range(250):
        gains = [float(rng.random() < share) for _ in range(groups)]
        found = compare(scores([0.0] * len(names), names), scores([gains[i // size] for i in range(len(names))], names))
        assert found.difference.low is not None
        assert found.difference.high is not None
        hits += found.difference.low <= share <= found.difference.high
    assert hits / 250 >= 0.92


def test_an_error_below_that_of_single_samples_is_not_used() -> None:
    """In each group one sample is gained and one lost: the groups agree exactly, which proves nothing."""
    groups = [f"g{i // 4}" for i in range(80)]
    a, b = ([float(i % 4 == side) for i in range(80)] for side in (0, 1))
    result = compare(scores(a, groups), scores(b, groups))
    low, high = score_interval(20, 20, 80)
    assert result.difference.low is not None
    assert result.difference.high is not None
    assert result.difference.low <= low < high <= result.difference.high
    assert result.difference.stderr == pytest.approx(compare(scores(a), scores(b)).difference.stderr)


@pytest.mark.parametrize("name", ["task", None])
def test_samples_that_all_share_a_group_are_compared_one_by_one(name: str | None) -> None:
    """One task of 250 samples: 1.000 and 0.000 are not the same, and nobody needs 970,000 more samples."""
    groups = [name] * 250
    best, worst = scores([1.0] * 250, groups), scores([0.0] * 250, groups)
    result = compare(worst, best)
    assert (result.test, result.better, result.groups) == ("exact McNemar", "B", 0)
    nearly = compare(scores([1.0] * 248 + [0.0] * 2, groups), best)
    assert verdict(nearly) == "no difference could be shown; 170 more samples would be needed to detect 2 points"


def test_few_groups_say_that_they_are_too_few() -> None:
    groups = [f"g{i % 3}" for i in range(300)]
    result = compare(scores([float(i % 7 > 2) for i in range(300)], groups), scores([1.0] * 300, groups))
    assert not result.is_shown
    assert result.detectable is None
    told = "no difference could be shown: the samples come from 3 groups, and a test needs at least 6"
    assert verdict(result) == told
    low, high = (2 * end - 1 for end in wilson_interval((result.difference.value or 0) * 1.5 + 1.5, 3))
    assert (result.difference.low or 0) >= low - 1e-12
    assert (result.difference.high or 0) <= high + 1e-12


def test_more_samples_of_groups_are_said_in_groups() -> None:
    rng = random.Random(5)
    groups = [f"g{i // 5}" for i in range(100)]
    a = [float(rng.random() < 0.7) for _ in groups]
    b = [x if rng.random() < 0.7 else float(rng.random() < 0.7) for x in a]
    result = compare(scores(a, groups), scores(b, groups))
    needed = result.samples_to_see(0.02)
    assert needed is not None
    assert result.difference.stderr is not None
    assert needed == pytest.approx(100 * (2.8016 * result.difference.stderr / 0.02) ** 2, abs=2)
    assert re.search(r"; ([\d,]+) more samples would be needed \(in ([\d,]+) more groups\)", verdict(result))
    quantiles = stats.t.ppf(0.975, 19) + stats.t.ppf(0.8, 19)
    assert result.detectable == pytest.approx(quantiles * result.difference.stderr)


def test_the_interval_never_contradicts_the_test() -> None:
    # Five flips of one kind: the score interval excludes 0, but no exact test of five can go below p = 0.0625.
    result = compare(*flips(5, 0, 50, 45))
    assert score_interval(5, 0, 100)[0] > 0
    assert result.p_value == pytest.approx(0.0625)
    assert result.difference.low == 0
    assert not result.is_shown


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([None, "a", "b"])
        ),
        min_size=1,
        max_size=20,
    ),
    st.randoms(),
)
def test_swapping_sides_or_order_changes_only_the_sign(
    rows: list[tuple[float, float, str | None]], rng: random.Random
) -> None:
    groups = [group for _, _, group in rows]
    a, b = scores([x for x, _, _ in rows], groups), scores([y for _, y, _ in rows], groups)
    result, swapped = compare(a, b), compare(b, a)
    assert swapped.p_value == result.p_value
    assert swapped.difference.value == pytest.approx(-result.difference.value, abs=1e-12)
    assert swapped.difference.low == pytest.approx(-result.difference.high, abs=1e-9)
    assert (swapped.gained, swapped.lost) == (result.lost, result.gained)
    rng.shuffle(a)
    shuffled = compare(a, rng.sample(b, len(b)))
    assert shuffled.p_value == result.p_value
    assert shuffled.difference.low == pytest.approx(result.difference.low, abs=1e-9)
    assert 0 <= result.p_value <= 1
    assert -1 <= result.difference.low <= result.difference.value <= result.difference.high <= 1


def test_a_sample_given_twice_or_out_of_range_is_refused_by_name() -> None:
    once, twice = scores([1.0]), scores([1.0]) * 2
    with pytest.raises(ValueError, match="'s0' appears twice"):
        compare(twice, once)
    with pytest.raises(ValueError, match="'s0' appears twice"):
        compare(once, twice)
    with pytest.raises(ValueError, match="'s0': scores lie"):
        compare(once, scores([1.5]))


@pytest.mark.parametrize("size", [1, 2, 5, 12])
def test_holm_equals_statsmodels(size: int) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    rng = random.Random(size)
    for _ in range(4):
        p_values = [rng.choice([rng.random(), rng.random() / 50, 0.01]) for _ in range(size)]
        assert holm(p_values) == pytest.approx(list(multitest.multipletests(p_values, method="holm")[1]), abs=1e-12)


def test_holm_has_its_textbook_values() -> None:
    assert holm([0.01, 0.02, 0.03, 0.04]) == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert holm([0.6, 0.001, 0.9]) == pytest.approx([1.0, 0.003, 1.0])


def test_several_comparisons_are_corrected_as_one_family() -> None:
    strong, weak = compare(*flips(60, 10, 800, 130)), compare(*flips(22, 8, 800, 170))
    assert weak.is_shown
    nothing = compare([], [])
    corrected = correct([strong, weak, *[compare(*flips(10, 9, 80, 1))] * 4, nothing])
    assert corrected[0].p_adjusted == pytest.approx(6 * mcnemar(60, 10))
    assert corrected[0].p_value == mcnemar(60, 10)
    assert verdict(corrected[0]).endswith("p < 0.001 (corrected for 6 comparisons)")
    assert not corrected[1].is_shown
    assert verdict(corrected[1]).startswith("no difference could be shown after correcting for 6 comparisons; ")
    assert corrected[-1] == nothing


def test_effect_sizes_have_their_published_values() -> None:
    # Cohen (1988), table 6.2.2: the arcsine transformations of 0.40 and 0.65.
    assert cohens_h(0.40, 0.65) == pytest.approx(1.875 - 1.369, abs=1e-3)
    assert odds_ratio(6, 2) == 3
    assert odds_ratio(0, 4) == 0
    assert odds_ratio(0, 0) is None, "nothing is added to what was counted"
    assert odds_ratio(4, 0) is None


def test_a_difference_is_shown_only_when_test_and_interval_agree() -> None:
    sides = Estimate(0.5, 100), Estimate(0.6, 100)
    for low, p_value, is_shown in ((0.01, 0.04, True), (-0.01, 0.04, False), (0.01, 0.06, False)):
        difference = Estimate(0.1, 100, 0.05, low, 0.2)
        assert PairedComparison(("A", "B"), 100, *sides, difference, p_value, p_adjusted=p_value).is_shown == is_shown


def test_numbers_too_small_for_one_digit_get_more() -> None:
    result = PairedComparison(
        ("A", "B"), 10**6, Estimate(0.5, 10**6), Estimate(0.5, 10**6), Estimate(4e-4, 10**6, 1e-4, 1e-4, 7e-4), 0.01,
        p_adjusted=0.01,
    )  # fmt: skip
    assert verdict(result) == "B is better by 0.04 points [0.01, 0.07], p = 0.010"
