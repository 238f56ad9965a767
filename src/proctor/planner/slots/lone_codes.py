"""Codes of languages that stand alone: `mgsm without en`, `the sw part of mgsm`, `maths in ko`."""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec.structs import replace

from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.phrases import Phrase, Phrases

_CODE = re.compile(
    r"(?<![A-Za-z0-9.'’_-])(?<!\d )[A-Za-z]{2}(?![A-Za-z0-9'’_]|\.\w|-(?!(?:teil|part|split|subset)))", re.IGNORECASE
)
_JOIN = re.compile(r"\s*[,;|/&+、・]\s*|\s+(?:and|or|nor|und|oder|noch|y|o|ni|et|ou)\s+|\s*(?:と|や|和|与|랑|와|과)\s*")
_ALSO_WORDS = {"de": {"es", "ja"}, "es": {"de", "en", "es", "te", "ja"}, "fr": {"de", "en", "es", "te"}}
"""What is written like a code, and is a word of the query's own language."""
_IN = re.compile(r"(?:^|\s)(?:in|auf|en)\s+$", re.IGNORECASE)
_ENDS = re.compile(r"\s*(?:$|[,;:.!?)\]])")
_OPENS = re.compile(r"(?:^|[,;:(\[])\s*$")


def merge_lone_codes(phrases: Phrases, catalogue: PlannerCatalogue) -> None:
    """Make languages of codes of a benchmark that is named, or of any language here where it is said so."""
    named = [catalogue.benchmark(item.value) for item in phrases.items if item.kind == "benchmark"]
    own = {code for item in named if item is not None for code in item.languages}
    known = own or {code for item in catalogue.benchmarks for code in (item.tags.get("language", ""), *item.languages)}
    if own == set() and named:
        return  # `gsm8k de haiku`: a benchmark of one language
    found = [at for at, item in enumerate(phrases.items) if _is_code(phrases, item, known)]
    sure = {at for at in found if _is_sure(phrases, at, is_said=bool(own))}
    for run in (found, list(reversed(found))):
        for first, second in pairwise(run):
            low, high = sorted((first, second))
            between = phrases.text[phrases.items[low].end : phrases.items[high].start]
            if first in sure and _JOIN.fullmatch(between):
                sure.add(second)
    for at in sure:
        code = phrases.words(at).lower()
        phrases.items[at] = replace(phrases.items[at], meanings=(("language", code),), number=None)


def _is_code(phrases: Phrases, item: Phrase, known: set[str]) -> bool:
    written = phrases.text[item.start : item.end]
    is_whole = item.kind in ("unknown", "filler") and written.lower() in known
    return is_whole and _CODE.match(phrases.text, item.start) is not None


def _is_sure(phrases: Phrases, at: int, *, is_said: bool) -> bool:
    """Whether it is a code without its neighbours; `is_said` where a benchmark with such languages is named."""
    item, written = phrases.items[at], phrases.words(at)
    before = phrases.text[: item.start]
    is_word = not written.isupper() and written.lower() in _ALSO_WORDS.get(phrases.language, ())
    is_in = bool(_IN.search(before))
    ends = bool(_ENDS.match(phrases.text, item.end))
    if not is_said:
        is_alone = ends and bool(_OPENS.search(before))
        return not (is_word and not is_in) and item.kind == "unknown" and (is_in or is_alone)
    is_left_out = at > 0 and phrases.items[at - 1].kind == "except"
    return not is_word or is_in or (is_left_out and ends)
