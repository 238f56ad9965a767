"""Figures never round across a meaning."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proctor.domain.estimate import Estimate
from proctor.metrics.compare import PairedComparison
from proctor.metrics.rounding import (
    decimal_text,
    difference_text,
    figure_text,
    p_text,
    percent_text,
    points_text,
)
from proctor.metrics.verdicts import verdict
from proctor.reports.figures import estimate_text, share_text
from proctor.runs.gates import check_gates
from reports.parts import estimate, evaluation, run_of

SHARES = st.one_of(
    st.floats(0, 1), st.builds(lambda n, k: min(k, n) / n, st.integers(1, 10**6), st.integers(0, 10**6)),
    st.builds(lambda n: 1 - 1 / n, st.integers(1, 10**8)), st.builds(lambda n: 1 / n, st.integers(1, 10**8)),
)  # fmt: skip
NEAR = 1e-9


def side(value: float, limit: float, near: float = NEAR) -> int:
    return 0 if abs(value - limit) <= near else 1 if value > limit else -1


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0.000"), (1, "1.000"), (2999 / 3000, "0.9997"), (1 / 5000, "0.0002"), (0.71, "0.710"), (0.1 * 3, "0.300"),
     (sum([0.1] * 10), "1.000"), (0.9994, "0.999"), (0.99951, "0.9995"), (-0.0, "0.000")],
)  # fmt: skip
def test_a_score_is_shown_as_1_or_0_only_where_it_is(value: float, shown: str) -> None:
    assert decimal_text(value) == shown


@given(SHARES)
@example(2999 / 3000)
def test_every_share_stays_on_its_side_of_0_and_1(value: float) -> None:
    for text in (decimal_text(value), figure_text(value), decimal_text(value, 2)):
        assert [side(float(text), end) for end in (0.0, 1.0)] == [side(value, end) for end in (0.0, 1.0)]
        assert float(text) == pytest.approx(value, abs=0.005, rel=0.5)
    percent = float(percent_text(value).removesuffix(" %"))
    assert [side(percent, end) for end in (0.0, 100.0)] == [side(100 * value, end) for end in (0.0, 100.0)]


@given(st.one_of(st.floats(0, 1), st.floats(0.049, 0.051)))
@example(0.0496)
@example(0.0504)
def test_a_p_value_is_shown_on_its_side_of_the_level(p_value: float) -> None:
    text = p_text(p_value)
    if text == "< 0.001":
        assert p_value < 0.001
    else:
        assert [side(float(text), end) for end in (0.0, 0.05, 1.0)] == [side(p_value, end) for end in (0.0, 0.05, 1.0)]


def test_p_values_around_the_level_are_told_apart() -> None:
    assert [p_text(p) for p in (0.0496, 0.05, 0.0504, 0.04, 0.0002)] == [
        "0.0496",
        "0.050",
        "0.0504",
        "0.040",
        "< 0.001",
    ]


@given(st.one_of(st.floats(-1, 1), st.floats(-1e-6, 1e-6)))
def test_a_difference_is_shown_as_none_only_where_there_is_none(value: float) -> None:
    text = difference_text(value)
    assert text[0] in "+-"
    assert [side(float(text), end) for end in (-1.0, 0.0, 1.0)] == [side(value, end) for end in (-1.0, 0.0, 1.0)]
    assert (float(points_text(value)) == 0) == (abs(value) <= NEAR / 100)


@given(st.lists(SHARES, min_size=3, max_size=3).map(sorted))
def test_rounding_never_puts_a_value_outside_its_interval(ends: list[float]) -> None:
    low, value, high = (float(decimal_text(end)) for end in ends)
    assert low <= value <= high


@given(st.integers(1, 10**7), st.data())
def test_a_count_is_no_share_of_0_or_100_percent_unless_it_is(total: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, total))
    percent = float(share_text(count, total).partition("(")[2].removesuffix(" %)"))
    assert percent > 0
    assert (percent == 100) == (count == total)


@given(SHARES, st.one_of(SHARES, st.just(0.8)))
@example(0.79996, 0.8)
@example(0.7999999999999999, 0.8)
def test_a_gate_never_shows_a_value_that_contradicts_its_verdict(value: float, bar: float) -> None:
    run = run_of(evaluation(metrics={"accuracy": estimate(value)}))
    [case] = check_gates(run, {"accuracy": bar}, [["accuracy"]])
    if case.problem is None:
        assert value >= bar - NEAR
    else:
        value_text, _, bar_text = case.problem.partition(" is ")[2].partition(" (n=10), below ")
        assert float(value_text) < float(bar_text.removesuffix("."))


@given(st.floats(1e-8, 0.5), st.floats(1e-8, 0.5), st.floats(0, 0.0499999))
def test_a_verdict_shows_no_end_of_0_and_no_p_at_the_level(low: float, width: float, p_value: float) -> None:
    shown = Estimate(low + width / 2, 100, 0.1, low, low + width, "t")
    half = Estimate(0.5, 100)
    text = verdict(PairedComparison(("A", "B"), 100, half, half, shown, p_value, p_adjusted=p_value))
    ends = text.partition("[")[2].partition("]")[0].split(", ")
    assert all(float(end) > 0 for end in ends)
    assert text.endswith("p < 0.001") or float(text.rpartition("= ")[2]) < 0.05


def test_an_estimate_of_almost_everything_is_not_shown_as_everything() -> None:
    shown = estimate(2999 / 3000, 3000, ci95=(0.9981, 0.99994))
    assert estimate_text(shown) == "0.9997 [0.998, 0.9999] n=3,000"
    assert share_text(1, 5000) == "1 (0.02 %)"
