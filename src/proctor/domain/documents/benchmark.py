"""A benchmark: what is known of it without its data, and what its data holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.domain.documents.document import Document
from proctor.domain.message import Json


class ShownMessage(Document, frozen=True):
    role: str
    content: str


class BenchmarkDescription(Document, frozen=True, kw_only=True):
    name: str
    version: str
    description: str
    protocol: str
    licence: str | None
    source: str | None
    homepage: str | None
    input: str
    """What inputs are, for people; empty where they are text or messages."""
    tags: Mapping[str, str]
    shots: int | None
    variants: Mapping[str, str]
    parameters: Mapping[str, str]
    scorers: Mapping[str, Mapping[str, Json]]
    """Options by scorer; several of one kind are told apart by the name that each was given."""
    metrics: Sequence[str]
    options: Mapping[str, Json]
    needs_sandbox: bool
    samples: int | None
    """None where the data is not at hand; `no_data` then says what is missing."""
    no_data: str | None = None
    digest: str | None = None
    categories: Mapping[str, int] | None = None
    first_prompt: Sequence[ShownMessage] | None = None
    first_target: Sequence[str] | None = None
    warnings: Sequence[str] | None = None
    """What its author may want to look at; None where the data was not read."""
