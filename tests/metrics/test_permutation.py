"""The paired permutation test."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from proctor.metrics import permutation
from proctor.metrics.permutation import MAX_EXACT, MAX_SINGLE, sign_flip_test


def by_enumeration(differences: list[float]) -> float:
    observed = abs(sum(differences))
    signs = itertools.product((1, -1), repeat=len(differences))
    sums = [abs(sum(s * d for s, d in zip(sign, differences, strict=True))) for sign in signs]
    return sum(s >= observed - 1e-9 for s in sums) / len(sums)


@given(st.lists(st.sampled_from([-1.0, -0.75, -0.3, 0.0, 0.1, 0.25, 1.0]), max_size=9))
def test_few_differences_are_counted_exactly(differences: list[float]) -> None:
    outcome = sign_flip_test(differences)
    assert outcome.p_value == pytest.approx(by_enumeration(differences), abs=1e-12)
    assert outcome.error == 0


def test_the_exact_test_equals_scipys() -> None:
    rng = random.Random(1)
    differences = [rng.gauss(0.3, 1) for _ in range(12)]
    reference = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=math.inf, vectorized=False
    )
    assert sign_flip_test(differences).p_value == pytest.approx(reference.pvalue, abs=1e-9)


@pytest.mark.parametrize("n", [MAX_EXACT + 1, 300, MAX_SINGLE, MAX_SINGLE + 1])
def test_equal_sizes_give_the_binomial_answer(n: int) -> None:
    # With differences of one size the test is the sign test, whose p-value is known exactly.
    plus = n // 2 + round(0.8 * math.sqrt(n))
    outcome = sign_flip_test([0.5] * plus + [-0.5] * (n - plus), seed=2)
    expected = stats.binomtest(plus, n).pvalue
    assert outcome.error == pytest.approx(math.sqrt(expected * (1 - expected) / permutation.DRAWS), rel=0.2)
    assert abs(outcome.p_value - expected) < 4 * outcome.error


@pytest.mark.parametrize("n", [200, MAX_SINGLE + 500])
def test_many_different_sizes_agree_with_the_normal_limit(n: int) -> None:
    rng = random.Random(n)
    sizes = [rng.betavariate(1, 6) for _ in range(n)]
    differences = [size if rng.random() < 0.5 else -size for size in sizes]
    shift = 1.9 * math.sqrt(math.fsum(s * s for s in sizes)) - math.fsum(differences)
    for i, size in enumerate(sizes):
        # Turn signs until the sum is close to 1.9 standard deviations.
        if shift * differences[i] < 0 and abs(shift) > 2 * size:
            differences[i] = -differences[i]
            shift -= math.copysign(2 * size, shift)
    z = math.fsum(differences) / math.sqrt(math.fsum(s * s for s in sizes))
    outcome = sign_flip_test(differences, seed=3)
    assert outcome.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), abs=4 * outcome.error + 0.001)


def test_the_order_and_the_side_do_not_matter_and_the_seed_repeats() -> None:
    rng = random.Random(5)
    differences = [rng.gauss(0.05, 0.3) for _ in range(100)]
    first = sign_flip_test(differences, seed=7)
    assert sign_flip_test(differences[::-1], seed=7) == first
    assert sign_flip_test([-d for d in differences], seed=7) == first
    assert sign_flip_test(differences, seed=8) != first


def test_no_difference_at_all_proves_nothing() -> None:
    assert sign_flip_test([]).p_value == 1
    assert sign_flip_test([0.0] * 100).p_value == 1
    assert sign_flip_test([0.0] * 100 + [1.0] * 6).p_value == 2 / 2**6


@pytest.mark.untraced
def test_under_the_null_the_test_is_wrong_5_percent_of_the_time() -> None:
    rng = random.Random(6)
    runs = 600
    wrong = sum(sign_flip_test([rng.gauss(0, 1) for _ in range(15)]).p_value < 0.05 for _ in range(runs))
    assert 0.03 < wrong / runs < 0.07
