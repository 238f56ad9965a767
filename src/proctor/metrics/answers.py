"""When two answers are the same text."""

from __future__ import annotations

import unicodedata

_AROUND = " .,;:!?*_`\"'“”‘’«»「」。、！？"


def bare_answer(text: str) -> str:
    """The text without regard to case, runs of white space, and punctuation around it."""
    plain = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    return plain.strip(_AROUND) or plain
