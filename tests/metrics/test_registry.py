"""Metrics by name, with options."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.domain.errors import PlanError
from proctor.domain.estimate import SampleScore
from proctor.metrics.bootstrap import bootstrap_interval
from proctor.metrics.labels import metric_labels
from proctor.metrics.registry import create_metric, metric_name, with_options
from proctor.plugins import PluginNotFoundError

SCORES = [SampleScore(f"s{n}", random.Random(n).betavariate(2, 1)) for n in range(60)]


def test_options_change_what_is_measured() -> None:
    written = with_options("mean", {"interval": "bootstrap", "resamples": 500})
    assert (written, metric_name(written)) == ("mean?interval=bootstrap&resamples=500", "mean")
    found = create_metric(written).measure(SCORES)
    assert found.method == "bootstrap"
    expected = bootstrap_interval([(score.value, 1) for score in SCORES], resamples=500)
    assert (found.stderr, found.low, found.high) == pytest.approx(expected, rel=1e-12)
    assert create_metric("mean").measure(SCORES).method == "wilson-t"
    reached = create_metric(with_options("accuracy", {"threshold": 0.7})).measure(SCORES)
    assert reached.value == sum(score.value >= 0.7 for score in SCORES) / 60
    assert reached.method == "wilson"


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("mean?intervall=bootstrap", r"mean: there is no option 'intervall'\. Did you mean 'interval'"),
        ("mean?interval=bootstrp", "Did you mean 'bootstrap'"),
        ("mean?resamples=10", "at least 200"),
        ("mean?resamples=many", "resamples must be a whole number, not 'many'"),
        ("accuracy?threshold=2", "above 0 and at most 1"),
        ("accuracy?threshold=true", "threshold must be a number, not True"),
    ],
)
def test_options_that_mean_nothing_are_refused_by_name(written: str, problem: str) -> None:
    with pytest.raises(PlanError, match=problem):
        create_metric(written)


def test_an_unknown_metric_is_not_found() -> None:
    with pytest.raises(PluginNotFoundError):
        create_metric("median")


@given(st.floats(0.01, 1.0), st.integers(200, 5_000))
def test_what_is_written_is_read_back_exactly(threshold: float, resamples: int) -> None:
    assert create_metric(with_options("accuracy", {"threshold": threshold})).threshold == threshold  # type: ignore[attr-defined]
    assert create_metric(with_options("mean", {"resamples": resamples})).resamples == resamples  # type: ignore[attr-defined]


def test_options_are_part_of_a_label_only_where_a_name_alone_is_not_enough() -> None:
    assert metric_labels(["exact", "f1"], ["mean?interval=bootstrap"]) == ["mean", "f1.mean"]
    assert metric_labels(["exact"], ["accuracy", "accuracy?threshold=0.5"]) == ["accuracy", "accuracy?threshold=0.5"]
