"""Precision, recall and F1 against scikit-learn."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.domain.estimate import Estimate
from proctor.metrics.classification import ClassScore, classify
from proctor.metrics.intervals import estimate_rate

PAIRS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["a", "b", "c", "d", None])), min_size=1, max_size=40
)


@settings(max_examples=40)
@given(PAIRS)
def test_every_number_equals_scikit_learns(pairs: list[tuple[str, str | None]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    found = classify(pairs)
    targets, answers = [t for t, _ in pairs], [a or "-" for _, a in pairs]
    labels = sorted({*targets, *answers} - {"-"})
    for average, ours in (("micro", found.micro), ("macro", found.macro)):
        precision, recall, f1, _ = metrics.precision_recall_fscore_support(
            targets, answers, labels=labels, average=average, zero_division=0
        )
        numbers = (ours.precision or 0, ours.recall or 0, ours.f1 or 0)
        assert numbers == pytest.approx((precision, recall, f1), abs=1e-9)
    each = metrics.precision_recall_fscore_support(targets, answers, labels=labels, zero_division=0)
    assert list(found.classes) == labels
    for score, precision, recall, f1, support in zip(found.classes.values(), *each, strict=True):
        assert (score.precision or 0, score.recall or 0, score.f1 or 0) == pytest.approx((precision, recall, f1))
        assert score.support == support
    assert found.accuracy.value == pytest.approx(metrics.accuracy_score(targets, answers))
    assert found.accuracy == estimate_rate(sum(t == a for t, a in pairs), len(pairs))


def test_a_worked_example_has_the_numbers_of_its_definitions() -> None:
    # Class a: 2 hits of 3 answers and 4 samples; class b: 1 hit of 2 answers and 1 sample.
    found = classify([("a", "a"), ("a", "a"), ("a", "b"), ("a", None), ("b", "b"), ("c", "a")])
    assert found.classes["a"] == ClassScore(2 / 3, 2 / 4, 4 / 7, 4)
    assert found.classes["b"] == ClassScore(1 / 2, 1.0, 2 / 3, 1)
    assert found.classes["c"] == ClassScore(None, 0.0, 0.0, 1)
    assert found.micro == ClassScore(3 / 5, 3 / 6, 6 / 11, 6)
    assert found.macro.f1 == pytest.approx((4 / 7 + 2 / 3) / 3)
    assert found.accuracy.value == 0.5


def test_what_never_occurred_is_undefined_and_not_zero() -> None:
    found = classify([("a", "b"), ("a", None)])
    assert found.classes["a"] == ClassScore(None, 0.0, 0.0, 2)
    assert found.classes["b"] == ClassScore(0.0, None, 0.0, 0)
    assert classify([]).accuracy == Estimate(None, 0)
    assert classify([]).macro == ClassScore(None, None, None, 0)


def test_fixed_labels_decide_what_is_averaged() -> None:
    found = classify([("a", "a"), ("b", "zzz")], labels=["a", "b"])
    assert list(found.classes) == ["a", "b"]
    assert found.macro.f1 == 0.5
