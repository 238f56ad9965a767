"""Numbers with their n and interval."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET, UnsetType

from proctor.domain.documents.document import Document
from proctor.domain.estimate import Estimate
from proctor.domain.message import Json


class Rate(Document, frozen=True):
    """A share of trials with its 95 % interval; `value` is None where there were none."""

    value: float | None
    ci95: tuple[float, float] | None
    n: int

    @classmethod
    def of(cls, estimate: Estimate) -> Rate:
        return cls(estimate.value, estimate.interval, estimate.n)


class MetricEstimate(Document, frozen=True):
    """A metric's value with its 95 % interval; `value` is None where nothing was measured."""

    value: float | None
    stderr: float | None
    ci95: tuple[float, float] | None
    n: int
    method: str
    classes: Mapping[str, Mapping[str, Json]] | None = None
    """What the value is the mean of, class by class, where it is one."""
    covers: float | None = None
    """How much of the weights the marks cover, on average, where they are of what was measured."""
    title: str | None = None
    """What people read, where that is not the metric's name."""
    unmeasured: int | None = None
    """Trials without a mark, where there are any."""
    if_unmeasured_wrong: float | UnsetType | None = UNSET
    """The value if each of them was wrong."""
    unreadable: int | None = None
    """Marks that could not be read (a judge's verdict, log-probabilities), where there are any."""
    if_unreadable_wrong: float | UnsetType | None = UNSET
    """The value if each of them was wrong."""

    @classmethod
    def of(cls, estimate: Estimate) -> MetricEstimate:
        return cls(
            estimate.value, estimate.stderr, estimate.interval, estimate.n, estimate.method, classes=estimate.classes
        )

    @property
    def low(self) -> float | None:
        return None if self.ci95 is None else self.ci95[0]

    @property
    def high(self) -> float | None:
        return None if self.ci95 is None else self.ci95[1]

    @property
    def estimate(self) -> Estimate:
        """The number itself, without what is said beside it."""
        return Estimate(self.value, self.n, self.stderr, self.low, self.high, self.method, self.classes)
