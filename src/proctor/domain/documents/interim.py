"""What a run says before it has ended: intervals that hold however often one looks, the newest marks, the time left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from proctor.domain.documents.document import Document

Mark = Literal["right", "partial", "wrong", "invalid", "failed"]


UnknownCode = Literal[
    "several-epochs", "too-many-trials", "no-mean", "unknown-order", "file-order", "weighted-samples", "open-groups"
]


class InterimPoint(Document, frozen=True):
    """A score, or a difference, after so many samples in the order in which they were drawn."""

    n: int
    value: float | None
    interval: tuple[float, float]


class LatestResult(Document, frozen=True):
    result_id: str
    sample_id: str
    mark: Mark


class UnknownReason(Document, frozen=True, kw_only=True):
    """Why a figure is not there: by a name, for who says it in another language, and in a sentence."""

    code: UnknownCode
    values: Mapping[str, int]
    """The figures of the sentence."""
    sentence: str


class InterimEvaluation(Document, frozen=True, kw_only=True):
    """One model on one benchmark so far."""

    model: str
    benchmark: str
    side: str
    points: Sequence[InterimPoint]
    """The interval as it narrowed; the last point is what is known now. Empty where `unknown_because` says why."""
    unknown_because: str | None
    unknown: UnknownReason | None
    """The same sentence with its name."""
    per_minute: float | None
    """Answers recorded a minute, by the newest of them; None where there are too few, and once the run has ended."""
    latest: Sequence[LatestResult]
    """The newest results, oldest first."""


class InterimPair(Document, frozen=True, kw_only=True):
    """The paired difference of two models' scores, B minus A; pairs share the chance of an error between them."""

    benchmark: str
    a: str
    b: str
    n: int
    value: float | None
    interval: tuple[float, float]
    is_decided: bool
    """The interval excludes 0: one of them is better."""


class InterimResults(Document, frozen=True, kw_only=True):
    """A run so far; its intervals are confidence sequences: watching until one fits makes nobody wrong more often."""

    run_id: str
    confidence: float
    evaluations: Sequence[InterimEvaluation]
    pairs: Sequence[InterimPair]
    cost_limit_usd: float | None
