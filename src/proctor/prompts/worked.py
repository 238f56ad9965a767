"""Worked examples: what a renderer needs of them, and the ways to place them."""

from __future__ import annotations

from typing import Literal, Protocol

from proctor.domain.sample import Sample

Placement = Literal["turns", "text"]
"""`turns`: as questions of the user and answers of the model; `text`: in the same message, before the question."""

PREAMBLE = "preamble"
"""Metadata of an example: text that stands before the first one, where examples are placed as text."""


class WorkedExamples(Protocol):
    """The same examples whenever they are asked for."""

    def of(self, sample: Sample) -> tuple[Sample, ...]:
        """The examples this sample is shown, each with its target."""
        ...

    @property
    def digest(self) -> str:
        """Changes when any example could."""
        ...
