"""One prompt put to several models side by side: what was asked, what came back, what people preferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from proctor.domain.documents.document import Document
from proctor.domain.message import Json

AnswerState = Literal["waiting", "streaming", "complete", "failed", "stopped"]


class PlaygroundFile(Document, frozen=True):
    position: int
    name: str
    media_type: str
    """What its content is, whatever its name says."""
    bytes: int
    pages: int | None
    characters: int | None
    """Of a PDF: how many of its text can be read."""
    width: int | None
    height: int | None


class PlaygroundView(Document, frozen=True):
    """What this kind of request has to show beside its prompt."""

    files: Sequence[PlaygroundFile]
    input: Json
    input_schema: Mapping[str, Json] | None


class PlaygroundUsage(Document, frozen=True):
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cached_tokens: int | None


class PlaygroundCall(Document, frozen=True):
    """A tool that the answer asks for."""

    name: str
    arguments: Json
    problem: str | None


class PlaygroundAnswer(Document, frozen=True, kw_only=True):
    """One model's answer; whatever could tell who it is is null until that may be known."""

    answer: str
    """A letter."""
    state: AnswerState
    text: str
    model: str | None
    reasoning: str | None
    error: str | None
    finish_reason: str | None
    tool_calls: Sequence[PlaygroundCall]
    schema_problems: Sequence[str] | None
    """Which rules of `answer_schema` it breaks; null where there is none, or there is no answer yet."""
    first_token_seconds: float | None
    latency_seconds: float | None
    tokens_per_second: float | None
    """Of its output, from the first token to the last."""
    usage: PlaygroundUsage | None
    cost_usd: float | None
    cost_basis: str | None


class PlaygroundVote(Document, frozen=True):
    voter: str
    best: Sequence[str]
    """The answers that none was preferred to: all of them is a tie, none that all are bad."""
    is_blind: bool
    voted_at: str


class PlaygroundAsk(Document, frozen=True, kw_only=True):
    ask_id: str
    kind: str
    author: str
    created_at: str
    is_blind: bool
    is_revealed: bool
    """Whether who is who is told to whoever reads this."""
    is_finished: bool
    request: Mapping[str, Json]
    """As it was sent, without the content of files."""
    view: PlaygroundView
    answers: Sequence[PlaygroundAnswer]
    votes: Sequence[PlaygroundVote]
    """Those that the reader may see: while the names are hidden, none of others."""
    cost_usd: float | None
    """Of those answers whose cost is known; null while names are hidden, or where none is."""


class ListedAsk(Document, frozen=True, kw_only=True):
    ask_id: str
    kind: str
    author: str
    created_at: str
    is_blind: bool
    is_finished: bool
    prompt: str
    """Its beginning."""
    models: Sequence[str]
    votes: int


class AskPage(Document, frozen=True):
    """Newest first."""

    items: Sequence[ListedAsk]
    next: str | None


class PreferredModel(Document, frozen=True, kw_only=True):
    """A rating on Elo's scale, where 1000 is the mean of those ranked."""

    model: str
    rating: float
    ci95: tuple[float, float]
    rank: tuple[int, int]
    """The best and the worst place that it may have."""
    votes: int
    wins: int
    ties: int
    losses: int


class PreferenceRanking(Document, frozen=True):
    models: Sequence[PreferredModel]
    votes: int
    method: str


class PlaygroundSample(Document, frozen=True, kw_only=True):
    """A line of a benchmark's data."""

    id: str
    input: Json
    target: str | None
    files: Sequence[str]
    """As `data:` URLs."""
    metadata: Mapping[str, Json]


class PlaygroundPlan(Document, frozen=True):
    plan: Mapping[str, Json]
