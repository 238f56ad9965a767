"""The option of which a short response says what is asked, where its clauses say it of one and deny it of others."""

from __future__ import annotations

import re

from proctor.scorers.asked_words import asked_words, last_question, words_of
from proctor.scorers.choice_answers import around
from proctor.scorers.choice_mentions import Mention, lettered_options, quoted_options
from proctor.scorers.choice_patterns import Patterns
from proctor.scorers.clause_subjects import is_asked_about, subject_of
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import CORRECTION
from proctor.scorers.stance_words import AFFIRMATION, CLAUSE_END, NEGATIVE, OPEN, SUPPOSED, UNREAL, VIEW

MAX_TEXT = 240
_EXCEPT = lazy_pattern(
    r"\b(?:except|but|other\sthan|au(?:ß|ss)er|sauf|hormis|excepto|salvo|menos|leav\w+|remain\w*|bleibt|übrig|reste|qued\w+)\b|以外|除|残|제외|남[는은]|剩",
    re.IGNORECASE,
)
_OF_ALL = lazy_pattern(
    r"\b(?:all|every\w*|alle|jede\w*|tou[ts]\w*|tod[oa]s)\b|すべて|全て|みな|모두|전부|다\s|都|均|皆", re.IGNORECASE
)
_ALONE = lazy_pattern(r"\b(?:only|nur|seule?|solo|sólo)\b|只有|唯有|だけ|のみ|만\s", re.IGNORECASE)

_ONLY_DENIES = lazy_pattern(
    r"\s*(?:(?:and|but|und|aber|et|mais|y|pero)\s)?(?:an?|the|der|die|das|ein|eine|la|le|les|l['’]|el|los|una?)?\s*"
    r"(?:(?:is|are|ist|sind|est|sont|es|son)\s?)?(?:not|n['’]t|nicht|non|pas|no)[\s.!]*",
    re.IGNORECASE,
)
"""'The shark is a fish, the whale is not': what is denied was said in the clause before."""


def said_of_one(
    text: str, patterns: Patterns, choices: tuple[str, ...], labels: str, question: str
) -> tuple[str, str] | None:
    """The option and how it was found."""
    if choices and (said := _option_denied_as_asked(text, patterns, choices, labels, question)):
        return said, "the only option said not to be so, as was asked"
    if choices and (said := _option_of_subject(text, choices, labels, question)):
        return said, "the only option said of what is asked about"
    return None


def _option_denied_as_asked(
    text: str, patterns: Patterns, choices: tuple[str, ...], labels: str, question: str
) -> str | None:
    """'Whales are no fish' where the question asks which is no fish: what denies an option elsewhere claims it here."""
    asked = last_question(question)
    if not NEGATIVE.search(asked) or _is_unclear(text) or _EXCEPT.search(text):
        return None
    words = asked_words(question) - frozenset[str]().union(*map(words_of, choices))
    claimed, others = set[str](), set[str]()
    for mention in quoted_options(text, choices, labels) or lettered_options(text, patterns):
        clause = AFFIRMATION.sub("", around(text, mention, CLAUSE_END))
        is_elliptic = bool(others) and _ONLY_DENIES.fullmatch(clause) is not None
        if is_elliptic or words & words_of(clause) or (_ALONE.search(clause) and NEGATIVE.search(clause)):
            (claimed if NEGATIVE.search(clause) else others).update(mention.labels)
    return next(iter(claimed)) if len(claimed) == 1 and not claimed & others else None


def _option_of_subject(text: str, choices: tuple[str, ...], labels: str, question: str) -> str | None:
    """'Water is H2O, carbon dioxide is CO2' where the question is about water."""
    if _is_unclear(text) or _EXCEPT.search(text) or _OF_ALL.search(text):
        return None
    named = quoted_options(text, choices, labels)
    subjects = [subject_of(text, mention.start) for mention in named]
    if len(named) < 2 or None in subjects:
        return None
    fitting = [
        mention
        for mention, subject in zip(named, subjects, strict=True)
        if subject and is_asked_about(subject, question) and not _is_denied(text, mention)
    ]
    return next(iter(fitting[0].labels)) if len(fitting) == 1 and len(fitting[0].labels) == 1 else None


def _is_denied(text: str, mention: Mention) -> bool:
    return NEGATIVE.search(around(text, mention, CLAUSE_END)) is not None


def _is_unclear(text: str) -> bool:
    """Whether a text is long, corrects itself, leaves something open or speaks of all others."""
    patterns = (CORRECTION, OPEN, SUPPOSED, UNREAL, VIEW)
    return len(text) > MAX_TEXT or "?" in text or any(pattern.search(text) for pattern in patterns)
