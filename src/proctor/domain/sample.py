"""One question or problem."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from proctor.domain.message import Json, Message, Part

Target = str | tuple[str, ...]
"""The expected answer, or several of which any will do."""


class Sample(Struct, frozen=True):
    id: str
    input: str | tuple[Message, ...]
    target: Target | None = None
    choices: tuple[str, ...] = ()
    category: str | None = None
    group: str | None = None
    """Samples of one group are not independent (one passage, several questions): errors are clustered by it."""
    follow_ups: tuple[str, ...] = ()
    """Further user turns, asked one after the other once the model has answered."""
    tags: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Json] = field(default_factory=dict)
    files: tuple[Part, ...] = ()
    """Images, documents and texts that are put before the question."""

    @property
    def targets(self) -> tuple[str, ...]:
        if self.target is None:
            return ()
        return (self.target,) if isinstance(self.target, str) else self.target

    @property
    def input_text(self) -> str:
        if isinstance(self.input, str):
            return self.input
        return "\n\n".join(message.text for message in self.input)
