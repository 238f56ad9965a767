"""What judges did."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.domain.documents.document import Document


class JudgeTokens(Document, frozen=True):
    input_tokens: int | None
    output_tokens: int | None


class JudgeWork(Document, frozen=True):
    """One judge's verdicts on one scorer's behalf, and their cost; cached replies cost nothing now."""

    verdicts: int
    unreadable: int
    undecided: int
    """Comparisons in which the order of two answers changed its mind."""
    preferred_first: int
    preferred_second: int
    requests: int
    cached: int
    usage: JudgeTokens
    cost_usd: float | None
    cost_basis: str
    price_sources: Sequence[str]


class JudgeAgreement(Document, frozen=True):
    """How far several judges agree; a statistic is None where it is undefined."""

    judges: Sequence[str]
    n: int
    complete: int
    """Answers with a readable verdict of every judge."""
    unanimous: float | None
    cohen_kappa: float | None
    fleiss_kappa: float | None
    krippendorff_alpha: float | None
    level: str
