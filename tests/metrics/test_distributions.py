"""Our distributions against scipy's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from proctor.metrics.distributions import (
    beta_cdf,
    binomial_cdf,
    normal_cdf,
    normal_quantile,
    sign_test,
    t_cdf,
    t_quantile,
)

DEGREES = (0.5, 1, 2, 2.5, 3, 5, 10, 30, 99, 1_000, 100_000)
SHARES = (1e-8, 1e-3, 0.01, 0.025, 0.05, 0.2, 0.49, 0.6, 0.9, 0.975, 0.999)


@pytest.mark.parametrize("x", [-37.0, -8.0, -1.96, -0.1, 0.0, 0.5, 3.0])
def test_the_normal_distribution_equals_scipys(x: float) -> None:
    assert normal_cdf(x) == pytest.approx(stats.norm.cdf(x), rel=1e-12)


@pytest.mark.parametrize("p", SHARES)
def test_normal_quantiles_equal_scipys(p: float) -> None:
    assert normal_quantile(p) == pytest.approx(stats.norm.ppf(p), rel=1e-12)


@pytest.mark.parametrize("df", DEGREES)
@pytest.mark.parametrize("p", SHARES)
def test_the_t_distribution_equals_scipys_in_both_directions(df: float, p: float) -> None:
    quantile = stats.t.ppf(p, df)
    assert t_quantile(p, df) == pytest.approx(quantile, rel=1e-10)
    assert t_cdf(quantile, df) == pytest.approx(p, rel=1e-10)


def test_the_median_of_t_is_zero_and_infinite_degrees_are_normal() -> None:
    assert t_quantile(0.5, 3) == 0
    assert t_quantile(0.975, float("inf")) == normal_quantile(0.975)
    assert t_cdf(1.0, float("inf")) == normal_cdf(1.0)


@pytest.mark.parametrize(("p", "df"), [(0, 3), (1, 3), (0.5, 0)])
def test_a_t_quantile_outside_its_range_is_refused(p: float, df: float) -> None:
    with pytest.raises(ValueError, match="t quantile"):
        t_quantile(p, df)


@given(st.floats(1e-6, 1 - 1e-6), st.floats(0.1, 3_000), st.floats(0.1, 3_000))
def test_the_incomplete_beta_function_equals_scipys(x: float, a: float, b: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-9, abs=1e-12)


@given(st.integers(1, 100_000), st.floats(0, 1), st.floats(0.001, 0.999))
def test_the_binomial_distribution_equals_scipys(n: int, place: float, p: float) -> None:
    k = round(n * place)
    assert binomial_cdf(k, n, p) == pytest.approx(stats.binom.cdf(k, n, p), rel=1e-9, abs=1e-12)


def test_binomial_edges_are_exact() -> None:
    assert [binomial_cdf(k, 3, 0.5) for k in (-1, 3)] == [0, 1]


@given(st.integers(0, 400), st.integers(0, 400))
def test_the_sign_test_equals_scipys_binomial_test(a: int, b: int) -> None:
    expected = stats.binomtest(a, a + b, 0.5).pvalue if a + b else 1.0
    assert sign_test(a, b) == pytest.approx(expected, rel=1e-9)
    assert sign_test(a, b) == sign_test(b, a)
