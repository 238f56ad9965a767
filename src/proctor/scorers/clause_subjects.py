"""Of what a response says that something is so: of 'Na is sodium, S is sulphur' the Na for sodium.

Where each of several clauses says of something else what it is, the one about what the question names is the answer.
"""

from __future__ import annotations

import re
from itertools import pairwise

from proctor.scorers.asked_words import last_question
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import SENTENCE_END

CLAUSE_END = lazy_pattern(
    rf"{SENTENCE_END.pattern}|[;；，、]\s?|,\s|(?<!\d),|,(?!\d)|\s(?=(?:and|while|whereas|but|und|während|aber|et|tandis|mais|y|mientras|pero)\s)|(?<=[고며])\s",
    re.IGNORECASE,
)
_LINK = r"(?:(?:and|while|whereas|but|und|während|aber|et|tandis\sque|mais|y|mientras(?:\sque)?|pero)\s)?"
_ARTICLE = r"(?:(?:the|an?|der|die|das|ein|eine|le|la|les|une?|el|los|las|una?)\s|l['’])?"
_SUBJECT = lazy_pattern(
    rf"[\W_]*{_LINK}{_ARTICLE}(?P<subject>[^\W_][^,;:.。、，]{{0,40}}?)(?:['’]s)?"
    r"(?:\s?(?:\s(?:is|are|was|were|stands\sfor|means|ist|sind|war|heißt|steht\sfür|est|sont|était|es|son|era|fue|significa)\s|[:=]\s?|\s?[=→]\s?|[はが]|[은는이가]\s|是))"
    rf"{_ARTICLE}[\W_]*\Z",
    re.IGNORECASE,
)


_ASKING = lazy_pattern(
    r"(?:who|which|what|that|it|he|she|this|there|wer|was|welche\w*|das|dies|es|er|sie|qui|que|quel\w*|ce|il|elle|quién|quien|cuál|lo"
    r"|誰|何|どれ|누구|무엇|谁|誰|哪\w|什么)?",
    re.IGNORECASE,
)
"""Who or what is asked for, which is in every question."""


def subject_of(text: str, start: int) -> str | None:
    """Of what the clause here says that it is what stands at this place."""
    opening = max((found.end() for found in CLAUSE_END.finditer(text, 0, start)), default=0)
    found = _SUBJECT.fullmatch(text, opening, start)
    return found["subject"].strip() if found else None


def subjects(text: str) -> list[str]:
    """Of what the clauses of a text say that it is something."""
    bounds = [0, *(found.end() for found in CLAUSE_END.finditer(text)), len(text)]
    clauses = [text[start:end] for start, end in pairwise(bounds)]
    found = (_CLAUSE.match(clause) for clause in clauses)
    return [each["subject"].strip() for each in found if each]


_CLAUSE = lazy_pattern(_SUBJECT.pattern.removesuffix(r"\Z") + r"[\w\"'“«「『]", re.IGNORECASE)


def is_asked_about(subject: str, question: str) -> bool:
    """Whether the question names it, as a word of its own where its script has words."""
    asked = last_question(question).casefold()
    said = subject.casefold()
    if (len(said) < 2 and said.isascii()) or _ASKING.fullmatch(said):
        return False
    if said[0] >= "\u3040":
        return said in asked
    return re.search(rf"(?<!\w){re.escape(said)}(?!\w)", asked) is not None
