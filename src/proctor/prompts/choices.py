"""How the choices of a question are laid out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Layout = Literal["A.", "A)", "(A)", "A:"]
USUAL_LAYOUT: Layout = "A."
"""How a choice is marked: each layout is an example of itself."""


def letters_for(choices: Sequence[str]) -> tuple[str, ...]:
    """One letter for each choice; a question has at most 26."""
    return tuple(LETTERS[: len(choices)])


def lay_out(choices: Sequence[str], layout: Layout = "A.") -> str:
    """One line for each choice, marked with its letter."""
    before, after = layout.split("A")
    return "\n".join(f"{before}{letter}{after} {text}" for letter, text in zip(LETTERS, choices, strict=False))
