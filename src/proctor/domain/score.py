"""What a scorer says of a response."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from proctor.domain.message import Json


class Score(Struct, frozen=True):
    """A mark in [0, 1], or none at all: `value` is None when nothing could be measured."""

    name: str
    value: float | None
    answer: str | None = None
    """What was read out of the response."""
    reason: str = ""
    details: Mapping[str, Json] = field(default_factory=dict)
    is_invalid: bool = False
    """The model answered, but no answer could be read: counts as 0 and is reported beside the score."""

    def __post_init__(self) -> None:
        if self.value is not None and not 0.0 <= self.value <= 1.0:
            raise ValueError(f"a score lies between 0 and 1, not {self.value}")

    @classmethod
    def unscored(cls, name: str, reason: str) -> Score:
        """Nothing could be measured, and that is not the model's fault: in no denominator."""
        return cls(name, None, reason=reason)

    @classmethod
    def invalid(cls, name: str, reason: str, answer: str | None = None) -> Score:
        return cls(name, 0.0, answer=answer, reason=reason, is_invalid=True)
