"""Parts of a whole in words: `an eighth`, `zwei Drittel`, `jede zwanzigste`, `la décima parte`, `trois quarts`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from proctor.planner.numbers import DIGITS_IN_WORDS, words_of_numbers
from proctor.planner.words import Token, without_accents

_TENS = {"twent": 20, "thirt": 30, "fort": 40, "fift": 50, "sixt": 60, "sevent": 70, "eight": 80, "ninet": 90}
_EN = {
    "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
    "eleventh": 11, "twelfth": 12, "fifteenth": 15, "sixteenth": 16, "hundredth": 100, "thousandth": 1000,
    **{f"{ten}ieth": value for ten, value in _TENS.items()},
}  # fmt: skip
_DE = {
    "dritt": 3, "viert": 4, "fünft": 5, "sechst": 6, "siebt": 7, "siebent": 7, "acht": 8, "neunt": 9, "zehnt": 10,
    "elft": 11, "zwölft": 12, "fünfzehnt": 15, "sechzehnt": 16, "zwanzigst": 20, "dreißigst": 30, "dreissigst": 30,
    "vierzigst": 40, "fünfzigst": 50, "hundertst": 100, "tausendst": 1000,
}  # fmt: skip
_DE |= {without_accents(stem, "de"): value for stem, value in _DE.items()}
_ES = {
    "terci": 3, "cuart": 4, "quint": 5, "sext": 6, "séptim": 7, "octav": 8, "noven": 9, "décim": 10, "doceav": 12,
    "quinceav": 15, "veinteav": 20, "vigésim": 20, "centésim": 100, "milésim": 1000,
}  # fmt: skip
_ES |= {without_accents(stem, "es"): value for stem, value in _ES.items()}
_FR = {
    "cinquième": 5, "sixième": 6, "septième": 7, "huitième": 8, "neuvième": 9, "dixième": 10, "douzième": 12,
    "quinzième": 15, "seizième": 16, "vingtième": 20, "trentième": 30, "cinquantième": 50, "centième": 100,
    "millième": 1000,
}  # fmt: skip
_FR |= {without_accents(word, "fr"): value for word, value in _FR.items()}
_BELOW: Mapping[str, Mapping[str, int]] = {
    "en": {
        **_EN, **{f"{word}s": value for word, value in _EN.items()},
        "quarter": 4, "quarters": 4, "half": 2, "halves": 2,
    },
    "de": {f"{stem}el{end}": value for stem, value in _DE.items() for end in ("", "n")},
    "es": {f"{stem}{end}": value for stem, value in _ES.items() for end in ("o", "os")},
    "fr": {
        **_FR, **{f"{word}s": value for word, value in _FR.items()}, "tiers": 3, "quart": 4, "quarts": 4,
    },
}  # fmt: skip
"""Words for parts, and into how many the whole is divided."""
_PARTE = {f"{stem}{end}": value for stem, value in {**_ES, "tercer": 3}.items() for end in ("a", "as")}
"""Before `parte` in Spanish: `la décima parte`, `tres cuartas partes`."""
_EVERY: Mapping[str, tuple[tuple[str, ...], Mapping[str, int]]] = {
    "en": (("every", "each"), {**_EN, "other": 2, "second": 2}),
    "de": (
        ("jede", "jeder", "jedes", "jeden", "jedem"),
        {f"{stem}{end}": value for stem, value in {**_DE, "zweit": 2}.items() for end in ("e", "en", "er", "es")},
    ),
    "es": (
        ("cada",),
        {f"{stem}{end}": value for stem, value in {**_ES, "segund": 2, "tercer": 3}.items() for end in "oa"},
    ),
    "fr": (("chaque",), {**_FR, "deuxième": 2, "troisième": 3, "quatrième": 4}),
}  # fmt: skip
"""`every tenth`: the words that begin it, and the ordinals behind them."""
_ONE: Mapping[str, tuple[str, ...]] = {
    "en": ("a", "an", "one"), "de": ("ein", "eine", "einem", "einen", "einer"), "es": ("un", "una", "la"),
    "fr": ("un", "une", "le"),
}  # fmt: skip
_OF: Mapping[str, tuple[str, ...]] = {
    "en": ("of",), "de": ("der", "des", "von", "aus", "davon"), "es": ("de", "del"), "fr": ("de", "des", "du", "d"),
}  # fmt: skip
"""Behind a word for a part that has no numeral: `quarter of mbpp`."""
_COUNTED = frozenset(
    {"model", "one", "run", "time", "benchmark", "modell", "modelo", "modèle", "hora", "hour", "heure"}
)
"""`a third model` is one more, and no part of anything."""


@cache
def words_of_parts(language: str) -> frozenset[str]:
    """The words for parts, which tell a language as other words do."""
    of_every = _EVERY[language][1] if language in _EVERY else {}
    return frozenset(_BELOW.get(language, ())) | frozenset(of_every)


def fraction_at(tokens: list[Token], start: int, language: str) -> tuple[int, str] | None:
    """The end of the part that begins here, and what it is of the whole: `2/3`; None where none begins."""
    for name in dict.fromkeys((language, "en")):
        if name in _BELOW and (found := _in(tokens, start, name)) is not None:
            return found
    return None


def _in(tokens: list[Token], start: int, name: str) -> tuple[int, str] | None:
    word, second = tokens[start].text, _text(tokens, start + 1)
    words, ordinals = _EVERY[name]
    if word in words and second in ordinals:
        return start + 2, f"1/{ordinals[second]}"
    if name == "es" and word in ("medio", "media") and second in words_of_numbers("es"):  # `media docena`
        return start + 1, "1/2"
    if name == "de":  # `zweidrittel`, in one word
        for many, above in DIGITS_IN_WORDS["de"].items():
            if word.startswith(many) and word.removeprefix(many) in _BELOW["de"]:
                return start + 1, f"{above}/{_BELOW['de'][word.removeprefix(many)]}"
    is_one = word in _ONE[name]
    above = 1 if is_one else DIGITS_IN_WORDS[name].get(word, int(word) if word.isdigit() else 0)
    end = _end_of_part(tokens, start + 1, name) if above else None
    if end is None and word in _BELOW[name] and second in _OF[name]:
        above, end = 1, (start + 1, _BELOW[name][word])
    if end is None or end[1] <= above or _text(tokens, end[0]) in _COUNTED:
        return None
    return end[0], f"{above}/{end[1]}"


def _end_of_part(tokens: list[Token], at: int, name: str) -> tuple[int, int] | None:
    """The end of the word for a part at this place, and into how many it divides."""
    word = _text(tokens, at)
    if name == "es" and word in _PARTE and _text(tokens, at + 1) in ("parte", "partes"):
        return at + 2, _PARTE[word]
    return (at + 1, _BELOW[name][word]) if word in _BELOW[name] else None


def _text(tokens: list[Token], at: int) -> str:
    return tokens[at].text if at < len(tokens) else ""
