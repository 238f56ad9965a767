"""One trial with its answer and its scores: a row of an export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET, UnsetType

from proctor.domain.documents.document import Document
from proctor.domain.documents.effort import TokenCounts
from proctor.domain.message import Json
from proctor.domain.trial import Outcome

EXTRAS = ("prompt", "metadata", "choices", "tags")
"""What a row has only where it is asked for: the prompt as it was sent, and what else the sample holds."""


class ResultPart(Document, frozen=True):
    """Its fields can be read by name, too: `row["category"]` is `row.category`."""

    def __getitem__(self, name: str) -> Json:
        value = getattr(self, name, UNSET) if name in self.__struct_fields__ else UNSET
        if value is UNSET:
            raise KeyError(name)
        return value


class ResultScore(ResultPart, frozen=True):
    """One scorer's mark; `value` is None where it could measure nothing."""

    value: float | None
    answer: str | None
    """What was read out of the response."""
    reason: str
    invalid: bool
    version: str
    details: Json | UnsetType = UNSET
    """What the scorer noted, such as a judge's replies."""


class TrialResult(ResultPart, frozen=True, kw_only=True):
    """One attempt at one trial; what came beside the response's text is there where there was any."""

    run_id: str
    model: str
    side: str | None = None
    """What its evaluation is called beside the others, where the run varies how its samples are put."""
    benchmark: str
    sample_id: str
    epoch: int
    attempt: int
    category: str | None
    input: str
    target: str | None
    response: str | None
    turns: Sequence[str] | None = None
    reasoning: str | None = None
    tool_calls: Sequence[Mapping[str, Json]] | None = None
    logprobs: Json | None = None
    left_out: Mapping[str, str] | None = None
    """What was handed in and not taken, and why."""
    note: str | None = None
    files: Mapping[str, int] | None = None
    """Their sizes by name."""
    scores: Mapping[str, ResultScore]
    outcome: Outcome
    cached: bool
    finish_reason: str | None
    latency_seconds: float | None
    first_token_seconds: float | None
    usage: TokenCounts
    cost_usd: float | None
    cost_basis: str
    price_source: str | None
    error: str | None
    prompt: Json | UnsetType = UNSET
    metadata: Json | UnsetType = UNSET
    choices: Json | UnsetType = UNSET
    tags: Json | UnsetType = UNSET
