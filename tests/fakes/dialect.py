"""How one provider speaks: what every fake provider's dialect can do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from fakes.loopback import Request


@dataclass(frozen=True)
class Ask:
    """What a request asked, whatever the dialect."""

    text: str
    model: str
    is_stream: bool
    body: Any
    wants_usage: bool = True


@dataclass(frozen=True)
class Reply:
    """What to answer, whatever the dialect."""

    text: str
    finish: str = "stop"
    """stop, length, filtered or tool_calls."""
    tool_calls: tuple[tuple[str, str], ...] = ()
    """Names and JSON arguments."""
    reasoning: str = ""
    logprobs: tuple[tuple[str, float], ...] = ()
    input_tokens: int = 11
    output_tokens: int = 7
    cached_tokens: int = 3
    written_tokens: int = 0
    reasoning_tokens: int = 2
    extra: dict[str, Any] = field(default_factory=dict)


class Dialect(Protocol):
    def matches(self, request: Request) -> bool: ...

    def is_authorised(self, request: Request, key: str) -> bool: ...

    def read(self, request: Request) -> Ask: ...

    def plain(self, ask: Ask, reply: Reply) -> Any: ...

    def frames(self, ask: Ask, reply: Reply) -> list[bytes]:
        """The stream's events, in order, each complete."""
        ...

    def error(self, status: int, message: str) -> Any: ...

    def error_frame(self, status: int, message: str) -> bytes:
        """How an error looks once a stream has begun."""
        ...


def pieces(text: str, size: int = 7) -> list[str]:
    """The text in small pieces, as a model would stream it; a long one in fewer."""
    size = max(size, len(text) // 200)
    return [text[start : start + size] for start in range(0, len(text), size)]
