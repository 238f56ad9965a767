"""What every metric keeps: nothing measured is no number, order does not matter, the value lies in its interval."""

from __future__ import annotations

import random

import pytest

from plugins.example import names
from proctor.domain.errors import UserError
from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.metric import measure_all
from proctor.metrics.registry import create_metric

CLASSES = "AB"
SCORES = [
    SampleScore(
        str(n),
        value := float(n % 3 == 0),
        category="even" if n % 2 == 0 else "odd",
        target=CLASSES[n % 2],
        answers=(CLASSES[(n + (value == 0)) % 2],),
    )
    for n in range(40)
]


@pytest.mark.parametrize("name", names("metrics"))
def test_nothing_measured_is_no_number(name: str) -> None:
    metric = create_metric(name)
    assert metric.name == name
    assert metric.measure([]) == Estimate(None, 0)


@pytest.mark.parametrize("name", names("metrics"))
def test_the_value_lies_in_its_interval_whatever_the_order(name: str) -> None:
    metric = create_metric(name)
    found = metric.measure(SCORES)
    assert found.n == len(SCORES)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    mixed = metric.measure(random.Random(1).sample(SCORES, len(SCORES)))
    assert (mixed.value, mixed.low, mixed.high) == pytest.approx((found.value, found.low, found.high))


@pytest.mark.parametrize("name", names("metrics"))
def test_categories_are_measured_in_the_same_pass(name: str) -> None:
    metric = create_metric(name)
    total, parts = measure_all(metric, SCORES)
    assert total == metric.measure(SCORES)
    assert {key: part.n for key, part in parts.items()} == {"even": 20, "odd": 20}


@pytest.mark.parametrize("name", names("metrics"))
def test_a_mean_over_samples_is_the_mean_of_its_sample_values(name: str) -> None:
    metric = create_metric(name)
    if not hasattr(metric, "sample_value"):
        pytest.skip("is no mean over samples")
    values = [metric.sample_value(score.value) for score in SCORES]
    assert metric.measure(SCORES).value == pytest.approx(sum(values) / len(values))


@pytest.mark.parametrize("name", names("metrics"))
def test_an_option_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="no_such_option"):
        create_metric(f"{name}?no_such_option=1")
