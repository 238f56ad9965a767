"""A metric turns sample scores into an estimate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from proctor.domain.estimate import Estimate, SampleScore


class Accumulator(Protocol):
    """Takes scores one at a time, so that several estimates can be made in one pass."""

    def add(self, score: SampleScore) -> None: ...

    def estimate(self) -> Estimate: ...


class Metric(Protocol):
    """One that has a true `reads_answers` is given each sample's class and answers beside its score.

    One that is a mean over samples has `sample_value(score)`, what it is the mean of: only then can two systems be
    compared on it sample by sample.
    """

    @property
    def name(self) -> str: ...

    def start(self) -> Accumulator:
        """An accumulator that has seen nothing yet."""
        ...

    def measure(self, scores: Iterable[SampleScore]) -> Estimate:
        """The estimate over these scores; the order does not matter."""
        ...


def accumulate(accumulator: Accumulator, scores: Iterable[SampleScore]) -> Estimate:
    """Feed everything to an accumulator and ask it."""
    for score in scores:
        accumulator.add(score)
    return accumulator.estimate()


def measure_all(metric: Metric, scores: Iterable[SampleScore]) -> tuple[Estimate, dict[str, Estimate]]:
    """The estimate over all scores and of each category, in one pass; samples without a category are in none."""
    total = metric.start()
    categories: dict[str, Accumulator] = {}
    for score in scores:
        total.add(score)
        if score.category is None:
            continue
        part = categories.get(score.category)
        if part is None:
            part = categories[score.category] = metric.start()
        part.add(score)
    return total.estimate(), {name: categories[name].estimate() for name in sorted(categories)}
