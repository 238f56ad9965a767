"""Samples drafted from a document: each with the passage it rests on, its checks, and what a person decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from msgspec import Meta

from proctor.domain.documents.document import Document


class DraftedSample(Document, frozen=True, kw_only=True):
    id: str
    question: str
    answer: str
    passage: str
    passage_number: Annotated[int, Meta(ge=0, le=1_000_000_000)]
    verdict: Literal["accepted", "refused"]
    reason: str
    """Why it was refused; for an accepted one, what was checked."""
    difficulty: float | None
    """The share of pilot models that answered wrongly with the passage before them; None without a pilot."""
    review: Literal["kept", "dropped"] | None = None
    """What a person decided; None before."""
    kind: Literal["qa", "choice", "true-false"] = "qa"
    choices: Sequence[str] = ()
    """The right one among them; empty for short answers."""
    evidence: str = ""
    """The words of the passage that the answer rests on."""


class BenchmarkDraft(Document, frozen=True, kw_only=True):
    benchmark: str
    """The benchmark file; only accepted samples are in its data."""
    drafts: str
    """The file with every drafted sample, refused ones as well."""
    asked_for: int
    passages: int
    accepted: int
    refused: Mapping[str, int]
    """How many for each reason."""
    requests: int
    cost_usd: float | None
    """None where the price of one of the models is not known."""
    notes: Sequence[str] = ()
    difficulties: Mapping[str, int] = {}
    """How many accepted samples have which difficulty, by the share of pilots that failed; empty without a pilot."""


class DocumentPassages(Document, frozen=True, kw_only=True):
    """A document in the passages of which samples are drafted."""

    name: str
    passages: Sequence[str]


class DraftedSamples(Document, frozen=True, kw_only=True):
    """What came of some passages; each sample is in it with its verdict, a refused one as well."""

    samples: Sequence[DraftedSample]
    notes: Sequence[str]
    """A sentence for each passage that came to nothing; it can be asked for again."""
    requests: int
    cost_usd: float | None
    """None where the price of one of the models is not known."""
