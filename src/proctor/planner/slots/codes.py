"""Languages by their codes and by one character each: `mgsm de/fr`, `lang=te`, `zh-CN`, `德、英、日`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from msgspec.structs import replace

from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.languages import NAMES_OF_LANGUAGES
from proctor.planner.phrases import Phrase, Phrases
from proctor.planner.words import CJK

_ALSO = {
    "jp": "ja", "cn": "zh", "kr": "ko", "deu": "de", "ger": "de", "eng": "en", "fra": "fr", "fre": "fr", "spa": "es",
    "jpn": "ja", "zho": "zh", "chi": "zh", "kor": "ko", "rus": "ru", "swa": "sw", "tha": "th", "tel": "te", "ben": "bn",
}  # fmt: skip
"""Codes of countries and of three letters that are written for a language's own."""
_CODE = r"([A-Za-z]{2,3})(?:-(?:[A-Z]{2}|[Hh]an[st]))?(?!\w)"
_NOUN = r"(?:(?:in|lang|langs|language|languages|sprachen?|idiomas?|langues?)\s*[=:]?\s*)"
_BEHIND = re.compile(rf"(?P<sign>\s*[(\[:/_,-]\s*|\s+)(?P<noun>{_NOUN}?){_CODE}")
_NEXT = re.compile(rf"(?P<sign>\s*[,;|/&+\u3001\u30fb]\s*|\s+)(?P<noun>(?:(?:and|und|y|et)\s+)?){_CODE}")
_BEHIND_EN = re.compile(rf"(?P<sign>\s+)(?P<noun>en\s+){_CODE}(?=\s*[,;|/&+]|\s+[a-z]{{2}}\b)")
"""`mgsm en zh, ja`: where the word for `in` is also the code of English."""
_NAMED = re.compile(
    rf"(?:\b(?:langs?|languages?|sprachen?|idiomas?|lenguas?|langues?)|言語|语言|언어)\s*[=:]\s*{_CODE}"
    r"|(?:\b(?:language|lang|iso) codes?|\bsprachcodes?|\bcódigos? de idioma|\bcodes? (?:de )?langue"
    rf"|言語コード|语言代码|언어 코드)\s*[=:]?\s*{_CODE}",
    re.IGNORECASE,
)
_REGION = re.compile(r"(?<![\w-])([a-z]{2})-(?:[A-Z]{2}|Han[st])(?![\w-])")
_WORDS_TOO = frozenset({"de", "es", "fr"})
"""Languages in which `de`, `en` and `es` are words like any other."""

_BY_CHARACTER: Mapping[str, str] = {
    "中": "zh", "英": "en", "日": "ja", "德": "de", "独": "de", "法": "fr", "仏": "fr", "西": "es", "俄": "ru",
    "露": "ru", "韩": "ko", "韓": "ko", "泰": "th", "意": "it", "伊": "it", "葡": "pt",
}  # fmt: skip
_IN_KOREAN: Mapping[str, str] = {
    "중": "zh", "영": "en", "일": "ja", "독": "de", "불": "fr", "서": "es", "러": "ru", "한": "ko",
}  # fmt: skip
_SET = "".join(_BY_CHARACTER)
_RUN = re.compile(
    rf"(?:(?<![{CJK}])|(?<=[のをで的用测测要和与、]))(?P<run>[{_SET}](?:\s?[、,/・和与及と]?\s?[{_SET}])+)"
    rf"(?P<noun>(?:[两二三四双2-4]\s?(?:种|門|门|か国|カ国|ヶ国)?)?(?:语言|语|語|言語|文))?(?![{_SET}])"
    rf"(?=$|[^{CJK}]|[のをでにと都的両各])"
)
_KOREAN_RUN = re.compile(
    rf"(?<![{CJK}])(?P<run>[{''.join(_IN_KOREAN)}](?:[\u00b7/][{''.join(_IN_KOREAN)}])+)(?P<noun>어)?"
)


def merge_codes(phrases: Phrases, catalogue: PlannerCatalogue) -> None:
    """Set the phrases that are codes: behind a benchmark with such languages, behind `lang=`, or with a country."""
    known = {code for item in catalogue.benchmarks for code in item.languages}
    text = phrases.text
    for item in [one for one in phrases.items if one.kind == "benchmark"]:
        benchmark = catalogue.benchmark(item.value)
        codes = set(benchmark.languages) if benchmark else set()
        behind = _BEHIND_EN if phrases.language in ("es", "fr") and _BEHIND_EN.match(text, item.end) else _BEHIND
        found = _listed(text, item.end, behind, codes)
        if not found or _are_words(phrases, item.end, found):
            continue
        _set(phrases, found)
    for named in _NAMED.finditer(text):
        begin = named.start(named.lastindex or 1)
        if found := _listed(text, begin, re.compile(rf"(?P<sign>)(?P<noun>){_CODE}"), known):
            _set(phrases, [(named.start(), begin, None), *found])
    regions = [(one.start(), one.end(), one[1]) for one in _REGION.finditer(text) if one[1] in NAMES_OF_LANGUAGES]
    _set(phrases, regions)
    for pattern, codes_of in ((_RUN, _BY_CHARACTER), (_KOREAN_RUN, _IN_KOREAN)):
        for run in pattern.finditer(text):
            _divide(phrases, run, codes_of)


def _listed(text: str, start: int, first: re.Pattern[str], codes: Collection[str]) -> list[tuple[int, int, str | None]]:
    """The codes that follow one another from here, each with its place."""
    found: list[tuple[int, int, str | None]] = []
    match = first.match(text, start)
    while match is not None and (code := _ALSO.get(match[3].lower(), match[3].lower())) in codes:
        found.append((match.start(3), match.end(), code))
        match = _NEXT.match(text, match.end())
    return found


def _are_words(phrases: Phrases, start: int, found: list[tuple[int, int, str | None]]) -> bool:
    """`mgsm en mandarin`, `mgsm de 20 preguntas`: whether what looks like codes are words."""
    text = phrases.text
    behind = next((one for one in phrases.items if one.start >= found[-1][1]), None)
    if behind is not None and behind.kind == "language" and text[found[-1][0] : found[-1][1]] == "en":
        return True
    written = text[found[0][0] : found[-1][1]]
    is_signed = text[start : found[0][0]].strip() not in ("", ",") or re.search(r"\w[,/+&]\s?\w", written)
    return phrases.language in _WORDS_TOO and not is_signed and not written.isupper()


def _set(phrases: Phrases, found: list[tuple[int, int, str | None]]) -> None:
    """Make a language of the first phrase at each of these places, and nothing of the others."""
    for start, end, code in found:
        for at, item in enumerate(phrases.items):
            if start <= item.start and item.end <= end:
                is_first = item.start == start and code is not None
                meaning = ("language", code or "") if is_first else ("filler", "")
                phrases.items[at] = replace(item, meanings=(meaning,), number=None)


def _divide(phrases: Phrases, run: re.Match[str], codes: Mapping[str, str]) -> None:
    """Put a language for each character in the place of the phrases of a run."""
    start, end = run.span()
    inside = [at for at, item in enumerate(phrases.items) if item.start < end and item.end > start]
    if not inside or phrases.items[inside[0]].start < start or phrases.items[inside[-1]].end > end:
        return
    if any(phrases.items[at].kind in ("model", "benchmark") for at in inside):
        return
    found = [
        Phrase((("language", codes[token.text]),), at, at, token.start, token.end)
        for at, token in enumerate(phrases.tokens)
        if run.start("run") <= token.start and token.end <= run.end("run") and token.text in codes
    ]
    phrases.items[inside[0] : inside[-1] + 1] = found
