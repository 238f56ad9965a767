"""A metric turns sample scores into an estimate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from proctor.domain.estimate import Estimate, SampleScore


class Accumulator(Protocol):
    """Takes scores one at a time, so that several estimates can be made in one pass."""

    def add(self, score: SampleScore) -> None: ...

    def estimate(self) -> Estimate: ...


class Metric(Protocol):
    @property
    def name(self) -> str: ...

    def start(self) -> Accumulator:
        """An accumulator that has seen nothing yet."""
        ...

    def measure(self, scores: Iterable[SampleScore]) -> Estimate:
        """The estimate over these scores; the order does not matter."""
        ...


@runtime_checkable
class ReadsAnswers(Protocol):
    """A metric that may be given each sample's class and answers beside its score."""

    @property
    def reads_answers(self) -> bool: ...


@runtime_checkable
class MeanOverSamples(Protocol):
    """A metric that is a mean over samples: only on such can two systems be compared sample by sample."""

    def sample_value(self, score: float) -> float:
        """What it is the mean of."""
        ...


@runtime_checkable
class HasThreshold(Protocol):
    """A metric that may count a score as right from a threshold on; None where it takes scores as they are."""

    @property
    def threshold(self) -> float | None: ...


def takes_scores_as_they_are(metric: Metric) -> bool:
    """Whether no threshold turns them into right and wrong."""
    return not isinstance(metric, HasThreshold) or metric.threshold is None


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
