"""Which option's text a response quotes."""

from __future__ import annotations

import re
from functools import lru_cache

from proctor.scorers.asked_words import are_forms, words_of
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import SENTENCE_END
from proctor.scorers.reading import plain
from proctor.scorers.stance_words import NEGATIVE

MAX_INFLECTED = 120
MAX_REWORDED = 2000
MIN_WORDS = 2
MIN_STEM = 4
_VERB_END = lazy_pattern(r"(?:y?e[sn]?t?|ent|s|ed|ing|e[nrt]|[aeiáéíó]r|[ae]n?|ir|[aei]rse|re|ons|ez)\Z")
_DENIES = lazy_pattern(
    r"\b(?:not|never|no|nicht|nie|kein\w*|pas|jamais|nunca|hardly|kaum|or|oder|ou|o|but|aber|mais|pero|than|als|que)\b"
    r"|n['’]t\b|\?",
    re.IGNORECASE,
)
QUOTING = " *_\"'“‘`$([:"


@lru_cache(maxsize=4096)
def fold_choice(choice: str) -> str:
    return " ".join(plain(choice).casefold().strip(" .").split())


def starts_with_choice(said: str, choice: str) -> bool:
    said, wanted = said.casefold().lstrip(QUOTING), fold_choice(choice)
    return bool(wanted) and said.startswith(wanted) and not said[len(wanted) : len(wanted) + 1].isalnum()


def choice_at_start(said: str, choices: tuple[str, ...], labels: str) -> str | None:
    """The option whose text begins here; the longest, when one begins with another."""
    fitting = [
        (len(choice), label) for label, choice in zip(labels, choices, strict=False) if starts_with_choice(said, choice)
    ]
    return max(fitting)[1] if fitting else None


def only_choice_in(said: str, choices: tuple[str, ...], labels: str) -> str | None:
    """The one option whose text occurs; a text inside another option's longer text does not count."""
    said = " ".join(said.casefold().split())
    found: list[str] = []
    for choice, label in sorted(zip(choices, labels, strict=False), key=lambda pair: -len(pair[0])):
        wanted = fold_choice(choice)
        if wanted and _occurs(wanted, said):
            found.append(label)
            said = said.replace(wanted, " \0 ")
    return found[0] if len(found) == 1 else None


def _occurs(wanted: str, text: str) -> bool:
    """As words of their own; scripts without spaces have no such thing."""
    if wanted not in text or not wanted.isascii():
        return wanted in text
    return any(
        not text[max(0, found.start() - 1) : found.start()].isalnum()
        and not text[found.end() : found.end() + 1].isalnum()
        for found in re.finditer(re.escape(wanted), text)
    )


def inflected_choice(text: str, choices: tuple[str, ...], labels: str) -> str | None:
    """The one option of a single word that a short response names in another form: 'Suele disminuir'."""
    if len(text) > MAX_INFLECTED or _DENIES.search(text):
        return None
    words = re.findall(r"[^\W\d_]+", text.casefold())
    if any(fold_choice(choice) in words for choice in choices):
        return None
    stems = {_verb_stem(word) for word in words}
    named = [
        label
        for choice, label in zip(choices, labels, strict=False)
        if " " not in (folded := fold_choice(choice)) and len(stem := _verb_stem(folded)) >= MIN_STEM and stem in stems
    ]
    return named[0] if len(named) == 1 else None


def _verb_stem(word: str) -> str:
    return _VERB_END.sub("", word)


def _says_all(said: frozenset[str], words: frozenset[str]) -> bool:
    return all(any(are_forms(word, other) for other in said) for word in words)


def reworded_choice(text: str, choices: tuple[str, ...], labels: str) -> str | None:
    """The one option all of whose words occur in one sentence that denies nothing: 'es ist am besten, X zu rufen'."""
    wanted = {label: words_of(choice) for label, choice in zip(labels, choices, strict=False)}
    named = {
        label
        for sentence in SENTENCE_END.split(text[-MAX_REWORDED:])
        if sentence and not _DENIES.search(sentence) and not NEGATIVE.search(sentence)
        for label, words in wanted.items()
        if len(words) >= MIN_WORDS and _says_all(words_of(sentence), words)
    }
    return named.pop() if len(named) == 1 else None
