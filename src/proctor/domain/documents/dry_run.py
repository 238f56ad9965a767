"""What a run of a plan would do and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.domain.documents.document import Document
from proctor.domain.message import Json


class PilotRun(Document, frozen=True):
    """What a pilot asked and cost; `cost_usd` is None where a price is unknown."""

    run_id: str
    trials: int
    cost_usd: float | None


class EstimatedCost(Document, frozen=True):
    """Dollars with a 95 % interval, and what they rest on; None where they cannot be told."""

    value_usd: float | None
    ci95_usd: tuple[float, float] | None
    cached_trials: int
    basis: str


class EstimatedJudge(Document, frozen=True):
    scorer: str
    judge: str
    cost: EstimatedCost


class PlannedEvaluation(Document, frozen=True):
    """One model on one benchmark, as it would be run."""

    model: str
    side: str
    """What it is called beside the others: the model, and what differs in how it is asked."""
    settings: Mapping[str, Json]
    model_spec: str
    endpoint: str | None
    benchmark: str
    version: str
    digest: str
    samples: int
    epochs: int
    trials: int
    options: Mapping[str, Json]
    scorers: Mapping[str, str]
    """Their versions by name."""
    metrics: Sequence[str]
    cost: EstimatedCost
    judges: Sequence[EstimatedJudge]


class DryRun(Document, frozen=True):
    """What a run of a plan would do and cost; its fields are those of `--dry-run --json`."""

    dry_run: bool
    name: str | None
    seed: int
    trials: int
    estimated_requests: int
    limits: Mapping[str, Json]
    until: str | None
    evaluations: Sequence[PlannedEvaluation]
    cost: EstimatedCost
    judges_counted: bool | None
    """None where nobody judges."""
    pilot: PilotRun | None
    missing_keys: Sequence[str]
    """The variables with keys that the run itself needs and that are not set."""
