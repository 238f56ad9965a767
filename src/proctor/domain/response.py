"""What came back from a model."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any

from msgspec import Struct, field
from msgspec.structs import force_setattr

from proctor.domain.json_value import storable_json
from proctor.domain.message import Json
from proctor.domain.text import storable


class FinishReason(StrEnum):
    STOP = "stop"
    LENGTH = "length"
    FILTERED = "filtered"
    TOOL_CALLS = "tool_calls"
    OTHER = "other"
    UNUSABLE = "unusable"
    """It could not be taken: too large, or not storable. `note` says why, and every scorer counts it as invalid."""


def _make_storable(struct: Struct, *names: str) -> None:
    """Texts come from providers, programs and functions: none may hold what cannot be stored."""
    for name in names:
        value: Any = getattr(struct, name)
        if isinstance(value, str) and (kept := storable(value)) is not value:
            force_setattr(struct, name, kept)


class Usage(Struct, frozen=True):
    """Tokens as the provider counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    """Input that was read from the provider's cache; part of the input."""
    cache_write_tokens: int | None = None
    """Input that was put into the provider's cache, which may cost more; part of the input."""


class ToolCall(Struct, frozen=True):
    name: str
    arguments: Json
    """The arguments as JSON; the raw text where it could not be parsed."""
    id: str | None = None
    problem: str | None = None
    """Why the call does not fit the tools that were offered; None when it does."""

    def __post_init__(self) -> None:
        _make_storable(self, "name", "id", "problem")
        kept = storable_json(self.arguments)
        if kept is not self.arguments:
            force_setattr(self, "arguments", kept)


class TokenLogprob(Struct, frozen=True):
    token: str
    logprob: float
    top: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _make_storable(self, "token")
        if any(storable(token) is not token for token in self.top):
            force_setattr(self, "top", {storable(token): logprob for token, logprob in self.top.items()})


class RateState(Struct, frozen=True):
    """What a provider says is left of its allowance; None where it says nothing."""

    requests_left: int | None = None
    requests_reset_seconds: float | None = None
    """How long until the allowance is whole again."""
    tokens_left: int | None = None
    tokens_reset_seconds: float | None = None


class Response(Struct, frozen=True):
    """What a model answered; every text in it can be stored, whatever the model wrote."""

    text: str
    finish_reason: FinishReason = FinishReason.STOP
    usage: Usage = Usage()
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    logprobs: tuple[TokenLogprob, ...] = ()
    model: str | None = None
    """The model that answered, as the provider names it."""
    request_id: str | None = None
    latency_seconds: float | None = None
    first_token_seconds: float | None = None
    cost_usd: Decimal | None = None
    cost_basis: str | None = None
    """Who says what it cost: 'reported' by the provider, else the basis of the price; None until that is known."""
    turns: tuple[str, ...] = ()
    """Earlier answers of a conversation with several turns; `text` is the last one."""
    note: str | None = None
    """What else happened on the way to it: an agent's exit code, a repair round that failed; None where nothing did."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """What was handed in beside the files and not taken: path -> why."""
    may_cost_more: bool = False
    """Whether a further request on the way to it failed, which may have been billed; not part of what is kept."""
    rate: RateState | None = None
    """The provider's allowance as it stood after this answer; not part of what is kept."""

    def __post_init__(self) -> None:
        # Looked at together: nearly all of them can be stored as they are, and most are not there.
        others = f"{self.reasoning}{self.model}{self.request_id}{self.cost_basis}{self.note}"
        is_fine = type(self.text) is str and storable(self.text) is self.text and storable(others) is others
        if not is_fine:
            _make_storable(self, "text", "reasoning", "model", "request_id", "cost_basis", "note")
        if self.turns:
            force_setattr(self, "turns", tuple(storable(turn) for turn in self.turns))
        if self.files and any(storable(path) is not path for path in self.files):
            self._rename_files()
        if self.left_out:
            left_out = {storable(path): storable(why) for path, why in self.left_out.items()}
            force_setattr(self, "left_out", left_out)

    @classmethod
    def unusable(cls, why: str, latency_seconds: float | None = None) -> Response:
        """An answer of which nothing could be taken."""
        return cls("", FinishReason.UNUSABLE, note=why, latency_seconds=latency_seconds)

    def _rename_files(self) -> None:
        files: dict[str, bytes] = {}
        left_out = dict(self.left_out)
        for path, data in self.files.items():
            kept = storable(path)
            if kept in files:
                left_out[kept] = "another file has this name once what cannot be stored in it is replaced"
            else:
                files[kept] = data
        force_setattr(self, "files", files)
        force_setattr(self, "left_out", left_out)

    @property
    def is_cacheable(self) -> bool:
        """A truncated or filtered answer says more about the moment than about the model."""
        return self.finish_reason in (FinishReason.STOP, FinishReason.TOOL_CALLS)
