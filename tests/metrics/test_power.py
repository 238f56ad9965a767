"""Samples needed, and differences that can be seen."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metrics.reference import power_of_mcnemar
from proctor.metrics.flips import mcnemar
from proctor.metrics.power import (
    detectable_by_paired_shares,
    detectable_difference,
    discordance,
    samples_for_paired_shares,
    samples_for_stderr,
    samples_for_unpaired_shares,
)


def test_samples_for_two_separate_shares_equal_the_textbook() -> None:
    # Fleiss, Levin and Paik (2003), equation 4.2: 0.60 against 0.70.
    assert samples_for_unpaired_shares(0.6, 0.7) == 356
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    n = samples_for_unpaired_shares(0.7, 0.73)
    assert proportion.power_proportions_2indep(0.03, 0.7, n).power == pytest.approx(0.8, abs=0.002)


@pytest.mark.parametrize(
    ("difference", "share"), [(0.02, 0.1), (0.05, 0.1), (0.05, 0.3), (0.1, 0.2), (0.01, 0.05), (0.1, 0.5), (0.02, 0.3)]
)
def test_pairs_for_a_share_give_the_exact_test_its_power(difference: float, share: float) -> None:
    n = samples_for_paired_shares(difference, share)
    assert 0.8 <= power_of_mcnemar(n, difference, share) <= 0.825


@pytest.mark.untraced
def test_the_exact_power_of_mcnemar_equals_a_simulation() -> None:
    rng = random.Random(1)
    n, difference, share = 165, 0.1, 0.2
    runs, seen = 1_500, 0
    for _ in range(runs):
        draws = [rng.random() for _ in range(n)]
        gained = sum(u < (share + difference) / 2 for u in draws)
        seen += mcnemar(gained, sum(u < share for u in draws) - gained) <= 0.05
    expected = power_of_mcnemar(n, difference, share)
    assert seen / runs == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / runs))


def test_the_exact_test_never_errs_more_than_it_may() -> None:
    for n in (10, 50, 400):
        assert power_of_mcnemar(n, 1e-9, 0.2) <= 0.05


@given(st.floats(0.005, 0.2), st.floats(0.2, 0.9))
def test_the_detectable_difference_inverts_the_samples_needed(difference: float, share: float) -> None:
    n = samples_for_paired_shares(difference, share)
    found = detectable_by_paired_shares(n, share)
    assert found is not None
    assert found <= difference + 1e-8
    assert samples_for_paired_shares(found, share) <= n


def test_too_few_pairs_can_show_nothing() -> None:
    assert detectable_by_paired_shares(3, 0.1) is None
    assert detectable_by_paired_shares(0, 0.1) is None
    assert detectable_by_paired_shares(100, 0.0) is None


@given(st.floats(0.01, 0.3), st.floats(0.31, 1))
def test_smaller_differences_and_more_noise_need_more(difference: float, share: float) -> None:
    assert samples_for_paired_shares(difference / 2, share) > samples_for_paired_shares(difference, share)
    assert samples_for_paired_shares(difference, share) >= samples_for_paired_shares(difference, 0.305)
    assert samples_for_paired_shares(-difference, share) == samples_for_paired_shares(difference, share)


def test_an_error_of_n_samples_extrapolates() -> None:
    assert detectable_difference(0.01) == pytest.approx(0.01 * (1.959963985 + 0.841621234))
    assert samples_for_stderr(100, 0.05, 0.02) == math.ceil(100 * (2.801585218 * 0.05 / 0.02) ** 2)


@pytest.mark.parametrize("groups", [10, 20])
def test_what_few_groups_can_show_is_shown_in_80_percent_of_runs(groups: int) -> None:
    """With 2.80 standard errors, as of many samples, 10 groups showed it in 70 %."""
    rng, error = random.Random(groups), 0.05 / math.sqrt(groups)
    true = detectable_difference(error, df=groups - 1)
    shown = 0
    for _ in range(300):
        differences = [rng.gauss(true, 0.05) for _ in range(groups)]
        shown += stats.ttest_1samp(differences, 0).pvalue < 0.05
    assert 0.74 <= shown / 300 <= 0.88


def test_discordance_follows_from_correlation() -> None:
    assert discordance(0.7, 0.7, 1.0) == pytest.approx(0)
    assert discordance(0.7, 0.6, 0.0) == pytest.approx(0.7 * 0.4 + 0.3 * 0.6)
    with pytest.raises(ValueError, match="cannot have the correlation"):
        discordance(0.9, 0.2, 1.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: samples_for_paired_shares(0, 0.1), "difference"),
        (lambda: samples_for_paired_shares(float("nan"), 0.1), "difference"),
        (lambda: samples_for_paired_shares(0.2, 0.1), "discordance must be between"),
        (lambda: samples_for_unpaired_shares(-0.1, 0.5), "accuracy must be between"),
        (lambda: samples_for_paired_shares(0.1, 0.1, power=1.0), "power"),
    ],
)
def test_impossible_questions_are_refused(call: object, words: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=words):
        call()
