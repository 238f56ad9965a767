"""Whether a question asks for what a name otherwise only stands in relation to.

'He succeeded Obama' does not say who was president, but it says whom somebody succeeded.
"""

from __future__ import annotations

import re

from proctor.scorers.asked_words import last_question
from proctor.scorers.lazy_pattern import lazy_pattern

_OBJECT_ASKED = lazy_pattern(
    r"\b(?:whom|did|does|(?:who|which\s\w+)\slost|loser|runner-up|predecessor|pupil|student|wen|wem|verlor|verlierer\w*|vorgänger\w*"
    r"|schüler\w*|prédécesseur|élève|à\squi|perdu|a\squién|predecesor\w*|alumn[oa]|perdió)\b"
    r"|\b(?:overtaken|surpassed|defeated|praised|admired|succeeded|replaced|taught)\sby\b"
    r"|\b(?:ersetzte?|überholte|übertraf|bewunderte|verehrte)\s(?:der|er|sie|es)\b",
    re.IGNORECASE,
)
"""'Whom did he succeed?', 'Who was taught by Socrates?'"""
_BOOK = lazy_pattern(r"\b(?:novel|roman|novela)\b", re.IGNORECASE)
_WRITER_ASKED = lazy_pattern(
    r"\b(?:book|buch|livre|libro|author|autor\w*|auteur|wrote|written|schrieb|geschrieben|écri\w+|escrib\w+|escrito)\b",
    re.IGNORECASE,
)
_SCRIPT_ASKED = lazy_pattern(
    r"\b(?:screenplay|script|film|movie|play|musical|opera|series|drehbuch|stück|oper|serie|scénario|pièce|opéra|série|guion|guión|película|obra)\b",
    re.IGNORECASE,
)
_DESIGNER_ASKED = lazy_pattern(
    r"\b(?:design\w*|architect\w*|entw[aiou]r\w+|architekt\w*|conçu\w*|dessin\w*|diseñ\w+|arquitect\w*)\b",
    re.IGNORECASE,
)


def asks_object(question: str) -> bool:
    """Whether the question asks whom somebody replaced, taught or defeated."""
    return _OBJECT_ASKED.search(last_question(question)) is not None


def asks_source(source: str, question: str) -> bool:
    """Whether the question asks whose novel, design or idea something rests on, in 'based on a novel by …'."""
    asked = last_question(question)
    kind = re.findall(r"[^\W\d_]{4,}", source)
    if any(re.search(rf"\b{re.escape(word)}\b", asked, re.IGNORECASE) for word in kind):
        return True
    if _BOOK.search(source):
        return _WRITER_ASKED.search(asked) is not None and _SCRIPT_ASKED.search(asked) is None
    return _DESIGNER_ASKED.search(asked) is not None
