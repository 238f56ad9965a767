"""What is said to a model: messages made of text, images and documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]
Json = Any  # anything JSON can hold


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image's own bytes, never re-encoded."""

    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class DocumentPart:
    data: bytes
    media_type: str
    name: str = "document"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call that a model made earlier in the conversation."""

    call_id: str
    name: str
    arguments: Json

    @property
    def text(self) -> str:
        return f"[call of {self.name}: {json.dumps(self.arguments, ensure_ascii=False)}]"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to."""

    call_id: str
    name: str
    result: str

    @property
    def text(self) -> str:
        return f"[result of {self.name}: {self.result}]"


Part = Text | Image | DocumentPart | ToolUse | ToolResult


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: str | tuple[Part, ...]

    @property
    def text(self) -> str:
        """The textual parts, joined by line breaks; calls of tools and their results are told in words."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if not isinstance(part, (Image, DocumentPart)))

    @property
    def shown(self) -> str:
        """What a person is shown: the text, and images and documents told in words."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(_told(part) if isinstance(part, (Image, DocumentPart)) else part.text for part in self.content)


def _told(part: Image | DocumentPart) -> str:
    name = f"{part.name}, " if isinstance(part, DocumentPart) else ""
    return f"[{name}{part.media_type}, {len(part.data):,} bytes]"


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything a model is given for one answer, sampling options apart."""

    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Json], ...] = ()
    schema: Mapping[str, Json] | None = None
    """A JSON schema that the answer must fit (structured output)."""

    def with_messages(self, messages: Iterable[Message]) -> Prompt:
        """The same request of another conversation."""
        return Prompt(tuple(messages), self.tools, self.schema)

    @property
    def is_only_text(self) -> bool:
        """Whether every model can take it as it is: no files, no calls of tools, nothing offered or demanded."""
        if self.tools or self.schema is not None:
            return False
        for message in self.messages:  # noqa: SIM110 - a quarter of the time, and asked of every request
            if not isinstance(message.content, str):
                return False
        return True

    @property
    def plain(self) -> dict[str, Json] | None:
        """A request of nothing but text as plain values, which are serialised in half the time; None for any other."""
        if not self.is_only_text:
            return None
        messages = [{"role": message.role, "content": message.content} for message in self.messages]
        return {"messages": messages, "tools": (), "schema": None}

    @property
    def text(self) -> str:
        """The conversation as plain text: what a function or a command is given."""
        return "\n\n".join(message.text for message in self.messages)
