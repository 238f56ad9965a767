"""One model on one benchmark within a run: its counts, numbers, time and money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import field

from proctor.domain.documents.document import Document
from proctor.domain.documents.effort import Percentiles, TokenCounts
from proctor.domain.documents.estimate import MetricEstimate, Rate
from proctor.domain.documents.judging import JudgeAgreement, JudgeWork
from proctor.domain.message import Json


class Selection(Document, frozen=True):
    """What the plan said of the benchmark beside its name; what it did not say is left out."""

    where: Mapping[str, Sequence[str]] | None = None
    limit: int | None = None
    shots: int | None = None
    parameters: Mapping[str, Json] | None = None


class OutcomeRates(Document, frozen=True):
    """`answered` and `failed` are shares of the trials asked, `invalid` one of all answers."""

    answered: Rate
    invalid: Rate
    failed: Rate


class EvaluationFigures(Document, frozen=True, kw_only=True):
    """What is computed of an evaluation from its results, once, and kept."""

    model: str
    benchmark: str
    version: str
    digest: str
    selection: Selection
    revisions: Mapping[str, str]
    """The commit of each source that came from a hub."""
    samples: int
    epochs: int
    trials: int
    scored: int
    invalid: int
    failed: int
    stopped: int
    pending: int
    cached: int
    is_forgeable: bool
    metrics: Mapping[str, MetricEstimate]
    categories: Mapping[str, Mapping[str, MetricEstimate]]
    usage: TokenCounts
    cost_usd: float | None
    answers_cost_usd: float | None
    cost_basis: str
    price_sources: Sequence[str]
    cost_per_correct_usd: float | None
    latency_seconds: Percentiles
    first_token_seconds: Percentiles
    tokens_per_second: Percentiles
    unreadable_verdicts: int
    judges: Mapping[str, Mapping[str, JudgeWork]] = field(default_factory=dict)
    """By scorer and judge."""
    agreement: Mapping[str, JudgeAgreement] = field(default_factory=dict)
    """By scorer."""

    @property
    def done(self) -> int:
        """The trials something happened to: of those alone can a share be invalid, failed or cached."""
        return self.trials - self.stopped - self.pending

    @property
    def cost_per_answer_usd(self) -> float | None:
        """What an answer cost when it was asked for; taking it from the cache later does not make it cheaper."""
        answered = self.scored + self.invalid
        return self.answers_cost_usd / answered if self.answers_cost_usd is not None and answered else None


class RescoredAt(Document, frozen=True):
    """When a rescore put the scores in force, and whose scores counted before."""

    at: str
    replaced: Mapping[str, str]


class ScorersInForce(Document, frozen=True, kw_only=True):
    """Whose scores of an evaluation count."""

    model: str
    benchmark: str
    side: str
    scorers: Mapping[str, str]
    """Their versions by name."""
    rescored: RescoredAt | None
    """None where they are those of the run itself."""


class EvaluationSummary(EvaluationFigures, frozen=True, kw_only=True):
    """An evaluation beside the others of its run."""

    scorers: Mapping[str, str]
    """Whose scores count: their versions by name."""
    rescored: RescoredAt | None
    """None where they are those of the run itself."""
    side: str
    """What it is called beside the others: the model, and what was varied of its prompts."""
    settings: Mapping[str, Json]
    rates: OutcomeRates

    @property
    def title(self) -> str:
        return f"{self.side} on {self.benchmark}"
