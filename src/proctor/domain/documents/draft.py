"""A plan drafted from a sentence: the plan, what it was made of, and what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from proctor.domain.documents.document import Document
from proctor.domain.message import Json


class UnderstoodPhrase(Document, frozen=True):
    """Words of the query, and the field of the plan that they set."""

    text: str
    field: str
    value: Json


class Assumption(Document, frozen=True):
    """A choice that the query left open."""

    field: str
    value: Json
    why: str


class UnsupportedWish(Document, frozen=True):
    """What was asked for and a plan cannot say."""

    text: str
    why: str


class CoverageGap(Document, frozen=True):
    """What no benchmark covers; the plan holds the nearest there is, and is not run unless that is agreed to."""

    language: str | None
    subject: str | None
    sentence: str
    nearest: Sequence[str]


class PlanChange(Document, frozen=True):
    """A field of a plan that a refinement changed; None where there was or is none."""

    field: str
    before: Json
    after: Json


class PlanDraft(Document, frozen=True, kw_only=True):
    plan: Mapping[str, Json]
    """As in a plan file."""
    understood: Sequence[UnderstoodPhrase]
    assumed: Sequence[Assumption]
    not_understood: Sequence[str]
    """Words that changed nothing."""
    alternatives: Sequence[Mapping[str, Json]]
    """Other plans that the query may mean."""
    by: str
    """`rules`, or the model that read what the rules did not."""
    cost_usd: float | None
    """What asking that model cost; None where none was asked, or the price is not known."""
    unsupported: Sequence[UnsupportedWish] = ()
    gaps: Sequence[CoverageGap] = ()
    fail_under: Mapping[str, float] | UnsetType = UNSET
    """Bars that a run is to reach: a plan has no field for them, `proctor run --fail-under` does."""
    then: Literal["compare", "rank"] | UnsetType = UNSET
    """What is wanted of the results."""
    changes: Sequence[PlanChange] | UnsetType = UNSET
    """In a refinement: what is different from the plan it began with."""
    notes: Sequence[str] = ()
    fallback: str | UnsetType = UNSET
    """Why the model's reading was not used, where one was asked and nothing of its answer could be."""
