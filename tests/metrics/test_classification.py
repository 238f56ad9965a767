"""Precision, recall and F1 against scikit-learn."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.classification import (
    NO_INTERVAL,
    ClassScore,
    Confusion,
    Measure,
    create_f1,
    create_precision,
    create_recall,
)
from proctor.metrics.metric import Metric, measure_all

METRICS: dict[Measure, Metric] = {"precision": create_precision(), "recall": create_recall(), "f1": create_f1()}
ANSWERS = st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=1, max_size=3)
SAMPLES = st.lists(st.tuples(st.sampled_from("abc"), ANSWERS), min_size=1, max_size=40)


def sample(target: str, *answers: str | None, group: str | None = None, category: str | None = None) -> SampleScore:
    return SampleScore("", 0.0, category, group, target=target, answers=answers)


@settings(max_examples=60)
@given(SAMPLES)
def test_every_number_equals_scikit_learns(samples: list[tuple[str, list[str | None]]]) -> None:
    """Answers of several epochs are rows that share their sample's weight."""
    metrics = pytest.importorskip("sklearn.metrics")
    rows = [(target, answer or "-", 1 / len(answers)) for target, answers in samples for answer in answers]
    targets, answers, weights = zip(*rows, strict=True)
    labels = sorted(set(targets))
    scores = [sample(target, *answers) for target, answers in samples]
    every = metrics.precision_recall_fscore_support(
        targets, answers, labels=labels, average="macro", zero_division=0, sample_weight=weights
    )
    for metric, expected in zip(METRICS.values(), every, strict=False):
        estimate = metric.measure(scores)
        assert estimate.value == pytest.approx(expected, abs=1e-9)
        assert estimate.n == len(samples)
    each = metrics.precision_recall_fscore_support(
        targets, answers, labels=labels, zero_division=0, sample_weight=weights
    )
    listed = create_f1().measure(scores).classes
    assert listed is not None
    assert list(listed) == labels
    for score, precision, recall, f1, support in zip(listed.values(), *each, strict=True):
        assert (score["precision"] or 0, score["recall"], score["f1"]) == pytest.approx((precision, recall, f1))
        assert score["support"] == pytest.approx(support)


def test_a_worked_example_has_the_numbers_of_its_definitions() -> None:
    # Class a: 2 hits of 3 answers and 4 samples; class b: 1 hit of 2 answers and 1 sample.
    pairs = [("a", "a"), ("a", "a"), ("a", "b"), ("a", None), ("b", "b"), ("c", "a")]
    confusion = Confusion("f1")
    for target, answer in pairs:
        confusion.add(sample(target, answer))
    assert confusion.classes() == {
        "a": ClassScore(2 / 3, 2 / 4, 4 / 7, 4),
        "b": ClassScore(1 / 2, 1.0, 2 / 3, 1),
        "c": ClassScore(None, 0.0, 0.0, 1),
    }
    assert confusion.estimate().value == pytest.approx((4 / 7 + 2 / 3) / 3)
    assert confusion.estimate().n == 6


def test_an_answer_that_nothing_expects_lowers_recall_and_no_precision() -> None:
    found = create_f1().measure([sample("a", "a"), sample("a", "zzz"), sample("a", None)]).classes
    assert found == {"a": {"precision": 1.0, "recall": 1 / 3, "f1": 0.5, "support": 3}}


@pytest.mark.parametrize("of", METRICS)
def test_nothing_measured_has_no_value_and_no_spread_no_interval(of: Measure) -> None:
    assert METRICS[of].measure([]) == Estimate(None, 0)
    perfect = METRICS[of].measure([sample("a", "a"), sample("b", "b")])
    assert (perfect.value, perfect.n, perfect.stderr, perfect.low, perfect.high) == (1, 2, None, None, None)
    assert perfect.method == NO_INTERVAL


@pytest.mark.untraced
@pytest.mark.parametrize("of", METRICS)
@pytest.mark.parametrize("epochs", [1, 3])
def test_the_standard_error_is_that_of_a_bootstrap(of: Measure, epochs: int) -> None:
    rng = random.Random(5)
    chosen = rng.choices("abc", [5, 3, 2], k=300)
    scores = [sample(t, *(t if rng.random() < 0.75 else rng.choice("abc") for _ in range(epochs))) for t in chosen]
    drawn = [METRICS[of].measure(rng.choices(scores, k=300)).value for _ in range(1_000)]
    estimate = METRICS[of].measure(scores)
    assert estimate.method == "delta"
    assert estimate.stderr == pytest.approx(np.std(np.array(drawn, float)), rel=0.1)
    assert estimate.value is not None
    assert estimate.low is not None
    assert estimate.high is not None
    assert 0 < estimate.low < estimate.value < estimate.high < 1


def test_samples_that_share_groups_are_less_certain() -> None:
    rng = random.Random(2)
    alone = [sample(t, t if rng.random() < 0.7 else "a") for t in rng.choices("ab", k=200)]
    together = [
        sample(one.target or "", *one.answers, group=str(place)) for place, one in enumerate(alone) for _ in range(4)
    ]
    plain, clustered = create_f1().measure(alone), create_f1().measure(together)
    assert clustered.method == "clustered-delta"
    assert clustered.value == pytest.approx(plain.value)
    assert clustered.stderr == pytest.approx(plain.stderr)
    assert clustered.n == 800


def test_the_samples_of_one_group_are_independent_samples_of_that_group() -> None:
    rng = random.Random(3)
    alone = [sample(t, t if rng.random() < 0.7 else "a") for t in rng.choices("ab", k=200)]
    together = [sample(one.target or "", *one.answers, group="task") for one in alone]
    plain, found = create_f1().measure(alone), create_f1().measure(together)
    assert found == replace(plain, method="within-group-delta")


@pytest.mark.untraced
@pytest.mark.parametrize("of", METRICS)
def test_the_interval_covers_the_truth_as_often_as_it_says(of: Measure) -> None:
    rng = random.Random(11)
    # Three classes alike, each answer right with 0.8, else one of the others: precision, recall and F1 are all 0.8.
    covered, rounds = 0, 400
    for _ in range(rounds):
        chosen = rng.choices("abc", k=200)
        scores = [sample(t, t if rng.random() < 0.8 else rng.choice("abc".replace(t, ""))) for t in chosen]
        estimate = METRICS[of].measure(scores)
        assert estimate.low is not None
        assert estimate.high is not None
        covered += estimate.low <= 0.8 <= estimate.high
    assert 0.92 <= covered / rounds <= 0.985


def test_categories_have_their_own_classes() -> None:
    scores = [sample("a", "a", category="x"), sample("b", "a", category="x"), sample("b", "b", category="y")]
    total, parts = measure_all(create_recall(), scores)
    assert total.value == pytest.approx((1 + 1 / 2) / 2)
    assert {name: estimate.value for name, estimate in parts.items()} == {"x": 0.5, "y": 1.0}


@pytest.mark.untraced
def test_many_samples_of_few_classes_take_no_more_memory() -> None:
    rng = random.Random(1)
    confusion = Confusion("f1")

    def feed(count: int) -> int:
        tracemalloc.start()
        for _ in range(count):
            confusion.add(sample(rng.choice("abcd"), rng.choice("abcd")))
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return kept

    feed(2_000)
    assert feed(50_000) < 20_000
