"""Accuracy, mean, categories, latency and rates: what a run's summary is made of."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from metrics.reference import estimate_mean
from proctor import plugins
from proctor.domain.errors import PlanError
from proctor.domain.estimate import Estimate, SampleScore
from proctor.domain.trial import Outcome
from proctor.metrics import accuracy, mean
from proctor.metrics.compare import compare
from proctor.metrics.intervals import estimate_rate
from proctor.metrics.latency import Latencies, throughput
from proctor.metrics.metric import Metric, measure_all
from proctor.metrics.rates import outcome_rates


@pytest.mark.parametrize("name", ["accuracy", "macro_f1", "macro_precision", "macro_recall", "mean"])
def test_metrics_are_found_by_name(name: str) -> None:
    metric: Metric = plugins.load("metrics", name)()
    assert metric.name == name
    assert metric.measure([]) == Estimate(None, 0)


def test_accuracy_is_the_mean_of_the_scores() -> None:
    scores = [SampleScore(str(i), i % 3 / 2) for i in range(30)]
    assert accuracy.create().measure(scores) == estimate_mean(scores)
    assert accuracy.create().measure(scores).method == "wilson-t"


def test_accuracy_with_a_threshold_counts_samples_that_reach_it() -> None:
    scores = [SampleScore(str(i), i / 10) for i in range(11)]
    assert accuracy.create(threshold=0.7).measure(scores) == estimate_rate(4, 11)


@pytest.mark.parametrize("threshold", [0, -1, 1.5])
def test_a_threshold_outside_its_range_is_a_plan_error(threshold: float) -> None:
    with pytest.raises(PlanError, match="threshold"):
        accuracy.create(threshold=threshold)


def test_a_mean_is_bootstrapped_when_asked() -> None:
    rng = random.Random(0)
    scores = [SampleScore(str(i), rng.betavariate(3, 1)) for i in range(200)]
    plain, drawn = mean.create().measure(scores), mean.create(interval="bootstrap", seed=3).measure(scores)
    assert drawn.method == "bootstrap"
    assert drawn.value == plain.value
    assert drawn.stderr == pytest.approx(plain.stderr, rel=0.1)
    assert drawn == mean.create(interval="bootstrap", seed=3).measure(reversed(scores))
    assert drawn != mean.create(interval="bootstrap", seed=4).measure(scores)


def test_a_bootstrap_of_grouped_samples_says_so() -> None:
    scores = [SampleScore(str(i), i % 5 / 4, group=f"g{i // 4}") for i in range(40)]
    assert mean.create(interval="bootstrap").measure(scores).method == "clustered-bootstrap"


def test_a_bootstrap_of_weighed_scores_draws_their_weights() -> None:
    """Long texts that score low once gave 0.276 with [0.583, 0.883]: the interval was that of the unweighed mean."""
    rng = random.Random(4)
    scores = [SampleScore(str(i), rng.betavariate(1, 4), weight=20) for i in range(10)]
    scores += [SampleScore(f"w{i}", rng.betavariate(6, 1)) for i in range(40)]
    plain, drawn = mean.create().measure(scores), mean.create(interval="bootstrap").measure(scores)
    assert (drawn.value, drawn.n, drawn.method) == (plain.value, 240, "clustered-bootstrap")
    assert drawn.stderr == pytest.approx(plain.stderr, rel=0.15)
    assert drawn.low is not None
    assert drawn.high is not None
    assert drawn.low < (drawn.value or 0) < drawn.high < 0.5


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(1, 1_000), st.sampled_from([None, "a", "b", "c"])),
        min_size=1,
        max_size=12,
    )
)
def test_a_value_lies_inside_its_own_interval_whatever_the_weights(rows: list[tuple[float, int, str | None]]) -> None:
    scores = [SampleScore(str(i), value, group=group, weight=weight) for i, (value, weight, group) in enumerate(rows)]
    for metric in (mean.create(), mean.create(interval="bootstrap", resamples=200), accuracy.create(threshold=0.5)):
        found = metric.measure(scores)
        assert found.low is not None
        assert found.value is not None
        assert found.high is not None
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.n == sum(weight for _, weight, _ in rows)


@pytest.mark.parametrize("group", [None, "g0"])
def test_a_sample_that_weighs_nothing_is_in_no_mean(group: str | None) -> None:
    scores = [SampleScore(str(i), i % 3 / 2, group=f"g{i % 4}", weight=1 + i % 2) for i in range(12)]
    nothing = [SampleScore(f"n{i}", 0.3, group=group, weight=0) for i in range(40)]
    for metric in (mean.create(), mean.create(interval="bootstrap", resamples=200)):
        assert metric.measure([*nothing, *scores]) == metric.measure(scores)
        assert metric.measure(nothing).value is None
    others = [replace(score, value=1 - score.value) for score in scores]
    names = ("a", "b")
    assert compare([*nothing, *scores], [*nothing, *others], names=names) == compare(scores, others, names=names)


def test_a_bootstrap_of_one_group_draws_its_samples() -> None:
    rng = random.Random(6)
    alone = [SampleScore(str(i), rng.betavariate(3, 1)) for i in range(50)]
    grouped = [replace(score, group="task") for score in alone]
    plain, found = (mean.create(interval="bootstrap").measure(scores) for scores in (alone, grouped))
    assert found == replace(plain, method="within-group-bootstrap")


@pytest.mark.parametrize("value", [0.5, 1.0])
def test_a_bootstrap_without_spread_claims_no_certainty(value: float) -> None:
    drawn = mean.create(interval="bootstrap").measure([SampleScore(str(i), value) for i in range(9)])
    assert drawn.method in ("wilson", "no-spread-bound")
    assert drawn.low is not None
    assert drawn.low < value


def test_a_mistyped_interval_is_named() -> None:
    with pytest.raises(PlanError, match="Did you mean 'bootstrap'"):
        mean.create(interval="bootstap")
    with pytest.raises(PlanError, match="at least 200"):
        mean.create(interval="bootstrap", resamples=10)


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from([None, "x", "y"])), max_size=30))
def test_categories_in_one_pass_equal_each_category_alone(rows: list[tuple[float, str | None]]) -> None:
    scores = [SampleScore(str(i), value, category=category) for i, (value, category) in enumerate(rows)]
    metric = accuracy.create()
    total, parts = measure_all(metric, iter(scores))
    assert total == metric.measure(scores)
    names = sorted({category for _, category in rows if category is not None})
    assert parts == {name: metric.measure(s for s in scores if s.category == name) for name in names}
    assert list(parts) == names


@pytest.mark.untraced
def test_memory_does_not_grow_with_the_samples() -> None:
    def stream(n: int) -> Iterator[SampleScore]:
        return (SampleScore(str(i), i % 4 / 3, category=str(i % 10), group=str(i % 50)) for i in range(n))

    def peak(n: int) -> int:
        tracemalloc.start()
        measure_all(accuracy.create(), stream(n))
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    peak(100)
    assert peak(20_000) < 2 * peak(1_000)


@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=100), st.floats(0, 100))
def test_percentiles_equal_numpys(values: list[float], percent: float) -> None:
    assert Latencies(values).percentile(percent) == pytest.approx(np.percentile(values, percent), rel=1e-9, abs=1e-12)


@pytest.mark.untraced
def test_many_latencies_are_put_in_order_without_a_copy_of_them_all() -> None:
    rng = random.Random(5)
    values = [rng.expovariate(1) for _ in range(100_000)]
    latencies = Latencies(values)
    tracemalloc.start()
    found = [latencies.percentile(percent) for percent in (0, 50, 95, 99.9, 100)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == pytest.approx(np.percentile(values, (0, 50, 95, 99.9, 100)), rel=1e-9)
    assert peak < 8 * len(values) * 3


def test_latencies_may_be_added_after_a_percentile_was_read() -> None:
    latencies = Latencies([3.0, 1.0])
    assert latencies.percentile(50) == 2.0
    latencies.add(0.0)
    assert latencies.summary((50, 99.9)) == {"p50": 1.0, "p99.9": pytest.approx(2.996)}
    assert latencies.mean == pytest.approx(4 / 3)
    assert len(latencies) == 3


def test_no_latency_is_not_a_latency_of_zero() -> None:
    assert Latencies().summary() == {}
    assert Latencies().percentile(50) is None
    assert Latencies().mean is None
    assert throughput(10, 0) is None
    assert throughput(10, 4) == 2.5


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_an_impossible_latency_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="latency"):
        Latencies([seconds])
    with pytest.raises(ValueError, match="percentile"):
        Latencies([1.0]).percentile(101)


def test_rates_have_the_denominators_they_claim() -> None:
    counts = {Outcome.SCORED: 90, Outcome.INVALID: 10, Outcome.FAILED: 25, Outcome.STOPPED: 1_000}
    assert outcome_rates(counts) == {
        "answered": estimate_rate(100, 125), "invalid": estimate_rate(10, 100), "failed": estimate_rate(25, 125)
    }  # fmt: skip
    assert outcome_rates(counts, cached=75) == {
        "answered": estimate_rate(25, 50), "invalid": estimate_rate(10, 100), "failed": estimate_rate(25, 50)
    }  # fmt: skip
    assert set(outcome_rates({Outcome.STOPPED: 5}).values()) == {Estimate(None, 0)}


def test_answers_from_the_cache_that_have_no_score_yet_were_not_asked() -> None:
    """They count as failed until they are scored; a run that is shown meanwhile must not break."""
    assert set(outcome_rates({Outcome.FAILED: 12}, cached=12).values()) == {Estimate(None, 0)}
    assert outcome_rates({Outcome.SCORED: 11, Outcome.FAILED: 2}, cached=12)["failed"].n == 1
