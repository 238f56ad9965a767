"""Texts as words, the way SQuAD and ROUGE count them, in every script."""

from __future__ import annotations

import string
from functools import lru_cache

from proctor.scorers.lazy_pattern import lazy_pattern

# English as SQuAD drops them, German and Spanish as MLQA does, French as FQuAD does.
_ARTICLES = {
    "en": lazy_pattern(r"\b(?:a|an|the)\b"),
    "de": lazy_pattern(r"\b(?:ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b"),
    "es": lazy_pattern(r"\b(?:un|una|unos|unas|el|la|los|las)\b"),
    "fr": lazy_pattern(r"\b(?:le|la|les|du|des|au|aux|un|une)\b|\bl['’]"),
}
KOREAN_ENDING = (
    "입니다|이십니다|이세요|께서|이에요|예요|이었습니다|였습니다|이다|이라고|라고|으로|에서|에게|까지|부터|처럼|보다"
    "|은|는|이|가|을|를|의|에|로|와|과|도|만"
)
"""Particles and forms of 'is' that Korean writes behind a noun without a space."""
# 나이 'age' is not 나 'I': a noun of one syllable takes only the longer endings.
_ENDED_WORD = lazy_pattern(f"(.+[가-힣\\d%])(?:{KOREAN_ENDING})\\Z|(.)(?:입니다|이에요|예요|이다)\\Z")
_KOREAN_COPULA = frozenset({"입니다", "이에요", "예요", "이다"})
_JAPANESE_COPULA = lazy_pattern(r"(?<=[\w」』”\"'）)》])(?:です|でした|である|だ)(?=[。．.!！\s」』)）]*\Z)")
_JAPANESE_PARTICLES = ("で", "に", "へ", "を", "が")
_QUOTES = str.maketrans("’‘", "''")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ASCII_WORD = lazy_pattern(r"[a-z0-9]+")
# Scripts written without spaces count each character as a word.
_ANY_WORD = lazy_pattern(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f]|[^\W_]+")


def squad_words(text: str, language: str = "en") -> list[str]:
    """Lower case, without punctuation and articles; character by character where a script has no spaces."""
    articles = _ARTICLES.get(language, _ARTICLES["en"])
    if text.isascii() and language != "fr":
        return articles.sub(" ", text.lower().translate(_PUNCTUATION)).split()
    text = text.lower().translate(_QUOTES)
    if language == "fr":  # its article ends with an apostrophe
        text = articles.sub(" ", text.replace("_", " "))
    text = articles.sub(" ", text.translate(_PUNCTUATION))
    return text.split() if text.isascii() else _spaceless(text)


def comparable_words(said: str, wanted: str, language: str = "en") -> tuple[list[str], list[str]]:
    """Both as words; a Japanese 'です' or a Korean particle that only one of them has does not set them apart."""
    if said.isascii() or wanted.isascii():
        ours, theirs = squad_words(said, language), squad_words(wanted, language)
    else:
        ours = squad_words(_without_copula(said, wanted), language)
        theirs = squad_words(_without_copula(wanted, said), language)
    return _without_endings(ours, set(theirs)), _without_endings(theirs, set(ours))


def _without_copula(text: str, other: str) -> str:
    if text[:-1] == other and text[-1:] in _JAPANESE_PARTICLES:
        return other
    return text if _JAPANESE_COPULA.search(other) else _JAPANESE_COPULA.sub("", text)


def _without_endings(words: list[str], known: set[str]) -> list[str]:
    """Korean words without the ending that keeps them from being one of the known ones."""
    bare: list[str] = []
    for word in words:
        if word in known or not (ended := _ENDED_WORD.match(word)):
            bare.append(word)
        elif word not in _KOREAN_COPULA:
            noun = ended[1] or ended[2]
            bare.append(noun if noun in known else word)
    return bare


@lru_cache(maxsize=64)
def rouge_words(text: str) -> tuple[str, ...]:
    """Runs of a–z and 0–9 for ASCII texts, as the published ROUGE has it; words of any script for others."""
    lowered = text.lower()
    return tuple((_ASCII_WORD if lowered.isascii() else _ANY_WORD).findall(lowered))


def _spaceless(text: str) -> list[str]:
    return _ANY_WORD.findall(text)
