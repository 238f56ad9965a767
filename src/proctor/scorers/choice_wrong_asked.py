"""The option that a response calls wrong, where the question asks which one is: 'B is false'."""

from __future__ import annotations

import re

from proctor.scorers.asked_words import last_question
from proctor.scorers.choice_mentions import lettered_options, quoted_options
from proctor.scorers.choice_patterns import CALLED_WRONG, Patterns
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.stance import is_hypothetical, is_supposed

MAX_TEXT = 240
_NOT_RIGHT = (
    r"(?:is|are|was)(?:\snot|n['’]t)\s(?:true|correct|right|accurate)\b|(?:stimmt|trifft)\snicht\b|ist\snicht\s(?:wahr|richtig|korrekt)\b"
    r"|n['’]est\spas\s(?:vraie?|exacte?|correcte?|juste)\b|no\ses\s(?:ciert|correct|verdader)[oa]\b"
)
_ASKED = lazy_pattern(
    rf"{CALLED_WRONG.pattern}|\b(?:untrue|inaccurate|unwahr|unzutreffend|incorrect[oa]s?|fals[oa]s?)\b|\bnot\s(?:true|correct|right|accurate)\b"
    rf"|{_NOT_RIGHT}|正しくな|適切でな|不适当|不当|不对|옳지\s않|맞지\s않|잘못",
    re.IGNORECASE,
)
_CALLED_WRONG = lazy_pattern(
    r"[)\]*_\"'”’»」』]{0,4}\s?(?:(?:is|was|ist|est|es)\s(?:(?:the|clearly|definitely|eindeutig|clairement|claramente)\s)?"
    r"(?:wrong|false|incorrect|untrue|inaccurate|falsch|unwahr|fausse|faux|inexacte?|fals[oa]|incorrect[oa]|erróne[oa])\b"
    rf"|{_NOT_RIGHT}|[がはも]\s?(?:誤|間違|正しく(?:な|あり))|是?(?:错|錯|不正确|不正確|不对)|[은는이가]\s(?:틀|잘못|옳지|맞지))",
    re.IGNORECASE,
)


def option_called_wrong(
    text: str, patterns: Patterns, choices: tuple[str, ...], labels: str, question: str
) -> str | None:
    """The only option called wrong in a short text; None where the question asks for no wrong one."""
    if len(text) > MAX_TEXT or not _ASKED.search(last_question(question)):
        return None
    called = frozenset[str]().union(
        *(
            mention.labels
            for mention in lettered_options(text, patterns) or quoted_options(text, choices, labels)
            if _CALLED_WRONG.match(text, mention.end)
            and not is_supposed(text, mention.start, mention.end)
            and not is_hypothetical(text, mention.start, mention.end)
        )
    )
    return next(iter(called)) if len(called) == 1 else None
