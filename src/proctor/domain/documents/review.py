"""Answers for people to mark, and what their marks say of the scorers'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from proctor.domain.documents.document import Document
from proctor.domain.documents.estimate import MetricEstimate


class ReviewQueue(StrEnum):
    RANDOM = "random"
    """A random draw: the only one whose marks say how right a score is."""
    WRONG = "wrong"
    """Answers that the scorer that counts did not give its full mark."""
    JUDGED = "judged"
    """Answers that a model judged."""
    DISAGREEMENTS = "disagreements"
    """Answers of which two scorers, or a scorer and a person, say different things."""


class ReviewItem(Document, frozen=True):
    result_id: str
    model: str
    benchmark: str
    sample_id: str
    epoch: int
    scores: Mapping[str, float | None]
    """By scorer; the first is the one that counts."""
    labels: Mapping[str, float]
    """What people said, by their names."""


class Kappa(Document, frozen=True):
    """Agreement beyond chance (Cohen); `value` is None where there was nothing to disagree on."""

    value: float | None
    ci95: tuple[float, float] | None
    n: int


class ScorerReview(Document, frozen=True, kw_only=True):
    """People against one scorer on one evaluation; a mark of at least a half is a yes."""

    model: str
    side: str
    benchmark: str
    scorer: str
    version: str
    counts: bool
    """Whether it is the scorer that the metric is computed from."""
    both_right: int
    only_people: int
    only_scorer: int
    both_wrong: int
    kappa: Kappa
    scored: MetricEstimate
    """The mean of the scorer's marks alone."""
    drawn: int
    """Samples of the random draw that have a mark of a person, from its beginning without large gaps."""
    skipped: int
    """Samples of that part of the draw that nobody marked."""
    needed: int
    """Marks from the draw that the corrected score needs."""
    corrected: MetricEstimate
    """The score with the scorer's errors taken out (prediction-powered); no value where there are too few marks."""


class RunReview(Document, frozen=True, kw_only=True):
    run_id: str
    queue: ReviewQueue
    items: Sequence[ReviewItem]
    total: int
    """How many answers the queue has; `items` are the first of them."""
    scorers: Sequence[ScorerReview]
    """Those of evaluations that people marked."""
