"""What a scorer says of a response."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import force_setattr

from proctor.domain.json_value import storable_json
from proctor.domain.message import Json
from proctor.domain.text import shorten, storable

MAX_ANSWER_CHARACTERS = 1_000_000
MAX_REASON_LENGTH = 10_000
VERDICT, UNREADABLE = "verdict", "unreadable"
"""The detail that says so of a score without a value: the answer may be why nothing could be measured."""


class Score(Struct, frozen=True):
    """A mark in [0, 1], or none at all: `value` is None when nothing could be measured.

    Its texts can be stored, and its details are JSON, whatever a scorer made them of.
    """

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
        if self.value is not None and type(self.value) is not float:
            force_setattr(self, "value", float(self.value))
        if self.answer is not None:
            force_setattr(self, "answer", storable(shorten(str(self.answer), MAX_ANSWER_CHARACTERS)))
        reason = storable(shorten(str(self.reason), MAX_REASON_LENGTH))
        if reason is not self.reason:
            force_setattr(self, "reason", reason)
        if self.details:
            force_setattr(self, "details", storable_json(self.details))
            _refuse_weightless(self.details.get("weight", 1))

    @property
    def is_unreadable(self) -> bool:
        """Nothing was measured, and the answer may be why: a judge's verdict could not be read, say."""
        return self.value is None and self.details.get(VERDICT) == UNREADABLE

    @classmethod
    def unscored(cls, name: str, reason: str) -> Score:
        """Nothing could be measured, and that is not the model's fault: in no denominator."""
        return cls(name, None, reason=reason)

    @classmethod
    def unreadable(cls, name: str, reason: str) -> Score:
        """Nothing could be measured, but the answer may have brought that about: it must gain nothing by it."""
        return cls(name, None, reason=reason, details={VERDICT: UNREADABLE})

    @classmethod
    def invalid(cls, name: str, reason: str, answer: str | None = None) -> Score:
        return cls(name, 0.0, answer=answer, reason=reason, is_invalid=True)


def _refuse_weightless(weight: Json) -> None:
    """A mark of no things is in no mean: that is a score without a value, not a weight."""
    if isinstance(weight, bool) or not isinstance(weight, int) or weight < 1:
        raise ValueError(f"a score's weight is a whole number from 1 on, not {weight!r}")
