"""Texts as words, the way SQuAD and ROUGE count them, in every script."""

from __future__ import annotations

import re
import string
from functools import lru_cache

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ASCII_WORD = re.compile(r"[a-z0-9]+")
# Scripts written without spaces count each character as a word.
_ANY_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f]|[^\W_]+")


def squad_words(text: str) -> list[str]:
    """Lower case, without punctuation and English articles; character by character where a script has no spaces."""
    text = _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION))
    return text.split() if text.isascii() else _spaceless(text)


@lru_cache(maxsize=64)
def rouge_words(text: str) -> tuple[str, ...]:
    """Runs of a–z and 0–9 for ASCII texts, as the published ROUGE has it; words of any script for others."""
    lowered = text.lower()
    return tuple((_ASCII_WORD if lowered.isascii() else _ANY_WORD).findall(lowered))


def _spaceless(text: str) -> list[str]:
    return _ANY_WORD.findall(text)
