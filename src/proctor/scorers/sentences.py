"""Sentences and capital words of a text, counted much as the usual English tokenizers do."""

from __future__ import annotations

import re

from proctor.scorers.lazy_pattern import lazy_pattern

_ABBREVIATIONS = frozenset(
    {
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "sr",
        "jr",
        "st",
        "vs",
        "etc",
        "e.g",
        "i.e",
        "u.s",
        "u.k",
        "no",
        "vol",
        "inc",
        "ltd",
        "co",
        "corp",
        "gen",
        "col",
        "sgt",
        "capt",
        "lt",
        "rev",
        "hon",
        "a.m",
        "p.m",
        "ph.d",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "fig",
        "al",
    }
)
_END = lazy_pattern(r"(?<![.!?])([.!?]+)[\"'”’)\]*]{0,8}(?=\s|$)")
_OPENER = lazy_pattern(r"\s{1,20}[\"'“‘(\[*#-]*(\S)")
_LAST_WORD = lazy_pattern(r"\S+\Z")
MAX_WORD_LENGTH = 20
_TOKEN = lazy_pattern(r"\w+(?:[-.]\w+)*|[^\w\s]")


def count_sentences(text: str) -> int:
    """How many sentences: each ends with a full stop, question or exclamation mark that no abbreviation explains."""
    text = text.strip()
    if not text:
        return 0
    count = 0
    last = 0
    for found in _END.finditer(text):
        if found.end() == len(text) or _ends_sentence(text, found):
            count, last = count + 1, found.end()
    return count + (1 if text[last:].strip() else 0)


def _ends_sentence(text: str, found: re.Match[str]) -> bool:
    if found[1] != ".":
        return True
    opener = _OPENER.match(text, found.end())
    if opener is not None and opener[1].islower():
        return False
    window = text[max(0, found.start() - MAX_WORD_LENGTH) : found.start()]
    word = _LAST_WORD.search(window)
    written = word[0].lstrip("\"'“‘([*") if word else ""
    if written.lower() in _ABBREVIATIONS:
        return False
    # An initial ('J. Smith') and an enumeration ('1. Wash') do not end a sentence.
    is_initial = len(written) == 1 and written.isupper()
    return not is_initial and not (written.isdigit() and _begins_line(text, found.start() - len(written)))


def _begins_line(text: str, position: int) -> bool:
    return not text[text.rfind("\n", 0, position) + 1 : position].strip()


def count_capital_words(text: str) -> int:
    """Words all in capitals; a contraction such as DON'T counts as the two words it is made of."""
    return sum(1 for token in _TOKEN.findall(text) if token.isupper())
