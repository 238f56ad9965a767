"""What a query says, slot by slot; None and empty where it says nothing."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from msgspec import Struct, field

from proctor.planner.phrases import Phrases


class Size(Struct, frozen=True):
    """How many samples: a count, a share of all, or what a difference of so many points needs."""

    kind: Literal["count", "share", "points", "quick"]
    value: float | int
    at: int
    is_total: bool = False
    has_unit: bool = True
    each: Literal["", "any", "language", "category"] = ""
    """Of each what it is said: of each language, of each category, or of whatever the plan has several of."""


class Unsupported(Struct, frozen=True):
    """What was asked for and no plan can say."""

    text: str
    why: str


class Reading(Struct):
    """What was understood of a query, before anything is chosen or assumed."""

    phrases: Phrases
    models: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    """Models that no list here has."""
    model_notes: list[tuple[str, str]] = field(default_factory=list)
    """How a description of models was resolved: which, and why."""
    judge: list[str] = field(default_factory=list)
    benchmarks: list[tuple[str, int]] = field(default_factory=list)
    """Benchmarks by name, and where each is named."""
    excluded_benchmarks: list[str] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    excluded_languages: list[str] = field(default_factory=list)
    subjects: list[str] = field(default_factory=list)
    excluded_subjects: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    excluded_groups: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    excluded_categories: list[str] = field(default_factory=list)
    form: str | None = None
    levels: str | None = None
    sizes: list[Size] = field(default_factory=list)
    scale: float | None = None
    """How many times as large a plan's own sizes should be: `twice as many`."""
    wants_all: bool = False
    whole: list[int] = field(default_factory=list)
    """Where benchmarks are named of which all is wanted: `40 of gsm8k and all of aime24`."""
    wants_every: bool = False
    """Every benchmark that is about what is said, not the usual one alone."""
    cost_usd: Decimal | None = None
    budget_without_currency: bool = False
    ranges: list[tuple[float | int, float | int]] = field(default_factory=list)
    """What is said as a range: its lower end and its upper end, which is taken."""
    minutes: float | int | None = None
    options: dict[str, float | int | str | bool] = field(default_factory=dict)
    """How samples are asked, by the name of the plan's field."""
    vary: dict[str, list[float | int | str]] = field(default_factory=dict)
    until: str | None = None
    gates: dict[str, float] = field(default_factory=dict)
    then: Literal["compare", "rank"] | None = None
    absent: list[tuple[str, str]] = field(default_factory=list)
    """Benchmarks that are known by name and are not here, each with the subject it is about."""
    missing: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    """Of these, those that other benchmarks stand beside: what each is about, what is told, and what is nearest."""
    absent_models: list[str] = field(default_factory=list)
    """Models that are known by name and are in no list here."""
    unsupported: list[Unsupported] = field(default_factory=list)
    corrections: list[tuple[str, str]] = field(default_factory=list)
    """A word that was taken for another: as it is written, and as it was read."""
