"""Pages of results, and one result, as a server gives them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from proctor.domain.documents.document import Document
from proctor.domain.documents.evaluation import ScorersInForce
from proctor.domain.documents.result import TrialResult


class ServedResult(TrialResult, frozen=True, kw_only=True):
    """A row of `proctor export -f jsonl`, and where it is found again."""

    result_id: str
    worked_examples: int | None = None
    """How many of the prompt's turns are worked examples (few-shot); where the prompt was asked for."""
    response_characters: int | None = None
    """How many the whole response has; where `characters` was asked for."""


class ResultPage(Document, frozen=True):
    """Results in the order they were recorded."""

    items: Sequence[ServedResult]
    next: str | None
    """What `after` is for the next page; null on the last one."""


class ResultPositions(Document, frozen=True):
    """Where each page of a list begins, so that any row of a million is one request away."""

    total: int
    every: int
    """Rows on a page."""
    after: Sequence[str]
    """What `after` is for each page, with `limit` = `every`; the first is "0"."""


class ResultDetails(ServedResult, frozen=True, kw_only=True):
    """One result with its prompt, the sample's other fields and every attempt at its trial."""

    attempts: Sequence[ServedResult]


class ShownSample(Struct, frozen=True):
    """A trial as `proctor samples` shows it."""

    result: TrialResult
    worked_examples: int


class FoundResults(Struct, frozen=True):
    """Trials of a run that were asked for, as many as there is room for."""

    run_id: str
    samples: Sequence[ShownSample]
    has_more: bool
    scorers: Sequence[ScorersInForce]
