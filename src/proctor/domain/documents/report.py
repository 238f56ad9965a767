"""A run's report: its numbers, its models compared, and the trials that failed, were invalid or wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from proctor.domain.documents.comparison import Comparisons
from proctor.domain.documents.document import Document
from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.result import TrialResult
from proctor.domain.documents.run import RunSummary
from proctor.domain.message import Json


class EvaluationSetup(Document, frozen=True):
    """How an evaluation was asked and scored."""

    model: str
    side: str
    benchmark: str
    version: str
    digest: str
    epochs: int
    options: Mapping[str, Json]
    scorers: Mapping[str, str]
    tags: Mapping[str, str]


class CalibrationBin(Document, frozen=True, rename={"low": "from", "high": "to"}):
    """The other scorer's mean over responses that the judge marked from `low` to `high`."""

    low: float
    high: float
    reference: MetricEstimate


class Calibration(Document, frozen=True):
    """A judge's marks held against another scorer's on the same responses."""

    model: str
    benchmark: str
    judge: str
    reference: str
    n: int
    agreement: MetricEstimate
    bins: Sequence[CalibrationBin]


SampleKind = Literal["failed", "invalid", "wrong"]


class ReportSample(TrialResult, frozen=True, kw_only=True):
    """A trial with the messages of its prompt."""

    prompt: Sequence[Mapping[str, Json]]
    worked_examples: int
    """How many of these the prompt holds after its system messages."""
    kind: SampleKind


class ReportSamples(Document, frozen=True):
    totals: Mapping[SampleKind, int]
    shown: Sequence[ReportSample]


class RunReport(RunSummary, frozen=True, kw_only=True):
    """A run with everything that its report shows."""

    kind: Literal["report"]
    setup: Sequence[EvaluationSetup]
    comparison: Comparisons
    calibration: Sequence[Calibration]
    samples: ReportSamples
