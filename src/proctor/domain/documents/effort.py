"""What answers took: tokens and time."""

from __future__ import annotations

from proctor.domain.documents.document import Document


class TokenCounts(Document, frozen=True):
    """Tokens; None where a provider did not say."""

    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cached_tokens: int | None


class Percentiles(Document, frozen=True):
    """Of a duration or a speed; None where it was not measured, which is not the same as 0."""

    p50: float | None
    p95: float | None
    p90: float | None = None
    p99: float | None = None
