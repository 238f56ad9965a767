"""Intervals that may be watched, and stop rules."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.domain.errors import PlanError
from proctor.metrics.intervals import wilson_interval
from proctor.metrics.power import samples_for_paired_shares
from proctor.metrics.sequences import STAKES, ConfidenceSequence
from proctor.metrics.until import Until, parse_until

Draw = Callable[[random.Random], float]


def ever_wrong(draw: Draw, truth: float, n: int, runs: int, make: Callable[[], ConfidenceSequence]) -> float:
    """The share of runs in which a look after some sample saw the truth outside the interval."""
    rng = random.Random(11)
    wrong = 0
    for _ in range(runs):
        sequence = make()
        for _ in range(n):
            sequence.update(draw(rng))
            low, high = sequence.interval()
            if not low <= truth <= high:
                wrong += 1
                break
    return wrong / runs


def difference(mean: float, discordance: float) -> Draw:
    def draw(rng: random.Random) -> float:
        u = rng.random()
        return 1.0 if u < (discordance + mean) / 2 else -1.0 if u < discordance else 0.0

    return draw


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (lambda rng: float(rng.random() < 0.7), 0.7),
        (lambda rng: float(rng.random() < 0.97), 0.97),
        (lambda rng: rng.betavariate(3, 1), 0.75),
        (lambda rng: rng.randrange(4) / 3, 0.5),
    ],
    ids=["0.7", "0.97", "beta", "thirds"],
)
def test_looking_after_every_sample_is_wrong_at_most_5_percent_of_the_time(draw: Draw, truth: float) -> None:
    assert ever_wrong(draw, truth, 300, 150, ConfidenceSequence) <= 0.05


@pytest.mark.untraced
def test_looking_at_a_fixed_interval_after_every_sample_is_wrong_far_more_often() -> None:
    rng = random.Random(11)
    wrong, runs = 0, 150
    for _ in range(runs):
        right = 0
        for n in range(1, 301):
            right += rng.random() < 0.7
            low, high = wilson_interval(right, n)
            if not low <= 0.7 <= high:
                wrong += 1
                break
    assert wrong / runs > 0.25


@pytest.mark.untraced
def test_two_equal_models_are_decided_at_most_5_percent_of_the_time() -> None:
    assert ever_wrong(difference(0.0, 0.2), 0.0, 600, 150, ConfidenceSequence.of_differences) <= 0.05


@pytest.mark.untraced
def test_unequal_models_are_decided_early_and_rightly() -> None:
    rng = random.Random(12)
    draw, rule, planned = difference(0.1, 0.3), parse_until("decided"), 1_000
    stops, right = [], 0
    for _ in range(60):
        sequence = ConfidenceSequence.of_differences()
        while sequence.n < planned and not rule.is_met(sequence.interval()):
            sequence.update(draw(rng))
        stops.append(sequence.n)
        right += sequence.interval()[0] > 0
    saved = 1 - sum(stops) / len(stops) / planned
    assert right >= 57
    assert saved > 0.5
    assert sum(stops) / len(stops) < 1.5 * samples_for_paired_shares(0.1, 0.3)


def brute_capital(values: list[float], mean: float) -> float:
    """The average capital of all stakes, multiplied out bet by bet."""
    return sum(math.prod(1 + stake * (x - mean) / mean for x in values) for stake in STAKES) / len(STAKES)


@pytest.mark.untraced
@pytest.mark.parametrize("kinds", [[0.0, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0]])
def test_the_bounds_are_where_the_capital_reaches_two_over_alpha(kinds: list[float]) -> None:
    rng = random.Random(3)
    values = [rng.choice(kinds) for _ in range(60)]
    sequence = ConfidenceSequence(alpha=0.1)
    for value in values:
        sequence.update(value)
    low, high = sequence.interval()
    assert brute_capital(values, low) == pytest.approx(20, rel=2e-3)
    assert brute_capital([1 - x for x in values], 1 - high) == pytest.approx(20, rel=2e-3)


def test_values_between_the_steps_never_make_the_capital_larger() -> None:
    rng = random.Random(4)
    values = [rng.betavariate(2, 1) for _ in range(200)]
    sequence = ConfidenceSequence()
    for value in values:
        sequence.update(value)
    low, _ = sequence.interval()
    assert brute_capital(values, low) >= 40 * (1 - 1e-9)
    assert brute_capital(values, low + 0.01) < 40, "and hardly smaller"


@settings(max_examples=30)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_intervals_only_shrink_and_mirror_with_the_values(values: list[float]) -> None:
    sequence, mirror = ConfidenceSequence.of_differences(), ConfidenceSequence.of_differences()
    before = sequence.interval()
    assert before == (-1, 1)
    for value in values:
        sequence.update(value)
        mirror.update(-value)
        after = sequence.interval()
        assert before[0] <= after[0] <= after[1] <= before[1]
        assert mirror.interval() == pytest.approx((-after[1], -after[0]), abs=1e-6)
        before = after
    assert sequence.n == len(values)
    assert sequence.mean == pytest.approx(sum(values) / len(values))


def test_a_smaller_alpha_is_wider_and_more_samples_are_narrower() -> None:
    rng = random.Random(5)
    careful, usual = ConfidenceSequence(alpha=0.001), ConfidenceSequence()
    widths = []
    for i in range(1, 2_001):
        value = float(rng.random() < 0.6)
        careful.update(value)
        usual.update(value)
        if i in (100, 2_000):
            low, high = usual.interval()
            widths.append(high - low)
            assert careful.interval()[0] < low < high < careful.interval()[1]
    assert widths[1] < widths[0] / 3
    assert widths[1] < 2 * 2 * 1.96 * math.sqrt(0.24 / 2_000)


def test_before_the_first_value_nothing_is_known() -> None:
    sequence = ConfidenceSequence()
    assert (sequence.n, sequence.mean, sequence.interval()) == (0, None, (0.0, 1.0))


@pytest.mark.parametrize("value", [-0.01, 1.01, math.nan])
def test_a_value_outside_the_range_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        ConfidenceSequence().update(value)


@pytest.mark.parametrize("options", [{"low": 1.0}, {"alpha": 0.0}, {"alpha": 1.0}])
def test_impossible_sequences_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="not"):
        ConfidenceSequence(**options)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("ci<0.02", Until(0.02)),
        (" CI < .05 ", Until(0.05)),
        ("ci<2%", Until(0.02)),
        ("ci<1e-2", Until(0.01)),
        ("decided", Until()),
        ("Decided ", Until()),
    ],
)
def test_stop_rules_are_read(text: str, rule: Until) -> None:
    assert parse_until(text) == rule
    assert parse_until(str(rule)) == rule
    assert rule.is_about_difference == (rule.width is None)


@pytest.mark.parametrize("text", ["", "ci>0.02", "ci<", "ci<x", "0.02", "ci<0.02 or decided", "ci<-0.1", "done"])
def test_anything_else_is_an_error_that_shows_how(text: str) -> None:
    with pytest.raises(PlanError, match=r"write 'ci<0\.02'.* or 'decided'"):
        parse_until(text)


def test_a_slip_is_guessed_and_a_useless_width_refused() -> None:
    with pytest.raises(PlanError, match="Did you mean 'decided'"):
        parse_until("decide")
    for text in ("ci<0", "ci<1", "ci<150%"):
        with pytest.raises(PlanError, match="between 0 and 1"):
            parse_until(text)


@given(st.text(max_size=20))
def test_no_other_text_is_taken_for_a_rule(text: str) -> None:
    with pytest.raises(PlanError, match=re.escape(repr("!" + text))):
        parse_until("!" + text)


def test_rules_are_met_by_intervals() -> None:
    assert Until(0.02).is_met((0.5, 0.519))
    assert not Until(0.25).is_met((0.5, 0.75))
    assert [Until().is_met(i) for i in ((0.01, 0.2), (-0.2, -0.01), (-0.1, 0.1), (0.0, 0.1))] == [
        True,
        True,
        False,
        False,
    ]
    assert Until().is_met((0.01, 0.2), (0.02, 0.4))
    assert not Until().is_met((0.01, 0.2), (-0.4, -0.1)), "each decides, but for another"
    assert not Until(0.25).is_met((0.5, 0.6), (0.2, 0.6))


@settings(max_examples=40)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=80))
def test_the_p_value_says_what_the_interval_says(values: list[float]) -> None:
    sequence, swapped = ConfidenceSequence.of_differences(), ConfidenceSequence.of_differences()
    for value in values:
        sequence.update(value)
        swapped.update(-value)
    p_value = sequence.p_value(0.0)
    assert 0 < p_value <= 1
    assert swapped.p_value(0.0) == pytest.approx(p_value, rel=1e-9)
    low, high = sequence.interval()
    if p_value > 0.051:
        assert low <= 0 <= high
    if p_value < 0.049:
        assert low > 0 or high < 0


@pytest.mark.untraced
def test_a_p_value_that_is_watched_and_stopped_at_its_best_is_still_rarely_small() -> None:
    rng = random.Random(23)
    draw, runs, claims = difference(0.0, 0.3), 200, 0
    for _ in range(runs):
        sequence = ConfidenceSequence.of_differences()
        for _ in range(150):
            sequence.update(draw(rng))
            if sequence.p_value(0.0) < 0.05:
                claims += 1
                break
    assert claims / runs <= 0.05
    assert ConfidenceSequence().p_value(0.5) == 1
    with pytest.raises(ValueError, match="a candidate lies between -1 and 1"):
        sequence.p_value(2.0)
