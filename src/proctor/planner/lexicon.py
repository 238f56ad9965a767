"""Words and what they mean: one file of data for each language, matched as the longest phrase that begins at a word."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import printable
from typing import Any

from msgspec import Struct

from proctor.planner.fractions import words_of_parts
from proctor.planner.numbers import words_of_numbers
from proctor.planner.words import Token, tokens_of, without_accents

LANGUAGES = ("en", "de", "es", "fr", "ko", "ja", "zh")
LATIN = ("en", "de", "es", "fr")
_SHARED = ("family:", "provider:", "bench:", "tier:", "absent:", "absentmodel:")
_NAMES = frozenset({"mini", "zero", "shot", "few", "k", "seed", "n", "min", "max", "temp", "usd", "epochs", "top", "p",
                    "t", "concurrency"})  # fmt: skip
"""Words of names and options, which are written in English in every language."""
_SAME = frozenset({"marketing", "management", "virology", "arc", "benchmark", "benchmarks", "test", "tests", "version",
                   "python", "cache", "multiple", "coding", "batch", "offline"})  # fmt: skip
"""Words that several languages share, and so tell none."""
FOLDER = Path(__file__).parent / "lexicons"

Concepts = tuple[tuple[str, str], ...]
"""What a phrase means: kinds with values, such as (("bench", "math"), ("subject", "mathematics"))."""


class Forms(Struct, frozen=True):
    """The phrases of one language, by their words with spaces between them."""

    meanings: dict[str, Concepts]
    lengths: dict[str, int]
    """The most words of a phrase that begins with this one."""
    beginnings: dict[str, list[tuple[str, Concepts]]]
    """By the words before it: how a last word may begin, for forms that end in `*`."""

    def longest(self, tokens: list[Token], start: int) -> tuple[int, Concepts] | None:
        """How many words the longest phrase that begins here has, and what it means."""
        most = self.lengths.get(tokens[start].text, 1)
        words = [token.text for token in tokens[start : start + most]]
        if most > 1 and "\u3040" <= words[0] < "\uac00":  # `五分之一 下午` is not `一下`
            apart = next((at for at in range(1, len(words)) if tokens[start + at].gap), len(words))
            words = words[:apart]
        for length in range(len(words), 0, -1):
            meaning = self.meanings.get(" ".join(words[:length]))
            if meaning is None and self.beginnings:
                inside = self.beginnings.get(" ".join(words[: length - 1]), ())
                meaning = next((one for start, one in reversed(inside) if words[length - 1].startswith(start)), None)
            if meaning is not None:
                return length, meaning
        return None


class Lexicon(Struct, frozen=True):
    """The phrases of a language, before those of English, which hold in every query."""

    language: str
    own: Forms
    english: Forms

    def longest(self, tokens: list[Token], start: int) -> tuple[int, Concepts] | None:
        """The end and the meaning of the longest phrase that begins here."""
        if start >= len(tokens):
            return None
        found = self.own.longest(tokens, start)
        other = None if self.own is self.english else self.english.longest(tokens, start)
        if other is not None and (found is None or other[0] > found[0]):
            found = other
        return None if found is None else (start + found[0], found[1])

    def meaning(self, word: str) -> Concepts | None:
        """What a word means alone."""
        return self.own.meanings.get(word, self.english.meanings.get(word))


@cache
def lexicon(language: str) -> Lexicon:
    """The phrases of a language, over those of English."""
    return Lexicon(language, _forms(language), _forms("en"))


@cache
def _forms(language: str) -> Forms:
    meanings: dict[str, Concepts] = {}
    lengths: dict[str, int] = {}
    beginnings: dict[str, list[tuple[str, Concepts]]] = {}
    for concepts, forms in _entries(language):
        for form in forms:
            if form.isascii() and form.isalpha():  # one plain word, as most are
                meanings[form] = concepts
                continue
            key = _key(form.rstrip("*"))
            first, space, _ = key.partition(" ")
            if form.endswith("*"):
                before, _, last = key.rpartition(" ")
                beginnings.setdefault(before, []).append((last, concepts))
                if not last.isascii() and (plain := without_accents(last, language)) != last:
                    beginnings[before].append((plain, concepts))
            else:
                meanings[key] = concepts
                if not key.isascii() and (plain := without_accents(key, language)) != key:
                    meanings.setdefault(plain, concepts)
            if space and (length := key.count(" ") + 1) > lengths.get(first, 1):
                lengths[first] = length
    return Forms(meanings, lengths, beginnings)


@cache
def vocabulary(language: str) -> frozenset[str]:
    """The words that tell a language: those of its phrases, without names, which are the same in all."""
    parts: list[str] = []
    for meaning, forms in _lines(language):
        if not meaning.startswith(_SHARED):
            parts.append(forms if "*" not in forms else " ".join(one for one in forms.split(" | ") if "*" not in one))
    # All at once, as a loop over the words would take longer than the rest of a reading.
    text = " ".join((*parts, *words_of_numbers(language), *words_of_parts(language))).replace("|", " ")
    known = frozenset(text.split())
    if language != "en":
        known -= frozenset(printable) - frozenset("dl" if language == "fr" else "")
        accented = " ".join(word for word in known if not word.isascii())
        known |= frozenset(without_accents(accented, language).split()) - frozenset(printable) - vocabulary("en")
    return known - _NAMES - _SAME


@cache
def _beginnings(language: str) -> tuple[str, ...]:
    """The beginnings of words that tell a language: `koreanisch*`."""
    open_ended = (forms for _, forms in _lines(language) if "*" in forms)
    return tuple(form.strip("* ") for forms in open_ended for form in forms.split(" | ") if "*" in form)


@cache
def _entries(language: str) -> tuple[tuple[Concepts, tuple[str, ...]], ...]:
    return tuple(
        (tuple(_concept(part) for part in meaning.split("+")), tuple(part.strip() for part in forms.split(" | ")))
        for meaning, forms in _lines(language)
    )


@cache
def _lines(language: str) -> tuple[tuple[str, str], ...]:
    """What phrases mean and how they are written, as the file says it."""
    found = []
    for line in (FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        meaning, equals, forms = line.partition(" = ")
        if equals and not line.startswith("#"):
            found.append((meaning, f" {forms} "))
    return tuple(found)


def _concept(text: str) -> tuple[str, str]:
    kind, _, value = text.strip().partition(":")
    return kind, value


def _key(form: str) -> str:
    """The tokens of a phrase with spaces between; plain words and characters, which most are, have a quicker way."""
    if form.isalpha() or form.replace(" ", "").isalpha():
        if max(form) < "\u3000":
            return form
        if min(form) >= "\u3040":
            return " ".join(form)
    return " ".join(token.text for token in tokens_of(form))


_JAPANESE = frozenset("割円問歴対応験単図売読気検価済実権経々込戻時間題計")
"""Characters that Japanese writes in this form and simplified Chinese does not."""


def language_of(tokens: list[Token]) -> str:
    """The language a query is written in, of those that can be read; English where nothing says otherwise."""
    text: dict[str, Any] = dict.fromkeys(("kana", "hangul", "han"), 0)
    for token in tokens:
        if token.kind == "cjk":
            text["kana" if token.text < "\u3100" else "hangul" if token.text >= "\uac00" else "han"] += 1
    if text["hangul"]:
        return "ko"
    if text["kana"]:
        return "ja"
    if text["han"]:
        return "ja" if any(token.text in _JAPANESE for token in tokens) else "zh"
    words = [token.text for token in tokens if token.kind == "word"]
    scores = {"en": 0}
    for name in LATIN[1:]:
        own = sum(word in vocabulary(name) and word not in vocabulary("en") for word in words)
        others = sum(word in vocabulary("en") and word not in vocabulary(name) for word in words)
        own += sum(word.startswith(_beginnings(name)) for word in words if word not in vocabulary("en"))
        scores[name] = own - others
    scores["de"] += sum(any(mark in word for mark in "äöüß") for word in words)
    return max(LATIN, key=lambda name: (scores[name], name == "en"))


@cache
def _all_words(language: str) -> frozenset[str]:
    forms = (form.strip() for _, forms in _entries(language) for form in forms)
    words = {form for form in forms if len(form) > 3 and " " not in form}
    return (frozenset(words) | words_of_numbers(language) | words_of_parts(language)) - _SAME - vocabulary("en")


def language_with(words: list[str]) -> str | None:
    """The language that knows most of these words, which English does not know; None where no other does."""
    known = {name: sum(word in _all_words(name) for word in words) for name in LATIN[1:]}
    best = max(known, key=lambda name: known[name])
    return best if known[best] else None


_MENDED = frozenset(
    {"sample", "language", "subject", "bench", "group", "category", "epoch", "temperature", "compare", "rank", "judge",
     "currency", "minutes", "modelword", "provider", "tier", "fraction", "token"}
)  # fmt: skip
"""Kinds of words in which a slip of the pen is mended."""


@cache
def single_words(language: str) -> tuple[tuple[str, Concepts], ...]:
    """The words of a language in which a slip is mended, each with its meaning."""
    words = {
        form: lexicon(language).meaning(form)
        for concepts, forms in _entries(language)
        for form in map(str.strip, forms)
        if concepts[0][0] in _MENDED and form.isalpha() and len(form) >= 6
    }
    return tuple((word, concepts) for word, concepts in words.items() if concepts and concepts[0][0] in _MENDED)
