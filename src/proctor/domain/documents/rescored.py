"""Old and new scores of a run beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET, UnsetType, field

from proctor.domain.documents.document import Document
from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.judging import JudgeAgreement, JudgeWork


class ScorerFigures(Document, frozen=True):
    """One set of scores, by one version of a scorer."""

    version: str
    scored: int
    invalid: int
    unscored: int
    metrics: Mapping[str, MetricEstimate]
    judges: Mapping[str, JudgeWork] | None = None
    """None where no judge was asked."""
    agreement: JudgeAgreement | UnsetType | None = UNSET
    """None where there was one judge only."""

    def __getitem__(self, metric: str) -> MetricEstimate:
        return self.metrics[metric]


class ScoreChange(Document, frozen=True, rename={"before": "from", "after": "to"}):
    """How many verdicts differ between two sets of scores, each named `scorer@version`."""

    before: str
    after: str
    compared: int
    changed: int
    higher: int
    lower: int


class RescoredEvaluation(Document, frozen=True):
    """Both sets of scores, by scorer."""

    model: str
    benchmark: str
    side: str
    """The model, and what was varied of its prompts."""
    before: Mapping[str, ScorerFigures]
    after: Mapping[str, ScorerFigures]
    changes: Sequence[ScoreChange]
    already_scored: int
    """Responses that had their new scores before."""


class Rescored(Document, frozen=True):
    run_id: str
    is_in_force: bool = field(name="in_force")
    """Whether the new scores are those that count."""
    is_complete: bool
    is_out_of_money: bool
    judge_faults: Mapping[str, str]
    measured_nothing: Sequence[str]
    """Scorers that could not measure a single response of some evaluation; `why_nothing` has a reason for each."""
    why_nothing: Mapping[str, str]
    evaluations: Sequence[RescoredEvaluation]
