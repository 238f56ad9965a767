"""What a search in texts finds: what was typed, where a word begins, whatever the case, the width and the spaces.

Upper and lower case are alike, full-width and half-width letters are, and any run of spaces and line breaks is one
space. A match may end within a word ("light" finds "lighthouse") but does not begin within one ("house" does not).
Scripts that put no spaces between words, such as Chinese and Japanese, have no such limit: there any part is found.

Indexes hold the words that `words_of` gives. `TextQuery.terms` are such words as every text that matches has, so that
an index may leave texts out; whether one of the others matches, `TextQuery.matches` says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

from msgspec import Struct

MAX_WORD = 64
"""Characters of a word that are told apart in an index."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese."""
_PIECE = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_ASCII_PIECE = re.compile(r"[a-z0-9]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_IS_LETTER = re.compile(rf"[^\W_{_UNSPACED}]")


def fold(text: str) -> str:
    """The text as it is searched in."""
    folded = text.lower() if text.isascii() else normalize("NFKC", text).casefold()
    return " ".join(folded.split())


def words_of(folded: str) -> set[str]:
    """The words of a folded text; of scripts without spaces, every two neighbours."""
    if folded.isascii():
        return {word[:MAX_WORD] for word in _ASCII_PIECE.findall(folded)}
    found: set[str] = set()
    for piece in _PIECE.findall(folded):
        if _IS_UNSPACED.match(piece):
            found.update(piece[place : place + 2] for place in range(len(piece)))
        else:
            found.add(piece[:MAX_WORD])
    return found


class Term(Struct, frozen=True):
    """A word that every matching text has; of a prefix, one that begins so."""

    word: str
    is_prefix: bool


class TextQuery:
    """What somebody typed to find texts by."""

    def __init__(self, typed: str) -> None:
        self.folded = fold(typed)
        self._begins_word = bool(_IS_LETTER.match(self.folded))

    @property
    def terms(self) -> Sequence[Term]:
        """Empty where nothing but signs was typed: then no index helps."""
        found: dict[Term, None] = {}
        for piece in _PIECE.finditer(self.folded):
            word, is_last = piece[0], piece.end() == len(self.folded)
            if _IS_UNSPACED.match(word):
                pairs = [Term(word[place : place + 2], is_prefix=False) for place in range(len(word) - 1)]
                found.update(dict.fromkeys(pairs or [Term(word, is_prefix=True)]))
            else:
                found[Term(word[:MAX_WORD], is_last)] = None
        return tuple(found)

    @property
    def is_one_word(self) -> bool:
        """Whether having the one term is all that there is to match."""
        terms = self.terms
        return len(terms) == 1 and terms[0].word == self.folded

    def matches(self, folded: str) -> bool:
        """Whether a folded text has what was typed, beginning where a word does."""
        start = folded.find(self.folded)
        if not self._begins_word:
            return start >= 0
        while start > 0 and _IS_LETTER.match(folded[start - 1]):
            start = folded.find(self.folded, start + 1)
        return start >= 0
