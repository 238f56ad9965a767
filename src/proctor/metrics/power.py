"""How many samples a difference needs to be seen, and which difference a number of samples can show.

All tests are two-sided at 5 %, and "seen" means in 80 % of repetitions, unless told otherwise. Differences are shares:
0.02 is two points. Shown to agree with simulation, with exact power and with statsmodels in the tests.
"""

from __future__ import annotations

import math

from proctor.metrics.distributions import normal_quantile, t_quantile

ALPHA = 0.05
POWER = 0.8


def _quantiles(power: float, alpha: float) -> tuple[float, float]:
    if not 0 < alpha < 1 or not alpha < power < 1:
        raise ValueError(f"the power must be between alpha ({alpha:g}) and 1, not {power:g}")
    return normal_quantile(1 - alpha / 2), normal_quantile(power)


def _check(difference: float) -> float:
    if difference == 0 or not abs(difference) <= 1:
        raise ValueError(f"the difference must not be 0 and at most 1 in size, not {difference:g}")
    return abs(difference)


def samples_for_paired_shares(
    difference: float, discordance: float, *, power: float = POWER, alpha: float = ALPHA
) -> int:
    """Pairs the exact McNemar test needs, when two systems differ on the share `discordance` of the samples."""
    test, hit = _quantiles(power, alpha)
    size = _check(difference)
    if not size <= discordance <= 1:
        raise ValueError(
            f"with a difference of {size:g} the discordance must be between {size:g} and 1, not {discordance:g}"
        )
    normal = ((test * math.sqrt(discordance) + hit * math.sqrt(discordance - size * size)) / size) ** 2
    # Connor (1987), and two flips' worth of samples more because the exact test moves in whole flips.
    return math.ceil(normal + 2 / size)


def samples_for_unpaired_shares(share_a: float, share_b: float, *, power: float = POWER, alpha: float = ALPHA) -> int:
    """Samples needed of each system when they answer different ones, to tell two shares apart."""
    test, hit = _quantiles(power, alpha)
    size = _check(share_b - share_a)
    _check_share(share_a, share_b)
    middle = (share_a + share_b) / 2
    apart = share_a * (1 - share_a) + share_b * (1 - share_b)
    return max(2, math.ceil(((test * math.sqrt(2 * middle * (1 - middle)) + hit * math.sqrt(apart)) / size) ** 2))


def discordance(share_a: float, share_b: float, correlation: float) -> float:
    """The share of samples two systems differ on, from their shares and the correlation of their right answers."""
    _check_share(share_a, share_b)
    both = share_a * share_b + correlation * math.sqrt(share_a * (1 - share_a) * share_b * (1 - share_b))
    if not max(0.0, share_a + share_b - 1) - 1e-12 <= both <= min(share_a, share_b) + 1e-12:
        raise ValueError(f"accuracies of {share_a:g} and {share_b:g} cannot have the correlation {correlation:g}")
    return share_a + share_b - 2 * both


def _check_share(*shares: float) -> None:
    for share in shares:
        if not 0 <= share <= 1:
            raise ValueError(f"an accuracy must be between 0 and 1, not {share:g}")


def detectable_difference(stderr: float, *, df: float = math.inf, power: float = POWER, alpha: float = ALPHA) -> float:
    """The smallest true difference that would be seen, given the standard error of the measured one.

    An error known from few units has few degrees of freedom (`df`): it takes a larger difference then.
    """
    if math.isinf(df):
        return sum(_quantiles(power, alpha)) * stderr
    return (t_quantile(1 - alpha / 2, df) + t_quantile(power, df)) * stderr


def detectable_by_paired_shares(
    n: int, discordance: float, *, power: float = POWER, alpha: float = ALPHA
) -> float | None:
    """The smallest difference n pairs can show; None when even the largest possible would not be seen."""
    low, high = 0.0, discordance
    if n < 1 or high <= 0 or samples_for_paired_shares(high, discordance, power=power, alpha=alpha) > n:
        return None
    while high - low > 1e-9:
        middle = (low + high) / 2
        enough = samples_for_paired_shares(middle, discordance, power=power, alpha=alpha) <= n
        low, high = (low, middle) if enough else (middle, high)
    return high


def samples_for_stderr(n: int, stderr: float, difference: float, *, power: float = POWER, alpha: float = ALPHA) -> int:
    """Samples needed in all, when n samples gave this standard error and errors shrink with the root of n."""
    return math.ceil(n * (detectable_difference(stderr, power=power, alpha=alpha) / _check(difference)) ** 2)
