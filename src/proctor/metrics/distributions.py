"""The normal, t, beta and binomial distributions, to about 1e-12, without scipy."""

from __future__ import annotations

import math
from functools import lru_cache

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_TINY = 1e-300


def normal_cdf(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


@lru_cache(maxsize=256)
def normal_quantile(p: float) -> float:
    # Imported here because `statistics` brings `decimal` and `fractions` along, which start-up can do without.
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


def _stirling_error(n: float) -> float:
    """log(n!) minus Stirling's approximation."""
    if n < 16:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - _HALF_LOG_2PI
    square = n * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / n


def _deviance(x: float, mean: float) -> float:
    """x log(x / mean) + mean - x, also where x is close to the mean."""
    if abs(x - mean) < 0.1 * (x + mean):
        ratio = (x - mean) / (x + mean)
        total, term, k = (x - mean) * ratio, 2 * x * ratio, 1
        while True:
            term *= ratio * ratio
            larger = total + term / (2 * k + 1)
            if larger == total:
                return total
            total, k = larger, k + 1
    return x * math.log(x / mean) + mean - x


def _log_binomial_term(a: float, b: float, x: float, y: float) -> float:
    """log of (a+b)! / (a! b!) x^a y^b for real a, b > 0 and x + y = 1 (Loader's saddle-point form)."""
    n = a + b
    errors = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
    return errors - _deviance(a, n * x) - _deviance(b, n * y) + 0.5 * math.log(n / (2 * math.pi * a * b))


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, 100_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + numerator * d
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = 1 + numerator / c
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            return value
    raise ArithmeticError(f"the incomplete beta function did not converge at a={a}, b={b}, x={x}")


def beta_cdf(x: float, a: float, b: float, *, complement: float | None = None) -> float:
    """The regularised incomplete beta function; `complement` is 1 - x where the caller knows it more exactly."""
    y = 1 - x if complement is None else complement
    if x <= 0 or y <= 0:
        return 0.0 if x <= 0 else 1.0
    # x^a y^b / B(a, b), from the binomial term with the same exponents.
    front = math.exp(_log_binomial_term(a, b, x, y)) * a * b / (a + b)
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, y) / b


def t_cdf(x: float, df: float) -> float:
    if math.isinf(df):
        return normal_cdf(x)
    square = x * x
    tail = 0.5 * beta_cdf(df / (df + square), df / 2, 0.5, complement=square / (df + square))
    return tail if x < 0 else 1 - tail


def _t_density(x: float, df: float) -> float:
    log_term = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)
    return math.exp(log_term - (df + 1) / 2 * math.log1p(x * x / df))


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """The x with t_cdf(x, df) == p: Newton's steps, kept inside a bracket."""
    if not 0 < p < 1 or df <= 0:
        raise ValueError(f"a t quantile needs 0 < p < 1 and df > 0, not p={p}, df={df}")
    if p > 0.5:
        return -t_quantile(1 - p, df)
    if p == 0.5 or math.isinf(df):
        return 0.0 if p == 0.5 else normal_quantile(p)
    low, high = -1.0, 0.0
    while t_cdf(low, df) > p:
        low, high = low * 2, low
    x = max(low, min(normal_quantile(p), high))
    for _ in range(200):
        gap = t_cdf(x, df) - p
        low, high = (low, x) if gap > 0 else (x, high)
        step = x - gap / _t_density(x, df)
        following = step if low < step < high else (low + high) / 2
        if abs(following - x) <= 1e-14 * abs(x):
            return following
        x = following
    return x


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k)."""
    if k < 0 or k >= n:
        return 0.0 if k < 0 else 1.0
    return beta_cdf(1 - p, n - k, k + 1, complement=p)


def sign_test(smaller: int, larger: int) -> float:
    """The exact two-sided p-value of seeing counts this far from even when both sides are equally likely."""
    total = smaller + larger
    return min(1.0, 2 * binomial_cdf(min(smaller, larger), total, 0.5)) if total else 1.0
