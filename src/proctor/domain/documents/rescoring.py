"""A run that is scored again in the background: what is asked for, how far it is, and what came of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct

from proctor.domain.documents.document import Document
from proctor.domain.documents.rescored import Rescored

RescoringStatus = Literal["queued", "running", "completed", "failed", "cancelled"]


class RescoreRequest(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Either scorers, to score again, or `use`, to let stored scores count."""

    scorers: list[Annotated[str, Meta(max_length=4_000)]] = []
    use: list[Annotated[str, Meta(max_length=200)]] = []
    judge: list[Annotated[str, Meta(max_length=1_000)]] = []
    on: str | None = None
    keep: bool = False
    """Store the new scores, but leave the old ones in force."""
    cost_usd: Annotated[float, Meta(gt=0)] | None = None
    """What judges may cost: they are not asked beyond it. Needed where there is a budget."""
    assume_price: Annotated[str, Meta(max_length=40)] | None = None
    """IN/OUT, dollars for a million tokens, for judges whose price nobody knows."""

    def __post_init__(self) -> None:
        if self.cost_usd is not None and not math.isfinite(self.cost_usd):
            raise ValueError("cost_usd is a number")  # written as JSON, it would be no limit at all


class AcceptedRescoring(Document, frozen=True):
    """A rescoring that is written down; workers carry it out."""

    rescoring_id: str
    run_id: str
    status: RescoringStatus


class ServedRescoring(AcceptedRescoring, frozen=True, kw_only=True):
    """How far a rescoring is, and what came of it."""

    progress: float
    """From 0 to 1."""
    done: int
    """Responses that have their new scores."""
    total: int
    fault: str | None
    """The latest fault of a judge."""
    error: str | None
    """Why it failed, or why not all was scored."""
    started_by: str | None
    created_at: str
    ended_at: str | None
    request: RescoreRequest
    result: Rescored | None
    """Old and new scores side by side, as `proctor rescore --json` prints them; once it has ended."""


class RescoringPage(Document, frozen=True):
    """The rescorings of a run, newest first."""

    items: Sequence[ServedRescoring]
