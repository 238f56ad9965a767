"""Benchmarks that fit what somebody needs, why, and what no benchmark covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.domain.documents.document import Document


class RecommendedCost(Document, frozen=True):
    """What asking one model would cost; None, with the reason, where that cannot be told."""

    model: str
    value_usd: float | None
    why: str


class RecommendedBenchmark(Document, frozen=True, kw_only=True):
    benchmark: str
    why: Sequence[str]
    tags: Mapping[str, str]
    where: Mapping[str, Sequence[str]]
    samples: int | None
    """How many fit; None for generated ones, which have as many as are asked for."""
    samples_for_5_points: int
    """What shows a difference of 5 points between two models, at worst."""
    costs: Sequence[RecommendedCost] = ()


class WeakCategory(Document, frozen=True):
    """A category in which a model of a run does worse than in the whole, beyond chance."""

    model: str
    benchmark: str
    category: str
    metric: str
    value: float
    interval: tuple[float, float]
    n: int
    overall: float


class Recommendations(Document, frozen=True, kw_only=True):
    asked: Mapping[str, Sequence[str]]
    """Languages, subjects and forms that were understood."""
    benchmarks: Sequence[RecommendedBenchmark]
    uncovered: Sequence[str]
    """What no benchmark covers, each with the nearest there is."""
    not_understood: Sequence[str]
    weak: Sequence[WeakCategory] = ()
    """In a recommendation from a run: where to look next."""
