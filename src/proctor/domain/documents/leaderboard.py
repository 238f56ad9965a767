"""Models of many runs in order, a table for each set of evaluations that may be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from proctor.domain.documents.document import Document
from proctor.domain.documents.effort import Percentiles
from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.evaluation import Selection
from proctor.domain.message import Json

Which = Literal["latest", "best"]
"""Which run stands for a model."""
RankedBy = Literal["paired", "separate"]
"""Ranks come from comparisons sample by sample, or from each model's own interval."""


class LeaderboardRow(Document, frozen=True):
    """A model; a rank like 1–3 means that no difference between the three could be shown."""

    rank: str
    place: int
    best_rank: int
    worst_rank: int
    model: str
    side: str
    """The model, and what was varied of its prompts: different in each row."""
    digest: str
    """Of the samples and of the prompts that the row was asked with."""
    settings: Mapping[str, Json]
    estimate: MetricEstimate
    trials: int
    invalid: int
    failed: int
    stopped: int
    pending: int
    note: str | None
    """What the value may hide: more trials without a mark than another row has, comparisons that no judge decided."""
    is_forgeable: bool
    epochs: int
    cost_usd: float | None
    cost_basis: str
    price_sources: Sequence[str]
    latency_seconds: Percentiles
    run_id: str
    created_at: datetime
    options: Mapping[str, Json]
    chosen_from: int
    """How many runs of the model there were to choose from."""

    @property
    def done(self) -> int:
        """The trials something happened to."""
        return self.trials - self.stopped - self.pending


class LeaderboardTable(Document, frozen=True):
    """The models of one benchmark as it was really used."""

    benchmark: str
    version: str
    digest: str
    samples: int
    shots: int | None
    selection: Selection
    scorers: Mapping[str, str]
    tags: Mapping[str, str]
    metric: str
    ranks: RankedBy
    rows: Sequence[LeaderboardRow]


class LeftOutEvaluations(Document, frozen=True):
    not_completed: int
    without_metric: int
    """Their metric is a plugin that is not here."""
    imported: int = 0
    """From logs of other tools: nobody here saw the answers being made."""


class Leaderboard(Document, frozen=True):
    kind: Literal["leaderboard"]
    which: Which
    ranks: RankedBy
    tables: Sequence[LeaderboardTable]
    left_out: LeftOutEvaluations
