"""What a response rules out: 'not A, but B', 'B instead of A', 'AではなくB', 'A가 아니라 B', '不是A，而是B'."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from proctor.scorers.lazy_pattern import lazy_pattern

WINDOW = 60
_OPENING = r"[(\[*_\"'“‘«「『`]{0,4}"
_CLOSING = r"[)\]*_\"'”’»」』`]{0,4}"
_ARTICLE = (
    r"(?:(?:the|(?-i:an?)|option|choice|answer|letter|der|die|das|den|dem|antwort|la|el|los|las|opción|respuesta"
    r"|le|les|réponse"
    r"|вариант)\s{1,3}|l['’]|选项?){0,3}"
)
_RULING = lazy_pattern(
    r"(?:(?:no(?:\s(?:longer|(?P<verb>es|son|era)))?|not|n['’]t|never(?:\s(?:been|was))?|neither|weder|ni|keinesfalls"
    r"|keineswegs|auf\skeinen\sfall|jamais|nunca|instead\sof|rather\sthan|as\sopposed\sto|nicht(?:\smehr)?|kein|(?:an)?statt"
    r"|anstelle\svon|en\slugar\sde|en\svez\sde|pas|(?<=n['’]est\s)plus|non(?:\spas)?|au\slieu\sde|plutôt\sque|не|вместо)\s{1,3}"
    r"|(?:lieu\sd|plutôt\squ)['’]"
    rf"|(?:而不是|不是|不再是|也不是|绝非|而非|并非|並非|不选|不選|与其说?[选選是]?|與其說?[选選是]?|比起"
    rf"|相比)\s?)(?P<thing>){_ARTICLE}{_OPENING}",
    re.IGNORECASE,
)
_WORDS = (
    "not ", "n't ", "instead of", "rather than", "as opposed to", "nicht ", "kein ", "statt ", "anstelle von", "no ",
    "never ", "keinesfalls ", "keineswegs ", "auf keinen fall ", "jamais ", "nunca ", "neither ", "weder ", "ni ",
    "en lugar de", "en vez de", "pas ", "plus ", "non ", "au lieu de", "lieu d'",
)  # fmt: skip
_PREFERRED_WORDS = (" over ", " than ", " als ", " que ", " qu'", " qu’")
_OTHER_WORDS = (
    "n’t ", "plutôt qu", "lieu d’", "не ", "вместо ", "而不是", "不是", "不再是", "绝非", "而非", "并非", "並非",
    "不选", "不選", "与其", "與其", "比起", "相比",
)  # fmt: skip
_PREFERRED = lazy_pattern(
    r"\b(?:(?:rather|sooner|eher|lieber|plutôt|más\sbien|antes|mejor)\s[^.,;:\n]{1,40}?"
    r"(?P<than>\s(?:than|als|que)\s{1,3}|\squ['’])"
    r"|(?:pick|choose|take|prefer|favou?r|go\swith|select)\s[^.,;:\n]{1,40}?(?P<over>\sover\s{1,3}))"
    rf"(?P<thing>){_ARTICLE}{_OPENING}",
    re.IGNORECASE,
)
"""'Plutôt C que A', 'I would pick C over A'."""
_LINK = lazy_pattern(r"(?:[,，]\s?)?(?:\b(?:and|und|y|et|а)\s)?\Z", re.IGNORECASE)
_AFTER = lazy_pattern(
    rf"{_CLOSING}\s?(?:\([^()\n]{{0,60}}\)\s?)?(?:(?:では|じゃ|でも)(?:なく(?:て)?|ない(?!か|でしょうか|だろうか)"
    rf"|ありません(?!か)|なかった|ございません)"
    r"|の(?:代わり|かわり)に|(?:가|이|은|는|도)?\s?아(?:니라|니고|니며|닌|닙니다|니에요|니다|니요)|\s?대신에?"
    r"|\s?말고)[、,]?\s?"
)
_AFTER_UNIT = lazy_pattern(rf"[^\s\d\W]{{0,3}}?{_AFTER.pattern}")
ALSO_AFTER = lazy_pattern(r"(?:でも|も|도)[、,]?\s?\Z")
"""Behind another thing that is ruled out with it: 'AでもBでもなく', 'A도 B도 아니고'."""
_AFTER_WORDS = ("では", "でも", "じゃ", "代わり", "かわり", "아니", "아닌", "아닙", "대신", "말고")
LEAD_TO_MEANT = lazy_pattern(
    rf"{_CLOSING}[,，、;]?\s?(?:(?:(?:but|sondern|mais|sino|но|а)\b|而是|应该是|應該是)\s{{0,3}}(?:rather\s"
    rf"|c['’]est\s)?)?",
    re.IGNORECASE,
)
"""What leads from the thing ruled out to the one that is meant."""

AS_OTHERS_SAY = lazy_pattern(
    rf"{_CLOSING},?\s(?:as|wie|comme|como)\s[^,.;:\n]{{0,40}}?(?:assum|th[io]|believ|claim|sa[iy]|denk|glaub|mein"
    rf"|annehm|angenommen|croi|pens"
    r"|cre[eía]|dice|supon)\w*",
    re.IGNORECASE,
)
"""'Canberra, not Sydney as is commonly assumed'."""

NOT_ONLY = lazy_pattern(
    rf"\b(?:not\s(?:only|just|merely)|nicht\snur|no\s(?:s[oó]lo|solamente)|(?:non"
    rf"|pas)\sseulement)\s(?P<one>{_ARTICLE}{_OPENING})"
    r"(?P<rest>[^.\n]{1,60}?)[,;]?\s(?:but|sondern|sino|mais)\s(?:(?:also|auch|también|aussi|également)\s)?"
    rf"(?P<other>{_ARTICLE}{_OPENING})",
    re.IGNORECASE,
)
"""'Not only A but also B' sets nothing aside."""
ONLY_WORDS = ("not only", "not just", "not merely", "nicht nur", "no sólo", "no sol", "seulement")


class ContrastWords(NamedTuple):
    """Words such as 'not' and 'instead of': where they begin and end, where an article ends, a verb among them."""

    start: int
    end: int
    article_end: int
    verb: str


def rulings_before(text: str) -> Iterator[ContrastWords]:
    """The words that rule out what follows them directly."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow when lowered
        lowered = text
    for word in _WORDS if text.isascii() else _WORDS + _OTHER_WORDS:
        start = lowered.find(word)
        while start >= 0:
            found = _RULING.match(text, start)
            if found and not _is_inside_word(lowered, start, word):
                link = _LINK.search(text, max(0, start - 6), start)
                yield ContrastWords(
                    link.start() if link else start, found.start("thing"), found.end(), found["verb"] or ""
                )
            start = lowered.find(word, start + 1)
    for found in _PREFERRED.finditer(text) if any(word in lowered for word in _PREFERRED_WORDS) else ():
        yield ContrastWords(found.start("than" if found["than"] else "over"), found.start("thing"), found.end(), "")


def _is_inside_word(lowered: str, start: int, word: str) -> bool:
    """Chinese needs no space before a word, nor does the end of 'isn't'."""
    return lowered[max(0, start - 1) : start].isalpha() and word[0] < "\u4e00" and word not in ("n't ", "n’t ")


def rulings_after(text: str) -> Iterator[tuple[int, int]]:
    """Where words that rule out what stands before them ('ではなく', '가 아니라') begin and end."""
    if not text.isascii() and any(word in text for word in _AFTER_WORDS):
        for found in _AFTER.finditer(text):
            yield found.span()


def is_ruled_out(text: str, start: int, end: int) -> bool:
    """Whether what stands here is named only to be set aside."""
    floor = max(0, start - WINDOW)
    if any(start - floor in (ruling.end, ruling.article_end) for ruling in rulings_before(text[floor:start])):
        return True
    return is_ruled_out_after(text, end)


def is_ruled_out_after(text: str, end: int) -> bool:
    """Whether words such as 'ではなく' follow here, perhaps behind a unit: '16個ではなく18個'."""
    return not text.isascii() and _AFTER_UNIT.match(text, end, end + WINDOW) is not None
