"""pass@k, pass^k, majority@k and consistency."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from proctor.metrics.repeats import (
    SampleRepeats,
    agreement,
    estimate_repeats,
    majority_at_k,
    pass_all_k,
    pass_at_k,
    shared_words,
    similarity,
)

HANDS = st.integers(1, 8).flatmap(
    lambda n: st.tuples(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=n, max_size=n), st.integers(1, n))
)
WORTH = {"x": 1.0, "y": 0.0, "z": 0.5, None: 0.0}


def published_pass_at_k(n: int, c: int, k: int) -> float:
    """The estimator as printed in 'Evaluating Large Language Models Trained on Code'."""
    return 1.0 if n - c < k else float(1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


@given(st.integers(1, 200), st.data())
def test_pass_at_k_equals_the_published_formula_and_scipys_hypergeometric(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert pass_at_k(n, c, k) == pytest.approx(published_pass_at_k(n, c, k), abs=1e-9)
    assert pass_at_k(n, c, k) == pytest.approx(stats.hypergeom.sf(0, n, c, k), abs=1e-9)
    assert pass_all_k(n, c, k) == pytest.approx(stats.hypergeom.pmf(k, n, c, k), abs=1e-9)


@given(st.integers(2, 30), st.data())
def test_more_tries_pass_more_easily_and_all_pass_less_easily(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n - 1))
    assert pass_all_k(n, c, k + 1) <= pass_all_k(n, c, k) <= pass_at_k(n, c, k) <= pass_at_k(n, c, k + 1)
    assert pass_at_k(n, c, 1) == pass_all_k(n, c, 1) == c / n


@pytest.mark.parametrize(("n", "right", "k"), [(3, 1, 4), (3, 4, 1), (3, 1, 0), (0, 0, 1)])
def test_more_draws_than_repeats_are_refused(n: int, right: int, k: int) -> None:
    with pytest.raises(ValueError, match="repeats"):
        pass_at_k(n, right, k)
    with pytest.raises(ValueError, match="repeats"):
        pass_all_k(n, right, k)


def majority_by_enumeration(answers: list[str | None], k: int) -> float:
    """Every hand counted; each unreadable answer stands for itself alone."""
    total = []
    for hand in itertools.combinations(answers, k):
        votes = Counter(f"unread {place}" if answer is None else answer for place, answer in enumerate(hand))
        winners = [name for name, count in votes.items() if count == max(votes.values())]
        total.append(fsum(WORTH.get(name, 0.0) for name in winners) / len(winners))
    return sum(total) / len(total)


@given(HANDS)
def test_majority_at_k_equals_counting_every_hand(drawn: tuple[list[str | None], int]) -> None:
    answers, k = drawn
    values = [WORTH[answer] for answer in answers]
    assert majority_at_k(answers, values, k) == pytest.approx(majority_by_enumeration(answers, k), abs=1e-12)


def test_majority_of_one_is_the_mean_and_of_all_is_the_vote() -> None:
    answers, values = ["18", "18", "20", None, "18"], [1.0, 1.0, 0.0, 0.0, 1.0]
    assert majority_at_k(answers, values, 1) == pytest.approx(3 / 5)
    assert majority_at_k(answers, values, 5) == 1
    with pytest.raises(ValueError, match="its score"):
        majority_at_k(answers, values[:-1], 1)
    assert majority_at_k(["a"] * 130 + ["b"] * 120, [1.0] * 130 + [0.0] * 120, 249) == pytest.approx(1)


@given(HANDS)
def test_agreement_is_the_share_of_equal_pairs(drawn: tuple[list[str | None], int]) -> None:
    answers, _ = drawn
    pairs = list(itertools.combinations(answers, 2))
    expected = sum(a is not None and a == b for a, b in pairs) / len(pairs) if pairs else None
    assert agreement(answers) == expected
    assert similarity(answers, lambda a, b: float(a == b)) == (None if expected is None else pytest.approx(expected))


def test_similarity_uses_the_given_function() -> None:
    assert similarity(["abc", "abd"], lambda a, b: len(set(a) & set(b)) / len(set(a) | set(b))) == 0.5
    assert similarity(["abc", None], lambda a, b: 1.0) == 0
    assert similarity(["abc"], lambda a, b: 1.0) is None


def test_measures_of_repeats_are_averaged_over_samples_with_an_interval() -> None:
    samples = [SampleRepeats(str(i), tuple(float(j < i % 5) for j in range(4)), group=None) for i in range(50)]
    measure: Callable[[SampleRepeats], float | None] = lambda s: pass_at_k(len(s.values), s.right(), 2)  # noqa: E731
    estimate = estimate_repeats(samples, {"pass@2": measure})["pass@2"]
    values = [published_pass_at_k(4, i % 5, 2) for i in range(50)]
    assert estimate.value == pytest.approx(np.mean(values))
    assert estimate.stderr == pytest.approx(stats.sem(values))
    assert estimate.n == 50


def test_samples_with_too_few_repeats_are_left_out_of_n() -> None:
    samples = [SampleRepeats("a", (1.0,), ("x",)), SampleRepeats("b", (1.0, 0.0), ("x", "x"))]
    found = estimate_repeats(samples, {"agreement": lambda s: agreement(s.answers), "right": lambda s: s.right() / 2})
    assert {name: estimate.n for name, estimate in found.items()} == {"agreement": 1, "right": 2}


def test_partly_right_repeats_pass_only_below_their_threshold() -> None:
    assert SampleRepeats("a", (1.0, 0.6, 0.0)).right() == 1
    assert SampleRepeats("a", (1.0, 0.6, 0.0)).right(0.5) == 2


@given(st.text(), st.text())
def test_shared_words_are_symmetric_and_whole_for_equal_texts(a: str, b: str) -> None:
    assert shared_words(a, b) == shared_words(b, a)
    assert 0 <= shared_words(a, b) <= 1
    assert shared_words(a, a) == 1


def test_shared_words_count_repetitions() -> None:
    assert shared_words("the cat sat", "The cat ran") == pytest.approx(2 / 3)
    assert shared_words("no no no", "no") == pytest.approx(0.5)
    assert shared_words("one", "two") == 0
