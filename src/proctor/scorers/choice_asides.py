"""A response without what it quotes only to deny it, and without what is so 'even though' it answers otherwise."""

from __future__ import annotations

import re

from proctor.scorers.choice_mentions import lettered_options, quoted_options
from proctor.scorers.choice_patterns import Patterns
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import SENTENCE_END

MAX_TEXT = 2000
_DENIED_QUOTE = lazy_pattern(
    r"[\"“„«「『](?P<said>[^\"“”„«»「」『』\n]{3,120})[\"”“»」』]"
    r"(?P<between>[^\"“”„«»「」『』\n]{0,50}?)"
    r"(?:\b(?:(?:is|was|['’]s)\s(?:not\s(?:true|right|correct|so)|wrong|false|incorrect|mistaken)|isn['’]t\s(?:true|right"
    r"|correct|so)"
    r"|stimmt\s(?:aber\s|jedoch\s|so\s)?nicht|(?:ist|wäre)\s(?:aber\s|jedoch\s)?(?:falsch|nicht\srichtig|ein\sIrrtum)"
    r"|n['’]est\spas\s(?:vrai|juste|correct|exact|le\scas)|(?:c['’])?est\s(?:faux|inexact|une\serreur)"
    r"|no\ses\s(?:cierto|verdad|correcto|así)|es\s(?:falso|incorrecto|un\serror))\b"
    r"|(?:それは)?(?:違います|間違い(?:です|だ)|誤り(?:です|だ)|正しくありません|そうではありません)"
    r"|그렇지\s않|사실이\s아[니닙]|틀렸|틀립니다|잘못(?:입니다|된)|(?:其实|但|但是|这)?(?:并)?(?:不对|是错的|是错误的|不正确))",
    re.IGNORECASE,
)
"""'Some say "C is right", but that is wrong'."""
_CONCESSION = lazy_pattern(
    r",?\s(?:even\s(?:though|if)|although|though|obwohl|auch\swenn|même\ss[i'’]|bien\squ[e'’]|quoique|aunque|aun\scuando)"
    r"\s?(?P<said>[^.!?;\n]{3,160})",
    re.IGNORECASE,
)
_OF_OTHERS = lazy_pattern(
    r"\b(?:many|some|most|people|others?|manche|viele|einige|leute|man|certains|beaucoup|on|much[oa]s|algun[oa]s|thought"
    r"|dachte|pensais|croyais|pensé|creía|might|may|could|seems?|könnte|scheint|pourrait|semble|podría|parece|not|nicht"
    r"|kein\w*|pas|no)\b|n['’]t\b|\?",
    re.IGNORECASE,
)
_ANSWERS = lazy_pattern(
    r"\b(?:answer|right|correct|true|choose|pick|best|rather|antwort|richtig\w*|stimmt|wähle|réponse|juste|vrai|choisi\w*"
    r"|respuesta|correct[oa]|cierto|elijo|it\sis|it['’]s|i['’]d|es\s\w+\sist|c['’]est)\b",
    re.IGNORECASE,
)


def without_asides(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> str:
    if len(text) > MAX_TEXT:
        return text
    return _without_concessions(_without_denied_quotes(text, patterns), patterns, choices, labels)


def _without_denied_quotes(text: str, patterns: Patterns) -> str:
    """Quoted statements that name an option by its letter, where what follows says that they are wrong."""

    def dropped(found: re.Match[str]) -> str:
        is_statement = lettered_options(found["said"], patterns) and not lettered_options(found["between"], patterns)
        return " " if is_statement else found[0]

    return _DENIED_QUOTE.sub(dropped, text)


def _without_concessions(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> str:
    """'In the drawer, even though it is on the shelf' without the shelf, which is what is so."""
    for found in reversed(list(_CONCESSION.finditer(text))):
        opening = max((end.end() for end in SENTENCE_END.finditer(text, 0, found.start())), default=0)
        before = text[opening : found.start()]
        named = (*lettered_options(before, patterns), *quoted_options(before, choices, labels))
        if named and not _OF_OTHERS.search(before) and not _ANSWERS.search(found["said"]):
            text = text[: found.start()] + text[found.end() :]
    return text
