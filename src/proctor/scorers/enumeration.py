"""Whether something is named only as one of several: 'Writers of the time were X, Y and Z'."""

from __future__ import annotations

import re

from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import CORRECTION

WINDOW = 120
MIN_ITEMS = 3
_WORD_AND = r"(?:and|or|as\swell\sas|und|oder|sowie|et|ou|y|e|o)"
_PLAIN_ITEM = (
    r"(?!(?:(?:al)?though|while|because|obwohl|während|weil|denn|bien|quoique|car|aunque|mientras|porque|the|born|winner|geboren\w*|née?|nacid[oa]|an?|which|who|whose|where|not|but|in|on|at|as|is|was|der|die"
    r"|das|den|dem|ein\w*|welche\w*|nicht|aber|am|im|ist|war|qui|dont"
    r"|pas|non|mais|en|à|est|que|no|pero|es|fue)\b)[^\W\d_][\w.'’-]*(?:\s(?!(?:in|at|on|of|by|from|with|the|von|en"
    r"|del?)\b)[\w.'’-]+){0,3}?"
)
_ARTICLE = r"(?:the|der|die|das|den|dem|le|la|les|el|los|las)\s"
_ENDS_WITH_ARTICLE = lazy_pattern(rf"\b{_ARTICLE}\Z", re.IGNORECASE)


def _around(item: str, lead: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What stands before and behind one of several items."""
    return (
        re.compile(rf"(?:\b{item},\s)+(?:{item},?\s)?(?P<and>{_WORD_AND}\s)?{lead}\Z", re.IGNORECASE),
        re.compile(rf"(?:,\s{item}(?=,|\s{_WORD_AND}\s))*,?\s{_WORD_AND}\s{item}(?=[,.;:!?)\s]|\Z)", re.IGNORECASE),
    )


_AMID = lazy_pattern(r"\b(?:between|zwischen|entre)\b", re.IGNORECASE)
"""'Canberra, located between Sydney and Melbourne' is no list."""
_JOINS_TWO = lazy_pattern(rf",\s{_WORD_AND}\s", re.IGNORECASE)
"""'Hitchcock, and Herrmann wrote the score'."""
_PLAIN = _around(_PLAIN_ITEM, "")
_WITH_ARTICLE = _around(rf"{_ARTICLE}{_PLAIN_ITEM}", _ARTICLE)
"""'The Danube, the Rhine and the Elbe'; behind a name without an article, 'the capital' says what it is."""
_PART = r"[^\s、，,。.;:]{1,12}?"
_PART_END = r"(?=[、,和与]|と|など|等|\s?등|[がはを]|[은는이가]\s|。|\Z)"
_SPACELESS_AFTER = lazy_pattern(rf"(?:(?:、|,\s|[和与]|と(?![いしさみ言思考呼])){_PART}{_PART_END})+")
_SPACELESS_BEFORE = lazy_pattern(rf"(?:{_PART}(?<![がてでけばにはしくも])(?:、|,\s))+\Z")

_SPACELESS_SEPARATOR = lazy_pattern(r"[、,和与と]")


def is_listed(text: str, start: int, end: int) -> bool:
    """Whether the thing here is one of at least three side by side."""
    floor, ceiling = max(0, start - WINDOW), end + WINDOW
    if text[start] >= "\u3040":
        around = (_SPACELESS_BEFORE.search(text, floor, start), _SPACELESS_AFTER.match(text, end, ceiling))
        if any(found and CORRECTION.search(found[0]) for found in around):
            return False
        return sum(len(_SPACELESS_SEPARATOR.findall(found[0])) for found in around if found) >= MIN_ITEMS - 1
    leading, trailing = _WITH_ARTICLE if _ENDS_WITH_ARTICLE.search(text, floor, start) else _PLAIN
    before, after = leading.search(text, floor, start), trailing.match(text, end, ceiling)
    if after is not None and _AMID.search(after[0]):
        after = None
    if after is None:
        return before is not None and before["and"] is not None and before[0].count(",") >= MIN_ITEMS - 2
    return before is not None or (after[0].startswith(",") and _JOINS_TWO.match(after[0]) is None)
